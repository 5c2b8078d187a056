"""A whole pytest run, the input of every reporter; the command behind it; the effect of perturbations on its cells."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pytest_puma.core.change import Change, Contrast
from pytest_puma.core.gate import Tally, Verdict
from pytest_puma.core.metric import Measure
from pytest_puma.core.outcome import Outcome
from pytest_puma.core.weights import Weights

#: Whether a point of a trade-off is as good as any other one on the whole: surely, surely not, or nobody knows.
Standing: TypeAlias = Literal["on the front", "dominated", "undecided"]
#: Options that write files beside the run.
_WRITING = ("--puma-report", "--puma-update-baseline")

#: Digits of a commit for people.
SHORT = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """The command line, and the state of the project when it started; each text is empty if unknown.

    `command`: paths, `-k`, `-m`, the options of pytest-puma, each with its value behind `=`, and its keys of the ini
    file, as `-opuma_inconclusive=fail`.
    `commit`: its whole hash; `branch`: empty if the head is detached; `dirty`: tracked files had uncommitted changes,
    or git did not track a file of `prompts/`, `benchmarks/` or `data/`, or `conftest.py`.
    `ci`: the address of the CI job, or the name of the CI system.
    """

    command: str = ""
    commit: str = ""
    branch: str = ""
    dirty: bool = False
    ci: str = ""

    @property
    def words(self) -> list[str]:
        """The words of the command; none if no program of ours wrote it."""
        try:
            return shlex.split(self.command)
        except ValueError:
            return []

    def repeat(self, node_id: str) -> str:
        """The command that measures one cell again: that of the run, without what selects tests or writes files."""
        options = [
            word for word in self.words if word.startswith(("--puma-", "-opuma_")) and not word.startswith(_WRITING)
        ]
        return shlex.join(["pytest", node_id, *options])

    @property
    def revision(self) -> str:
        """The commit for people: `main@3f2c1d9`, without a branch `3f2c1d9`, `main@3f2c1d9 (dirty)`; or empty."""
        short = f"{self.commit[:SHORT]}{' (dirty)' if self.dirty else ''}" if self.commit else ""
        return f"{self.branch}@{short}" if self.branch and short else short


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A test of a cell that ended in an error, or failed for another reason than a missed gate.

    `when`: the phase of pytest, `setup`, `call` (the body failed) or `teardown`; `crash` if the process ended.
    `message`: the first line of the error.
    """

    cell: str
    node_id: str
    when: str
    message: str

    @property
    def error(self) -> bool:
        """Whether pytest reports an error instead of a failed test."""
        return self.when != "call"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerChanges:
    """The answers of a cell that change under a perturbation: `fixed`, `broken` (right to wrong) or `still_wrong`.

    `rate` is their share of all samples. A parse failure counts as a wrong answer.
    """

    rate: Measure
    fixed: int
    broken: int
    still_wrong: int

    @property
    def changed(self) -> int:
        """The number of changed answers."""
        return self.fixed + self.broken + self.still_wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """The effect of one perturbation, or variant: the paired change of the metric against the cell without it.

    `p` is the p-value of the metric's paired `test`; `adjusted` is corrected for all of them of the cell.
    """

    perturbation: str
    change: Change
    answer_changes: AnswerChanges
    test: str
    p: float
    adjusted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The difference of a metric between two sides of an axis, such as texts by a woman and texts by a man.

    `change` is the paired change from the `old` perturbation to the `new` one.
    """

    axis: str
    old: str
    new: str
    change: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Shifts:
    """The effect of all perturbations, or of all variants of its model, on a cell without them.

    `metric` is the primary metric of the scenario, `value` that of the cell.
    """

    cell: str
    scenario: str
    strategy: str
    model: str
    metric: str
    value: float
    shifts: tuple[Shift, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Robustness(Shifts):
    """The effect of all perturbations on a cell.

    `worst`: the perturbation with the worst value, None if no value exists; `worst_value`: that value, which is biased:
    the worst of several measured numbers looks too bad even if no perturbation does harm. `worst_corrected`: an
    estimate without this bias. `always_right`: the share of samples with a right answer in all cells, perturbed or not;
    None if answers are numbers.
    """

    worst: str | None
    worst_value: float
    worst_corrected: float
    always_right: Measure | None
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPoint:
    """A variant, or the plain model, in a trade-off: the cell of each of the two metrics."""

    cell: str
    other_cell: str
    standing: Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """A trade-off between the variants of a model: `metric` of one cell each, against the `other_metric` of another."""

    metric: str
    other_metric: str
    points: tuple[FrontPoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """All outcomes of a pytest run without their predictions, its run-level results, and its environment.

    Predictions are in the run folder: in a long run they would fill the memory. `verdicts`: the verdicts of gates on
    several cells, and of gates that fit no cell; `problems`: sentences that fail the run although no cell fails;
    `faults`: the tests that ended in an error or whose body failed; `robustness`: one for each cell with perturbed
    twins; `variants`: one for each cell of a plain model with variants; `fronts`: the trade-offs between variants;
    `weights`: those of the models by name, in a run with variants;
    `contrasts`: the comparison of cells, if requested; `best`: a sentence on the best cell of each scenario if cells
    were compared; `unchanged`: sentences on perturbed cells that were not run because the perturbation changes none of
    their prompts; `rescored_from`: the run whose answers were read, None if they were computed. `seconds`: wall-clock
    time of the run up to its last cell. `number`: that in the history of the project, None until the run has one.
    """

    id: str
    started: str
    environment: Mapping[str, str]
    invocation: Invocation = field(default_factory=Invocation)
    seconds: float = 0.0
    number: int | None = None
    outcomes: tuple[Outcome, ...]
    verdicts: tuple[Verdict, ...] = ()
    problems: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    robustness: tuple[Robustness, ...] = ()
    variants: tuple[Shifts, ...] = ()
    fronts: tuple[Front, ...] = ()
    best: tuple[str, ...] = ()
    weights: Mapping[str, Weights] = field(default_factory=dict)
    contrasts: tuple[Contrast, ...] = ()
    unchanged: tuple[str, ...] = ()
    rescored_from: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the models: each one once per model, not once per cell."""
        notes = (f"{outcome.name.model}: {note}" for outcome in self.outcomes for note in outcome.execution.notes)
        return tuple(dict.fromkeys(notes))

    @property
    def tally(self) -> Tally:
        """Counts of the gates of all cells and of the run."""
        return Tally.of(
            [*(verdict for outcome in self.outcomes for verdict in outcome.judgement.verdicts), *self.verdicts]
        )
