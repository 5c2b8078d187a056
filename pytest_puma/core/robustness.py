"""The effect of perturbations on a cell."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_puma.core.change import Change
from pytest_puma.core.metric import Measure


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
    """The effect of one perturbation: the paired change of the metric against the unperturbed samples.

    `p` is the p-value of the metric's paired `test`; `adjusted` is corrected for all perturbations of the cell.
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
class Robustness:
    """The effect of all perturbations on a cell. `metric` is the primary metric of the scenario.

    `worst`: the perturbation with the worst value, None if no value exists; `worst_value`: that value, which is biased:
    the worst of several measured numbers looks too bad even if no perturbation does harm. `worst_corrected`: an
    estimate without this bias. `always_right`: the share of samples with a right answer in all cells, perturbed or not;
    None if answers are numbers.
    """

    cell: str
    scenario: str
    strategy: str
    model: str
    metric: str
    value: float
    shifts: tuple[Shift, ...]
    worst: str | None
    worst_value: float
    worst_corrected: float
    always_right: Measure | None
    gaps: tuple[Gap, ...]
