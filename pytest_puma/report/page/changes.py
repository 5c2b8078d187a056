"""The changes of metrics since a baseline or another run, by perturbations and between cells, each one drawn."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pytest_puma.core import CellId, Change, Contrast, Direction, Flip, Measure, Outcome, Run, Shift, Verdict
from pytest_puma.core.variant import PLUS
from pytest_puma.report import comparison, robustness, variants
from pytest_puma.report.page.drawings import Drawing, Scale, draw
from pytest_puma.report.rows import signed
from pytest_puma.report.table import TextColumn, texts
from pytest_puma.runs.comparison import RunComparison

Result = TypeVar("Result", Contrast, Shift)


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """A comparison by cell: the `changes` of metrics, the `flips`, and what else has `changed`, in sentences.

    `name`: of the other side, as sentences name it. `judged`: the gates of the run are about it.
    """

    name: str
    judged: bool = False
    changes: Mapping[str, Sequence[Change]] = field(default_factory=dict)
    flips: Mapping[str, tuple[Flip, ...]] = field(default_factory=dict)
    changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def against_baseline(run: Run) -> Against | None:
    """Return the comparison with the baseline that the run made itself; None if it compared no cell."""
    changes = {outcome.cell: changes for outcome in run.outcomes if (changes := _changes(outcome, run))}
    flips = {outcome.cell: outcome.judgement.flips for outcome in run.outcomes if outcome.judgement.flips}
    return Against(name="the baseline", judged=True, changes=changes, flips=flips) if changes or flips else None


def against_run(compared: RunComparison) -> Against:
    """Return the comparison with another run, or with baselines of today."""
    cells = compared.cells
    return Against(
        name=compared.old,
        changes={cell.cell: tuple(contrast.change for contrast in cell.contrasts) for cell in cells},
        flips={cell.cell: cell.flips for cell in cells},
        changed={cell.cell: cell.differs for cell in cells},
    )


def _judged(outcome: Outcome) -> list[tuple[Verdict, Change]]:
    """The verdicts about a change since the baseline, with this change."""
    return [
        (verdict, verdict.change)
        for verdict in outcome.judgement.verdicts
        if verdict.change is not None and verdict.gate.naive is None and not verdict.gate.is_cross_cell
    ]


def _changes(outcome: Outcome, run: Run) -> list[Change]:
    """The changes of a cell, each metric once, that of the primary metric first."""
    of_cell = (contrast for contrast in run.contrasts if contrast.cell == outcome.cell)
    changes = [contrast.change for contrast in of_cell if _is_baseline(contrast.against)]
    by_kind = {_kind(change): change for change in (*changes, *(change for _, change in _judged(outcome)))}
    return sorted(by_kind.values(), key=lambda change: (change.metric != outcome.primary, change.quotient))


def _is_baseline(name: str) -> bool:
    """Whether a contrast names a baseline, not a cell."""
    return not CellId.parse(name).strategy or not CellId.parse(name).model


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeLine:
    """A change of a metric of a cell, with the verdict of its gate if it has one.

    `effect`: `better` or `worse` if the interval excludes no change.
    """

    cell: str
    verdict: Verdict | None
    change: Change
    effect: str
    drawing: Drawing | None

    @property
    def told(self) -> bool:
        """Whether a sample changed, or a gate is about the change."""
        return self.verdict is not None or self.change.changed > 0


def change_lines(run: Run, against: Against) -> Iterator[ChangeLine]:
    """Yield a line for each gate on a change, and for that of the primary metric if no gate is about it."""
    lines: list[tuple[Outcome, Verdict | None, Change]] = []
    for outcome in run.outcomes:
        judged = _judged(outcome) if against.judged else []
        kinds = {_kind(change) for _, change in judged}
        lines += [(outcome, verdict, change) for verdict, change in judged]
        primary = (change for change in against.changes.get(outcome.cell, ()) if change.metric == outcome.primary)
        lines += [(outcome, None, change) for change in primary if _kind(change) not in kinds]
    scales = _scales(change for _, _, change in lines)
    for outcome, verdict, change in lines:
        better = outcome.measures[change.metric].better if change.metric in outcome.measures else "neither"
        effect, drawing = _effect(change, better), _drawing(scales, change)
        yield ChangeLine(cell=outcome.cell, verdict=verdict, change=change, effect=effect, drawing=drawing)


def _scales(changes: Iterable[Change]) -> dict[tuple[str, bool], Scale]:
    """A scale for each kind of change, with the place of no change on it."""
    numbers: dict[tuple[str, bool], list[float]] = {}
    for change in changes:
        numbers.setdefault(_kind(change), [_unchanged(change)]).extend((change.value, change.low, change.high))
    return {kind: Scale.over(values) for kind, values in numbers.items()}


def _drawing(scales: Mapping[tuple[str, bool], Scale], change: Change) -> Drawing | None:
    return draw(scales[_kind(change)], change, form=signed, zero=_unchanged(change))


def _kind(change: Change) -> tuple[str, bool]:
    """The metric, and whether the change is a quotient: changes of one kind share a scale."""
    return change.metric, change.quotient


def _unchanged(change: Change) -> float:
    """The value of no change."""
    return 1.0 if change.quotient else 0.0


def _effect(change: Change, better: Direction) -> str:
    none = _unchanged(change)
    if better == "neither" or not (change.low > none or change.high < none):
        return ""
    return "better" if (change.low > none) == (better == "high") else "worse"


def _significant(result: Contrast | Shift, measures: Mapping[str, Measure]) -> str:
    change = result.change
    better = measures[change.metric].better if change.metric in measures else "neither"
    if better == "neither" or not result.adjusted < robustness.SIGNIFICANCE_LEVEL:
        return ""
    return "better" if (change.value > _unchanged(change)) == (better == "high") else "worse"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """A row: the texts of the terminal, and the drawing of its change. `only`: the cell has no other row.

    `effect`: `better` or `worse` if the change is significant, corrected for other tests (Holm). `told`: a sample
    changed.
    """

    cell: str
    texts: tuple[str, ...]
    drawing: Drawing | None
    only: bool
    effect: str
    told: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table of the terminal without the columns that name the cell."""

    columns: tuple[TextColumn[Any], ...]
    lines: tuple[TextLine, ...]

    @property
    def drawing_column(self) -> int:
        """The index of the column before which the drawings stand: that of the first interval."""
        return self._index("95 % interval")

    @property
    def change_column(self) -> int:
        """The index of the column of the changes."""
        return self._index("change")

    def _index(self, title: str) -> int:
        return [column.title for column in self.columns].index(title)


