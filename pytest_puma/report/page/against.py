"""The other side of a comparison on the page: the baselines of the cells, or another run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pytest_puma.core import CellId, Change, Flip, Outcome, Run, Verdict
from pytest_puma.runs.comparison import RunComparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """A comparison by cell: the `changes` of metrics, the `flips`, and what else has `changed`, in sentences.

    `name`: of the other side, as sentences name it. `judged`: the gates of the run are about it.
    """

    name: str
    judged: bool = False
    changes: Mapping[str, tuple[Change, ...]] = field(default_factory=dict)
    flips: Mapping[str, tuple[Flip, ...]] = field(default_factory=dict)
    changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def against_baseline(run: Run) -> Against | None:
    """Return the comparison with the baseline that the run made itself; None if it compared no cell."""
    changes = {each.cell: tuple(_changes(each, run)) for each in run.outcomes}
    flips = {each.cell: each.flips for each in run.outcomes if each.flips}
    changes = {cell: each for cell, each in changes.items() if each}
    return Against(name="the baseline", judged=True, changes=changes, flips=flips) if changes or flips else None


def against_run(comparison: RunComparison) -> Against:
    """Return the comparison with another run, or with baselines of today."""
    cells = comparison.cells
    return Against(
        name=comparison.old,
        changes={each.cell: tuple(contrast.change for contrast in each.contrasts) for each in cells},
        flips={each.cell: each.flips for each in cells},
        changed={each.cell: each.differs for each in cells},
    )


def is_change(verdict: Verdict) -> bool:
    """Whether a verdict is about the change since the baseline."""
    return verdict.change is not None and verdict.gate.naive is None and not verdict.gate.is_cross_cell


def _changes(outcome: Outcome, run: Run) -> Iterator[Change]:
    """The changes of a cell, each metric once, that of the primary metric first."""
    of_gates = [each.change for each in outcome.verdicts if each.change is not None and is_change(each)]
    of_contrasts = [each.change for each in run.contrasts if each.cell == outcome.cell and _is_baseline(each.against)]
    by_metric = {(each.metric, each.quotient): each for each in (*of_contrasts, *of_gates)}
    return iter(sorted(by_metric.values(), key=lambda change: (change.metric != outcome.primary, change.quotient)))


def _is_baseline(name: str) -> bool:
    """Whether a contrast names a baseline, not a cell."""
    return not CellId.parse(name).strategy or not CellId.parse(name).model
