"""What perturbations do to a cell."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_puma.core.change import Change
from pytest_puma.core.measure import Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerChanges:
    """The samples of a cell whose answer is another one under a perturbation, and what became of them.

    `rate` is their share of all samples. An answer that was not read is wrong.
    """

    rate: Measure
    fixed: int
    broken: int
    still_wrong: int

    @property
    def turned(self) -> int:
        """How many there are."""
        return self.fixed + self.broken + self.still_wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """What a perturbation does: the paired change of the metric since the samples as they are, and turned answers.

    `p` is the p-value of the change in the paired `test` of the metric, `adjusted` as it counts among all perturbations
    of the cell.
    """

    perturbation: str
    change: Change
    turns: AnswerChanges
    test: str
    p: float
    adjusted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """How much higher a metric is where the texts speak of one side of an axis than where of the other.

    `change` is that from the `old` perturbation to the `new` one, sample by sample.
    """

    axis: str
    old: str
    new: str
    change: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Robustness:
    """Of a cell, by its perturbed twins. `metric` is the scenario's primary one.

    `worst` is the perturbation under which it is worst, None where it has no value, and `worst_value` what it is there:
    the worst of several measured numbers, which is too bad even where no perturbation does harm. `worst_corrected` is
    an estimate without that bias. `always_right` is the share of samples that are answered right as they are and under
    every perturbation; None where answers are numbers.
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