def shift_table(run: Run, rows_elsewhere: Collection[str]) -> TextTable:
    """Return the table of changes by perturbations; `rows_elsewhere`: the cells with a row in another table."""
    shifts = [
        (str(CellId(result.scenario, result.strategy, result.model, shift.perturbation)), shift)
        for result in run.robustness
        for shift in result.shifts
    ]
    return _text_table(run, robustness.SHIFTS[1:], shifts, rows_elsewhere)


def variant_table(run: Run) -> TextTable:
    """Return the table of changes by variants, all of whose cells have a row in another table."""
    shifts = [
        (str(CellId(result.scenario, result.strategy, f"{result.model}{PLUS}{shift.perturbation}")), shift)
        for result in run.variants
        for shift in result.shifts
    ]
    table = _text_table(run, variants.CHANGES[1:], shifts, [cell for cell, _ in shifts])
    distances = variants.distances(run)
    lines = (replace(line, texts=(*line.texts, *texts(distances, line.cell))) for line in table.lines)
    return TextTable(columns=(*table.columns, *distances), lines=tuple(lines))


def contrast_table(run: Run) -> TextTable:
    """Return the table of contrasts between cells."""
    contrasts = [(contrast.cell, contrast) for contrast in run.contrasts]
    return _text_table(run, comparison.CONTRASTS[1:], contrasts, [cell for cell, _ in contrasts])


def _text_table(
    run: Run,
    columns: tuple[TextColumn[Result], ...],
    results: Sequence[tuple[str, Result]],
    rows_elsewhere: Collection[str],
) -> TextTable:
    scales = _scales(result.change for _, result in results)
    measures = {outcome.cell: outcome.measures for outcome in run.outcomes}
    lines = (
        TextLine(
            cell=cell,
            texts=texts(columns, result),
            drawing=_drawing(scales, result.change),
            only=cell not in rows_elsewhere,
            effect=_significant(result, measures.get(cell, {})),
            told=result.change.changed > 0,
        )
        for cell, result in results
    )
    return TextTable(columns=columns, lines=tuple(lines))
