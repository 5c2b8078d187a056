"""The outcome of a cell: its predictions, measures and verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_puma.core.cell_id import CellId
from pytest_puma.core.change import BootstrapReplicates, Contrast, Drift
from pytest_puma.core.gate import Gate, Verdict
from pytest_puma.core.metric import Measure, TaskInfo
from pytest_puma.core.prediction import Prediction
from pytest_puma.core.responder import StoreShare
from pytest_puma.core.shared import Messages, whole_prompts
from pytest_puma.core.usage import Speed, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Determinism:
    """Differences after `samples` were asked once more, each alone: the number of changed `texts` and `answers`.

    `gaps`: for each changed text, if known, the lead of the chosen token's logit over the second one where the texts
    part. Small gaps are near-ties that any change of the batch may tip; large ones are a defect.
    """

    samples: int
    texts: int
    answers: int
    gaps: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationBin:
    """The `n` predictions with a confidence above `low` and up to `high`: its mean, and the share of right ones."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """An answer that was right in the baseline and is wrong now, or the other way; None: a parse failure.

    If answers are numbers, its error is larger now, or smaller. If a metric scores texts, it has a worse score, or a
    better one: `scores` are those then and now. `trial`: the index of the trial, None if no sample of the cell has
    several. `text`: the beginning of the sample, empty if no file may quote it.
    """

    sample_id: str
    trial: int | None = None
    gold: str
    old: str | None
    new: str | None
    better: bool
    text: str = ""
    scores: tuple[float, float] | None = None

    @property
    def sample(self) -> str:
        """The id, with the number of the trial and the text if there are such."""
        name = self.sample_id if self.trial is None else f"{self.sample_id} #{self.trial + 1}"
        return f"{name} ({self.text})" if self.text else name


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """What reports show of a cell beside its measures.

    `confusion`: the count of each answer (inner key; "no answer" is one; only those that occur) for each gold label of
    a classification. `calibration`: the bins behind `ece`, if the predictions have probabilities. `failures`: the count
    of each cause of a missing answer. `naive_baselines`: the same metrics of trivial programs, by name. `agreement`: by
    the name of a metric of agreement, the count of each verdict of the judge (inner key) for each of people.
    """

    confusion: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    calibration: tuple[CalibrationBin, ...] = ()
    failures: Mapping[str, int] = field(default_factory=dict)
    naive_baselines: Mapping[str, Mapping[str, Measure]] = field(default_factory=dict)
    agreement: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdicts on a cell, and what it is compared with.

    `warnings`: sentences for every report. `flips`, `contrasts`: there if the cell was compared with a baseline;
    `drift`: of the series of baselines, if a gate is about it. `cross_cell_gates`: the gates that compare the cell with
    others; `replicates`: what these comparisons need, by metric.
    """

    verdicts: tuple[Verdict, ...] = ()
    warnings: tuple[str, ...] = ()
    flips: tuple[Flip, ...] = ()
    contrasts: tuple[Contrast, ...] = ()
    drift: Drift | None = None
    cross_cell_gates: tuple[Gate, ...] = ()
    replicates: Mapping[str, BootstrapReplicates] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """How a cell was run.

    `signature`: everything that could change the numbers. `shared_prompts`: the common beginning of the first prompts
    of all samples, of the second prompts, and so on. `samples`: the number of samples that were asked; `trials`: the
    number of predictions, more than `samples` if a sample has several; `left_out`: the number of samples that were not
    asked because the gates were already decided. `kept`: there if some answers come from the response store;
    `kept_of_judges`: if some of those of judges do. `determinism`: there if it was requested. `notes`: sentences about
    the model. `peak_memory`: the largest number of bytes of the process during the cell, 0 if nothing was computed, or
    if the system does not count it. `node_id`: that of the test; `attempt` counts its runs, as a plugin may repeat it.
    """

    signature: Mapping[str, Any]
    shared_prompts: tuple[Messages, ...] = ()
    samples: int = 0
    trials: int = 0
    left_out: int = 0
    usage: Usage = field(default_factory=Usage)
    speed: Speed = field(default_factory=Speed)
    kept: StoreShare | None = None
    kept_of_judges: StoreShare | None = None
    seconds: float = 0.0
    determinism: Determinism | None = None
    notes: tuple[str, ...] = ()
    peak_memory: int = 0
    node_id: str = ""
    attempt: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All that is known of a cell once it ran.

    `metrics`: the measures that reports show. `outcome["f1_macro"]` is the value of a measure.
    """

    name: CellId
    task: TaskInfo
    predictions: Sequence[Prediction] = ()
    metrics: tuple[str, ...]
    measures: Mapping[str, Measure]
    tables: Tables = field(default_factory=Tables)
    judgement: Judgement = field(default_factory=Judgement)
    execution: Execution

    def __getitem__(self, metric: str) -> float:
        """The value of a measure; a `KeyError` names the metrics there are."""
        try:
            return self.measures[metric].value
        except KeyError:
            msg = f"puma: {self.cell} has no metric {metric!r}; there are: {', '.join(sorted(self.measures))}"
            raise KeyError(msg) from None

    def prompts(self, prediction: Prediction) -> tuple[Messages, ...]:
        """The whole prompt of each request about a sample."""
        return whole_prompts(self.execution.shared_prompts, prediction.transcript.prompts)

    def own_text(self, prediction: Prediction) -> str:
        """The part of a sample's last prompt that not all samples share; its last message if they share all of it."""
        rests = [rest for rest in prediction.transcript.prompts if rest is not None][-1:]
        text = "\n".join(message.content for rest in rests for message in rest)
        whole = self.prompts(prediction)
        return text if text.strip() or not whole else whole[-1][-1].content

    @property
    def cell(self) -> str:
        """The id of the cell, as in node ids."""
        return str(self.name)

    @property
    def primary(self) -> str:
        """The scenario's primary metric, which is measured first; empty where nothing was."""
        return next(iter(self.measures), "")

    @property
    def failed(self) -> tuple[Verdict, ...]:
        """The verdicts that fail the item."""
        return tuple(verdict for verdict in self.judgement.verdicts if verdict.fails)
