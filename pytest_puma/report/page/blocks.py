"""All blocks of the page: those of the run, and those of its samples, which are read cell by cell."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_puma.core import Run
from pytest_puma.report.page.budget import Budget, LeftOut, left_out
from pytest_puma.report.page.cells import CellBlocks, ScenarioBlocks, pack_cell
from pytest_puma.report.page.changes import Against
from pytest_puma.report.page.encoding import DIFFERS, as_text, packed, packed_json, text_length
from pytest_puma.report.page.index import HistoryByCell, index
from pytest_puma.report.page.scenario import Pool, Rows, task_of
from pytest_puma.runs.prediction_file import owner_of, stored_cells

#: Bytes of the element around a block.
_ELEMENT = len('<script type="text/plain" id="t1000"></script>\n')


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """The texts of the blocks by the ids of their elements.

    `left_out`: what is missing to keep the size; `without_samples`: the cells whose predictions are not in the folder.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    left_out: LeftOut = field(default_factory=LeftOut)
    without_samples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The contents of a page: a run, its folder (None if it has none), and the other side of its comparison.

    `texts`: whether to keep the texts of samples. `limit`: the bytes that all blocks may have, None for any;
    `megabytes`: the limit that is shown for it. `history`: of cells, by id.
    """

    run: Run
    folder: Path | None
    texts: bool = True
    limit: int | None = None
    megabytes: float | None = None
    against: Against | None = None
    history: HistoryByCell = field(default_factory=dict)

    def blocks(self) -> Blocks:
        """Make all blocks."""
        scenarios = self._scenarios()
        cells = self._cells(list(scenarios.values()))
        for scenario in scenarios.values():
            _mark_differences(scenario, cells)
        fixed = dict(self._fixed(list(scenarios.values()), cells))
        pieces = self._fitted(scenarios, cells, fixed).pieces
        missing = left_out(cell for cell in cells if cell is not None)
        first = {"ix": self._index(scenarios, cells, missing), "fl": _flags(scenarios, cells)}
        of_scenarios = {f"s{number}": data for number, data in enumerate(pieces)}
        of_cells = {f"t{number}": cell.texts for number, cell in enumerate(cells) if cell is not None and cell.texts}
        without = (outcome.cell for outcome, cell in zip(self.run.outcomes, cells, strict=True) if cell is None)
        return Blocks(
            texts={name: as_text(data) for name, data in {**first, **fixed, **of_scenarios, **of_cells}.items()},
            left_out=missing,
            without_samples=tuple(without),
        )

    def _fitted(
        self,
        scenarios: Mapping[str, ScenarioBlocks],
        cells: Sequence[CellBlocks | None],
        fixed: Mapping[str, bytes],
    ) -> Budget:
        """Leave out texts of the cells until all blocks keep the limit."""
        flags = _flags(scenarios, cells)
        # The longest counts: leaving texts out must not lengthen the index.
        index = self._index(scenarios, cells, LeftOut(texts=10**9, shortened=10**9))
        size = sum(text_length(data) + _ELEMENT for data in (*fixed.values(), index, flags))
        # Nor the flags, of which a bit changes with each text.
        changing = sum(len(cell.flags) for cell in cells if cell is not None) // 6
        more = _ELEMENT * (len(cells) + len(scenarios))
        budget = Budget(list(scenarios.values()), cells, fixed=size + changing + more)
        if self.limit is not None:
            budget.fit(self.limit)
        return budget

    def _scenarios(self) -> dict[str, ScenarioBlocks]:
        scenarios: dict[str, ScenarioBlocks] = {}
        for position, outcome in enumerate(self.run.outcomes):
            if outcome.scenario not in scenarios:
                scenarios[outcome.scenario] = ScenarioBlocks(task=task_of(outcome), rows=Rows(), pool=Pool(), cells=[])
            scenarios[outcome.scenario].cells.append(position)
        return scenarios

    def _cells(self, scenarios: Sequence[ScenarioBlocks]) -> list[CellBlocks | None]:
        """The cells whose predictions are in the folder, in the order of the run."""
        outcomes = self.run.outcomes
        places = {owner_of(outcome): position for position, outcome in enumerate(outcomes)}
        of_cell = {position: scenario for scenario in scenarios for position in scenario.cells}
        cells: list[CellBlocks | None] = [None] * len(outcomes)
        for stored, predictions in () if self.folder is None else stored_cells(self.folder, places):
            position = places[stored.owner]
            outcome = outcomes[position]
            flips = () if self.against is None else self.against.flips.get(outcome.cell, ())
            cells[position] = pack_cell(stored.shared, predictions, of_cell[position], flips, texts=self.texts)
        return cells

    def _fixed(
        self, scenarios: Sequence[ScenarioBlocks], cells: Sequence[CellBlocks | None]
    ) -> Iterator[tuple[str, bytes]]:
        """The blocks that are never shortened, but the index and the flags."""
        for position, scenario in enumerate(scenarios):
            answers = self.texts or not scenario.answers_are_texts
            yield f"r{position}", packed_json(scenario.rows.block(texts=self.texts, answers=answers))
        for position, cell in enumerate(cells):
            if cell is not None:
                yield f"h{position}", cell.head
                yield f"a{position}", cell.numbers

    def _index(
        self, scenarios: Mapping[str, ScenarioBlocks], cells: Sequence[CellBlocks | None], missing: LeftOut
    ) -> bytes:
        content = index(
            self.run,
            scenarios,
            cells,
            against=self.against,
            history=self.history,
            left_out=missing,
            megabytes=self.megabytes,
        )
        return packed_json(content)


def _mark_differences(scenario: ScenarioBlocks, cells: Sequence[CellBlocks | None]) -> None:
    """Flag the rows in which not all cells of a scenario give the same answer."""
    present = [cell for position in scenario.cells if (cell := cells[position]) is not None]
    first: dict[int, int] = {}
    differing: set[int] = set()
    for cell in present:
        for row, answer in zip(cell.rows, cell.answers, strict=True):
            if first.setdefault(row, answer) != answer:
                differing.add(row)
    for cell in present:
        for position, row in enumerate(cell.rows):
            cell.flags[position] |= DIFFERS if row in differing else 0


def _flags(scenarios: Mapping[str, ScenarioBlocks], cells: Sequence[CellBlocks | None]) -> bytes:
    """The block `fl`: 16 bits for each cell and row, the least significant byte first."""
    rows = {position: len(scenario.rows) for scenario in scenarios.values() for position in scenario.cells}
    flags = array("H")
    for position, cell in enumerate(cells):
        own = array("H", bytes(2 * rows[position]))
        for row, flag in () if cell is None else zip(cell.rows, cell.flags, strict=True):
            own[row] = flag
        flags += own
    if sys.byteorder == "big":
        flags.byteswap()
    return packed(flags.tobytes())
