"""The subjects of a run: patterns that select samples by their groups.

    --puma-subject "law,med*"

The patterns of a marker or run-spec must each match a group of its scenario. Those of the command line and of the ini
file are for all scenarios of the run: each scenario takes the patterns that match its groups.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_puma.core import SettingsError
from pytest_puma.datasets.groups import group_values, matches, no_subject
from pytest_puma.evaluation.cell import Cell
from pytest_puma.phrases import named
from pytest_puma.planning.settings import BenchmarkSpec, Settings


def subjects_of(request: BenchmarkSpec, settings: Settings, seed: int) -> tuple[str, ...]:
    """Return the patterns that select the samples of a request; empty for all samples.

    A `SettingsError` names a pattern without a match, and a scenario without groups that has patterns of its own.
    """
    scenario, declared = request.scenario, request.options.subjects
    if not scenario.group_columns:
        if declared:
            msg = (
                f"{scenario.name}: subjects is {', '.join(declared)}, but the scenario has no groups; "
                "set its group_columns, or leave out subjects"
            )
            raise SettingsError(msg)
        return ()
    patterns = settings.request.command.subjects or declared or settings.request.ini.subjects or ()
    if not patterns or not settings.request.runs(scenario.name):
        return patterns
    values = group_values(scenario, seed)
    taken = tuple(pattern for pattern in patterns if matches(pattern, values))
    unmatched = [pattern for pattern in patterns if pattern not in taken]
    if unmatched and (patterns is declared or not taken):
        raise no_subject(unmatched[0], scenario.name, values)
    return taken


def unmatched_subjects(cells: Sequence[Cell], settings: Settings) -> list[str]:
    """Return a sentence for each pattern of the command line that selects samples of no collected scenario."""
    cells = [cell for cell in cells if settings.request.runs(cell.scenario.name)]
    taken = {pattern for cell in cells for pattern in cell.subjects}
    unmatched = [pattern for pattern in settings.request.command.subjects or () if pattern not in taken]
    if not unmatched or not cells:
        return []
    grouped = {cell.scenario.name: cell for cell in cells if cell.scenario.group_columns}
    names = named(grouped or {cell.scenario.name: cell for cell in cells})
    if not grouped:
        return [f"--puma-subject {', '.join(unmatched)}: no scenario of this run has groups; there are: {names}"]
    values = sorted({value for cell in grouped.values() for value in group_values(cell.scenario, cell.seed)})
    return [f"--puma-subject: {no_subject(pattern, names, values)}" for pattern in unmatched]
