"""All blocks of the page: those of the run, and those of its samples, which are read cell by cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from pytest_puma.codec.plain import plain
from pytest_puma.core import Run
from pytest_puma.planning.reports import PageSettings
from pytest_puma.report.page.budget import Budget, LeftOut, left_out
from pytest_puma.report.page.cells import CellBlocks, pack_cell
from pytest_puma.report.page.changes import Against
from pytest_puma.report.page.earlier import EarlierRuns
from pytest_puma.report.page.encoding import DIFFERS, as_text, packed, packed_json, text_length
from pytest_puma.report.page.index import index
from pytest_puma.report.page.scenario import ScenarioBlocks
from pytest_puma.runs.prediction_file import owner_of, stored_cells

#: Bytes of the element around a block.
_ELEMENT = len('<script type="text/plain" id="t1000"></script>\n')
#: By its place in the run, each cell whose predictions are in the folder.
_Cells: TypeAlias = Mapping[int, CellBlocks]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """The texts of the blocks by the ids of their elements.

    `left_out`: what is missing to keep the size; `without_samples`: the cells whose predictions are not in the folder.
    """

    texts: Mapping[str, str]
    left_out: LeftOut
    without_samples: tuple[str, ...]


def blocks_of(
    run: Run, folder: Path | None, settings: PageSettings, against: Against | None, *, limit: int | None
) -> Blocks:
    """Make the blocks of a run, whose samples are in a folder; `limit`: the bytes that they may have, None for any."""
    texts = settings.texts == "all"
    scenarios = _scenarios(run, texts=texts)
    cells = {} if folder is None else _cells(run, folder, scenarios, against)
    for scenario in scenarios.values():
        _mark_differences(scenario, cells)
    fixed = {f"r{number}": packed_json(scenario.block()) for number, scenario in enumerate(scenarios.values())}
    for number, cell in cells.items():
        fixed |= {f"h{number}": cell.head, f"a{number}": cell.numbers}
    content = index(run, scenarios, cells, against=against, folder=folder)
    megabytes = settings.megabytes if texts else None
    # The longest counts: leaving texts out must not lengthen the index.
    longest = _index(content, LeftOut(texts=10**9, shortened=10**9), megabytes)
    size = sum(text_length(data) + _ELEMENT for data in (*fixed.values(), longest, _flags(run, scenarios, cells)))
    # Nor the flags, of which a bit changes with each text.
    changing = sum(len(cell.flags) for cell in cells.values()) // 6
    more = _ELEMENT * (len(run.outcomes) + len(scenarios))
    budget = Budget(scenarios.values(), cells, fixed=size + changing + more)
    if limit is not None:
        budget.fit(limit)
    missing = left_out(cells.values())
    blocks = {
        "ix": _index(content, missing, megabytes),
        "fl": _flags(run, scenarios, cells),
        **fixed,
        **{f"s{number}": data for number, data in enumerate(budget.pieces)},
        **{f"t{number}": cell.texts for number, cell in cells.items() if cell.texts},
    }
    return Blocks(
        texts={name: as_text(data) for name, data in blocks.items()},
        left_out=missing,
        without_samples=tuple(outcome.cell for number, outcome in enumerate(run.outcomes) if number not in cells),
    )


def _scenarios(run: Run, *, texts: bool) -> dict[str, ScenarioBlocks]:
    scenarios: dict[str, ScenarioBlocks] = {}
    for number, outcome in enumerate(run.outcomes):
        scenarios.setdefault(outcome.name.scenario, ScenarioBlocks(outcome.task, texts=texts)).cells.append(number)
    return scenarios


def _cells(
    run: Run, folder: Path, scenarios: Mapping[str, ScenarioBlocks], against: Against | None
) -> dict[int, CellBlocks]:
    """The cells whose predictions are in the folder, in the order of the run."""
    numbers = {owner_of(outcome): number for number, outcome in enumerate(run.outcomes)}
    cells: dict[int, CellBlocks] = {}
    before = EarlierRuns(folder)
    for stored, predictions in stored_cells(folder, numbers):
        number = numbers[stored.owner]
        outcome = run.outcomes[number]
        flips = () if against is None else against.flips.get(outcome.cell, ())
        scenario = scenarios[outcome.name.scenario]
        earlier = before.cell(outcome, flips) if scenario.texts else None
        cells[number] = pack_cell(stored.shared, predictions, scenario, flips, earlier)
    return dict(sorted(cells.items()))


def _mark_differences(scenario: ScenarioBlocks, cells: _Cells) -> None:
    """Flag the rows in which not all cells of a scenario give the same answer."""
    present = [cells[number] for number in scenario.cells if number in cells]
    first: dict[int, int] = {}
    differing: set[int] = set()
    for cell in present:
        for row, answer in zip(cell.rows, cell.answers, strict=True):
            if first.setdefault(row, answer) != answer:
                differing.add(row)
    for cell in present:
        for position, row in enumerate(cell.rows):
            cell.flags[position] |= DIFFERS if row in differing else 0


def _index(content: dict[str, Any], missing: LeftOut, megabytes: float | None) -> bytes:
    return packed_json(content | {"left_out": plain(missing) | {"megabytes": megabytes} if missing else None})


def _flags(run: Run, scenarios: Mapping[str, ScenarioBlocks], cells: _Cells) -> bytes:
    """The block `fl`: 16 bits for each cell and row, the least significant byte first."""
    columns = [np.zeros(len(scenarios[outcome.name.scenario]), dtype="<u2") for outcome in run.outcomes]
    for number, cell in cells.items():
        columns[number][cell.rows] = cell.flags
    return packed(b"".join(column.tobytes() for column in columns))
