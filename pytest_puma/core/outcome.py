"""What comes out of a cell: predictions, and all that is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_puma.core.cell import perturbed
from pytest_puma.core.contrast import Contrast
from pytest_puma.core.conversation import Speed, Usage
from pytest_puma.core.drift import Drift
from pytest_puma.core.robustness import Robustness
from pytest_puma.core.shared import Messages, whole_prompts
from pytest_puma.core.verdict import Draws, Gate, Measure, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """One sample's answer beside its gold. `answer is None` means no answer: a datum, not an error.

    `raw` holds the text of each response; `finish` is the last response's. `failure` is the cause of a missing answer,
    in one word, and `parsed` the text that was read where it is not a valid answer. `fields` are those of the sample.
    `prompts` holds for each request the messages behind those that the cell shares, `None` where the prompt is that of
    the request before; `Outcome.prompts` joins them.
    """

    sample_id: str
    gold: str
    answer: str | None
    raw: tuple[str, ...] = ()
    probabilities: Mapping[str, float] | None = None
    logprobs: tuple[float, ...] = ()
    finish: str = "stop"
    failure: str | None = None
    parsed: str | None = None
    units: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    prompts: tuple[Messages | None, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Determinism:
    """What changed for the `samples` that were asked once more, each alone: how many `texts`, and how many `answers`.

    `gaps`: for each other text where it is known, how far the logit of the chosen token lay above the next one where
    the texts part. Small gaps are near-ties that any change of the batch may tip; large ones are a defect.
    """

    samples: int
    texts: int
    answers: int
    gaps: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A sample whose answer was right in the baseline and is wrong now, or the other way; None: none could be read.

    Where answers are numbers, it is farther off now, or nearer. `text`: how the sample begins, where its id is a hash.
    """

    sample_id: str
    gold: str
    old: str | None
    new: str | None
    better: bool
    text: str = ""

    @property
    def sample(self) -> str:
        """The id, and the text where there is one."""
        return f"{self.sample_id} ({self.text})" if self.text else self.sample_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All that is known of a cell once it ran.

    `metrics` are the measures that reports show; `signature` holds everything that could change the
    numbers; `confusion` counts each answer (inner key, "no answer" too) to each gold label of a
    classification; `failures` counts the causes of missing answers;
    `warnings` are sentences for every report, `notes` those on the model; `determinism` is there where it was asked
    for, `flips` where the cell was compared with a baseline; `references` are the same metrics of trivial programs, by
    their names.
    `across` are the gates that compare the cell with others, `draws` what the comparisons need, by metric; `contrasts`
    are those with the baseline, where they were asked for; `drift` is that of the series of baselines, where a gate is
    about it; `left_out` counts the samples that were not asked, as the gates were decided without them.
    `shared_prompts` is what the first prompts of all samples begin with, the second ones, and so on. `node_id` is that
    of the test, and `attempt` counts its runs, as a plugin may run it again.
    `outcome["f1_macro"]` is the value of a measure.
    """

    cell: str
    scenario: str
    strategy: str
    model: str
    perturbation: str | None = None
    metrics: tuple[str, ...]
    signature: Mapping[str, Any]
    predictions: tuple[Prediction, ...]
    shared_prompts: tuple[Messages, ...] = ()
    measures: Mapping[str, Measure]
    confusion: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    verdicts: tuple[Verdict, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    determinism: Determinism | None = None
    flips: tuple[Flip, ...] = ()
    references: Mapping[str, Mapping[str, Measure]] = field(default_factory=dict)
    across: tuple[Gate, ...] = ()
    draws: Mapping[str, Draws] = field(default_factory=dict)
    contrasts: tuple[Contrast, ...] = ()
    drift: Drift | None = None
    left_out: int = 0
    usage: Usage = field(default_factory=Usage)
    speed: Speed = field(default_factory=Speed)
    seconds: float = 0.0
    node_id: str = ""
    attempt: int = 1

    def __getitem__(self, metric: str) -> float:
        """The value of a measure; a `KeyError` names the metrics there are."""
        try:
            return self.measures[metric].value
        except KeyError:
            msg = f"puma: {self.cell} has no metric {metric!r}; there are: {', '.join(sorted(self.measures))}"
            raise KeyError(msg) from None

    def prompts(self, prediction: Prediction) -> tuple[Messages, ...]:
        """The whole prompt of each request about a sample."""
        return whole_prompts(self.shared_prompts, prediction.prompts)

    @property
    def shown(self) -> str:
        """The strategy, and the perturbation where there is one, as in the cell's id."""
        return perturbed(self.strategy, self.perturbation)

    @property
    def primary(self) -> str:
        """The scenario's primary metric, which is measured first; empty where nothing was."""
        return next(iter(self.measures), "")

    @property
    def failed(self) -> tuple[Verdict, ...]:
        """The verdicts that fail the item."""
        return tuple(verdict for verdict in self.verdicts if verdict.fails)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A test of a cell that ended in an error, or failed by something else than a missed gate.

    `when` is pytest's phase: `setup`, `call` (its body failed) or `teardown`, and `crash` where its process ended;
    `message` is the first line of the error.
    """

    cell: str
    node_id: str
    when: str
    message: str

    @property
    def error(self) -> bool:
        """Whether pytest calls it an error, and not a failed test."""
        return self.when != "call"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a reporter receives: every outcome of a pytest run, without its predictions, and where it ran.

    Predictions lie in the run folder: those of a long run would fill the memory.
    `verdicts` are those of gates that no cell could take; `problems` are sentences that make the run
    fail although no single cell does; `faults` are the tests that ended in an error, or whose body failed.
    `robustness` is there for each cell that has perturbed twins, `contrasts`
    where cells were to be compared. `unchanged` are sentences on perturbed cells that were not run, as their prompts
    are those of the cell without the perturbation.
    """

    id: str
    started: str
    environment: Mapping[str, str]
    outcomes: tuple[Outcome, ...]
    verdicts: tuple[Verdict, ...] = ()
    problems: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    robustness: tuple[Robustness, ...] = ()
    contrasts: tuple[Contrast, ...] = ()
    unchanged: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of the models: each sentence once a model, not once a cell."""
        notes = (f"{outcome.model}: {note}" for outcome in self.outcomes for note in outcome.notes)
        return tuple(dict.fromkeys(notes))
