"""The effect of the variants of a model as a table and as sentences, for the terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

from pytest_puma.core import Run, Shift
from pytest_puma.core.variant import PLUS, adding_plain
from pytest_puma.phrases import named
from pytest_puma.report import costs, table
from pytest_puma.report.comparison import APPROXIMATE
from pytest_puma.report.robustness import NAMES, SHIFTS, SIGNIFICANCE_LEVEL
from pytest_puma.report.rows import number
from pytest_puma.report.table import TextColumn
from pytest_puma.report.terminal import reply
from pytest_puma.runs.prediction_file import PredictionFile, owner_of
from pytest_puma.stats.significance import holm

#: Of one variant of a cell.
CHANGES: tuple[TextColumn[Shift], ...] = (
    TextColumn("variant", lambda shift: shift.perturbation, names=True),
    *SHIFTS[1:],
)
#: Samples whose replies are shown, and the name of the model without a variant.
_REPLIES, _PLAIN = 2, "plain"
_BOTH = (
    "Holm and an interval may differ: the interval is about its row alone, Holm is corrected for all rows of the cell, "
    "any of which could have changed by chance; to claim an effect, look at Holm"
)
#: The names below the first row of a cell.
_REPEATED = ("",) * len(NAMES)


def lines(run: Run, width: int) -> list[str]:
    """Return a row for each variant of a cell, and the sentences below; nothing without variants."""
    shifts = [shift for result in run.variants for shift in result.shifts]
    approximate = any(shift.change.approximate or shift.answer_changes.rate.note for shift in shifts)
    shown = table.lines(columns(run), rows(run), width) if shifts else []
    priced = costs.lines(run, width)
    return [*shown, *([APPROXIMATE] if approximate else []), *([""] if priced else []), *priced, *sentences(run)]


def columns(run: Run) -> tuple[TextColumn[Any], ...]:
    """Return the columns of the table."""
    return (*NAMES, *CHANGES, *distances(run))


def distances(run: Run) -> tuple[TextColumn[str], ...]:
    """Return the columns of the distances from the plain model that were measured; each shows that of a cell."""
    measures = {outcome.cell: outcome.measures for outcome in run.outcomes if outcome.name.variant is not None}
    measured = {name for of_cell in measures.values() for name in of_cell}

    def shown(metric: str, cell: str) -> str:
        measure = measures[cell].get(metric)
        return "-" if measure is None else number(measure.value)

    return tuple(
        TextColumn(title, partial(shown, metric), right=True, leaves=12, trails=f"{title} {{}}")
        for metric, title in (("kl", "kl"), ("same_top", "same top"))
        if metric in measured
    )


def rows(run: Run) -> list[tuple[str, ...]]:
    """Return the rows of the table: the change of the metric, the changed answers, what they changed to, distances."""
    of_cells = distances(run)
    return [
        (
            *(_REPEATED if index else table.texts(NAMES, result)),
            *table.texts(CHANGES, shift),
            *table.texts(of_cells, f"{result.cell}{PLUS}{shift.perturbation}"),
        )
        for result in run.variants
        for index, shift in enumerate(result.shifts)
    ]


def sentences(run: Run) -> list[str]:
    """Return where each variant is surely worse or better than the plain model, and which lacks a plain model.

    q+polite-4-L10: worse than q in 1 of 3 cells (triage_jira-zero_shot), better in none
    """
    pairs = dict.fromkeys((result.model, shift.perturbation) for result in run.variants for shift in result.shifts)
    effects = [_effect(run, *pair) for pair in pairs]
    compared = {f"{model}{PLUS}{variant}" for model, variant in pairs}
    missing: dict[str, dict[str, None]] = {}
    names = dict.fromkeys(outcome.name for outcome in run.outcomes)
    for name in names:
        if name.variant is not None and name.model not in compared:
            advice = f"to compare with the plain model, {adding_plain(name.variant)}"
            apart = "not compared with the plain model: their cells have other samples"
            missing.setdefault(apart if name.without("variant") in names else advice, {})[name.model] = None
    alone = (f"{named(models)}: {why}" for why, models in missing.items())
    differ = any(map(_differs, (shift for result in run.variants for shift in result.shifts)))
    return [*([_BOTH] if differ else []), *filter(None, effects), *alone]


def replies(run: Run, file: PredictionFile) -> Iterator[str]:
    """Yield the replies to the first samples of each cell that has variants: of the plain model, then of each variant.

    replies of tone-zero_shot to q1:
      plain     'Bread is made of flour.'
      loud-0.5  'BREAD is made of FLOUR.'
    """
    outcomes = {outcome.cell: outcome for outcome in run.outcomes}
    for result in run.variants:
        cells = {_PLAIN: result.cell} | {
            shift.perturbation: f"{result.cell}{PLUS}{shift.perturbation}" for shift in result.shifts
        }
        found = {name: file.by_owner.get(owner_of(outcomes[cell])) for name, cell in cells.items()}
        firsts = {name: [*islice(file.predictions(cell), _REPLIES)] for name, cell in found.items() if cell is not None}
        for position, first in enumerate(firsts.get(_PLAIN, ())):
            yield f"replies of {result.scenario}-{result.strategy} to {first.sample_id}:"
            for name, predictions in firsts.items():
                for prediction in predictions[position : position + 1]:
                    yield f"  {name:<{max(map(len, firsts))}}  {reply(prediction)}"


def _differs(shift: Shift) -> bool:
    """Whether the interval of a change excludes 0 and the corrected p-value is not small, or the other way round."""
    change = shift.change
    return (change.low > 0 or change.high < 0) != (shift.adjusted < SIGNIFICANCE_LEVEL)


def effects(run: Run) -> dict[tuple[str, str], str]:
    """Return by plain cell and variant whether a change is surely `better` or `worse`, else an empty text.

    The p-values are corrected for all cells and variants of the model (Holm).
    """
    better = {
        outcome.cell: outcome.measures[outcome.primary].better
        for outcome in run.outcomes
        if outcome.primary in outcome.measures
    }
    found: dict[tuple[str, str], str] = {}
    for model in dict.fromkeys(result.model for result in run.variants):
        pairs = [(result.cell, shift) for result in run.variants if result.model == model for shift in result.shifts]
        for (cell, shift), adjusted in zip(pairs, holm([shift.p for _, shift in pairs]), strict=True):
            is_sure = adjusted < SIGNIFICANCE_LEVEL and better.get(cell) in {"high", "low"}
            rises = shift.change.new > shift.change.old
            word = "better" if rises == (better.get(cell) == "high") else "worse"
            found[cell, shift.perturbation] = word if is_sure else ""
    return found


def _effect(run: Run, model: str, variant: str) -> str:
    """The sentence on a variant in several cells; empty for one, whose row says as much."""
    of_variant = {cell: effect for (cell, name), effect in effects(run).items() if name == variant}
    cells = [result for result in run.variants if result.model == model and result.cell in of_variant]
    if len(cells) == 1:
        return ""
    worse = [f"{result.scenario}-{result.strategy}" for result in cells if of_variant[result.cell] == "worse"]
    gains = sum(of_variant[result.cell] == "better" for result in cells)
    where = f" ({named(worse)})" if worse else ""
    return (
        f"{model}{PLUS}{variant}: worse than {model} in {len(worse) or 'none'} of {len(cells)} cells{where}, "
        f"better in {gains or 'none'}"
    )
