"""The section on the variants of a model: sentences, the effect on each cell, sweep curves, trade-offs, the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_puma.core import Run
from pytest_puma.report import costs, variants
from pytest_puma.report.costs import Cost
from pytest_puma.report.page.changes import TextTable, variant_table
from pytest_puma.report.page.sweep import Curve, curves
from pytest_puma.report.page.tradeoff import Picture, pictures
from pytest_puma.report.rows import signed
from pytest_puma.report.table import TextColumn


@dataclass(frozen=True, slots=True)
class EffectCell:
    """The change in a cell; `effect`: `better` or `worse` if it is sure."""

    change: str
    effect: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectLine:
    """The changes in a plain cell, one for each variant, None where it was not measured."""

    name: str
    metric: str
    cells: tuple[EffectCell | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectTable:
    """The effect of all variants of a model on all its cells."""

    model: str
    variants: tuple[str, ...]
    lines: tuple[EffectLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantsSection:
    """Everything that the section shows."""

    sentences: tuple[str, ...]
    effects: tuple[EffectTable, ...]
    curves: tuple[Curve, ...]
    pictures: tuple[Picture, ...]
    table: TextTable
    cost_columns: tuple[TextColumn[Cost], ...]
    costs: tuple[tuple[str, ...], ...]

    @property
    def shown(self) -> bool:
        """Whether the page has the section."""
        return bool(self.table.lines or self.sentences or self.curves)


def variants_of(run: Run) -> VariantsSection:
    """Return the section of a run; it is empty without variants."""
    scenarios = dict.fromkeys(outcome.name.scenario for outcome in run.outcomes)
    drawn = (
        curve
        for scenario in scenarios
        for curve in curves([outcome for outcome in run.outcomes if outcome.name.scenario == scenario], run.weights)
    )
    return VariantsSection(
        sentences=tuple(variants.sentences(run)),
        effects=tuple(_effects(run)),
        curves=tuple(drawn),
        pictures=tuple(pictures(run)),
        table=variant_table(run),
        cost_columns=costs.columns(run),
        costs=tuple(costs.rows(run)),
    )


def _effects(run: Run) -> Iterator[EffectTable]:
    """Yield the table of each plain model with several cells; the table of variants shows a single one."""
    found = variants.effects(run)
    for model in dict.fromkeys(result.model for result in run.variants):
        results = [result for result in run.variants if result.model == model]
        names = tuple(dict.fromkeys(shift.perturbation for result in results for shift in result.shifts))
        lines = []
        for result in results:
            changes = {
                shift.perturbation: EffectCell(signed(shift.change.value), found[result.cell, shift.perturbation])
                for shift in result.shifts
            }
            cells = tuple(changes.get(name) for name in names)
            lines.append(EffectLine(name=f"{result.scenario}-{result.strategy}", metric=result.metric, cells=cells))
        if len(lines) > 1:
            yield EffectTable(model=model, variants=names, lines=tuple(lines))
