"""The parts of a run that several machines compute: which cells, and which blocks of a large cell, belong to which.

The assignment depends on the cells alone, so that all machines agree without asking each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pytest_puma.errors import SettingsError
from pytest_puma.evaluation import conversations
from pytest_puma.evaluation.cell import Cell

#: The names of a cell and of its variants.
_Group: TypeAlias = tuple[str, str, str, str]
#: The conversations of a cell that is not cut.
WHOLE = slice(0, None)
#: Why no gate is judged in a part of a run.
UNJUDGED = "not judged: a shard is a part of a run; merge the stores of all shards, then --puma-offline judges"


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` of `parts`, counted from 1."""

    number: int
    parts: int

    @classmethod
    def parse(cls, text: str, *, keeps: bool = True) -> Shard:
        """Return the shard of a text such as `2/4`; a `SettingsError` if it is none, or if its answers are not kept."""
        found = re.fullmatch(r"(\d+)/(\d+)", text.strip(), re.ASCII)
        number, parts = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= parts:
            msg = f"--puma-shard: found {text!r}; expected I/N with I from 1 to N, such as 2/4"
            raise SettingsError(msg)
        if not keeps:
            msg = "--puma-shard with the store off would lose the answers of the shard; expected --puma-store mix"
            raise SettingsError(msg)
        return cls(number, parts)

    def select(self, cells: Sequence[Cell], *, looks: bool = False) -> Mapping[str, slice]:
        """Return the ids of its cells, `cells` being those of all parts, each with the conversations to hold.

        Neighbours make a part: so it loads few models. The variants of a cell are with it. `looks`: cells end early, by
        looks that are one chain and never cut.
        """
        counts = _counts_of_blocks(cells, looks=looks)
        weights = Counter[tuple[_Group, int]]()
        for cell in cells:
            group = _group(cell)
            for block in range(counts[group]):
                held = range(_conversations(cell))[_stretch(block, block + 1, counts[group])]
                weights[group, block] += max(cell.model.size, 1) * len(held)
        models = list(dict.fromkeys(model for (model, *_), _ in weights))
        mine, before, total = dict[_Group, list[int]](), 0, weights.total()
        for group, block in sorted(weights, key=lambda unit: models.index(unit[0][0])):
            middle = 2 * before + weights[group, block]
            if middle * self.parts // (2 * total) == self.number - 1:
                mine.setdefault(group, []).append(block)
            before += weights[group, block]
        return {
            cell.id: _stretch(blocks[0], blocks[-1] + 1, counts[_group(cell)])
            for cell in cells
            if (blocks := mine.get(_group(cell)))
        }


def _group(cell: Cell) -> _Group:
    """The names of a cell, without that of its variant."""
    name = cell.name
    return name.plain, name.scenario, name.strategy, name.perturbation or ""


def _counts_of_blocks(cells: Sequence[Cell], *, looks: bool) -> Mapping[_Group, int]:
    """The number of blocks that each cell and its variants are cut into."""
    counts: dict[_Group, int] = {}
    for cell in cells:
        count = 1 if looks else -(-_conversations(cell) // conversations.MAX_CONCURRENT)
        counts[_group(cell)] = max(count, counts.get(_group(cell), 1))
    # A judge, a sandbox and a distance from the plain model need all answers of the cell.
    whole = [cell for cell in cells if any(metric.asks or metric.source == "distributions" for metric in cell.scores)]
    return counts | dict.fromkeys(map(_group, whole), 1)


def _conversations(cell: Cell) -> int:
    """Their number; a scenario with trials of its own has others, which are in the last block."""
    return cell.samples * cell.repeats


def _stretch(first: int, end: int, count: int) -> slice:
    """The conversations of the blocks from `first` to `end`, of `count` blocks."""
    size = conversations.MAX_CONCURRENT
    return slice(first * size, None if end == count else end * size)
