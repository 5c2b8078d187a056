"""The parts of a run that several machines compute: which cells belong to which part.

The assignment depends on the cells alone, so that all machines agree without asking each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_puma.errors import SettingsError
from pytest_puma.evaluation.cell import Cell

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

    def select(self, cells: Sequence[Cell]) -> frozenset[str]:
        """Return the ids of its cells, `cells` being those of all parts.

        A part has neighbours: so it loads few models. A cell is never cut, and its variants are with it.
        """
        weights = Counter[tuple[str, ...]]()
        for cell in cells:
            weights[_group(cell)] += max(cell.model.size, 1) * cell.samples * cell.repeats
        models = list(dict.fromkeys(model for model, *_ in weights))
        ordered = sorted(weights, key=lambda group: models.index(group[0]))
        mine, before, total = set(), 0, weights.total()
        for group in ordered:
            middle = 2 * before + weights[group]
            if middle * self.parts // (2 * total) == self.number - 1:
                mine.add(group)
            before += weights[group]
        return frozenset(cell.id for cell in cells if _group(cell) in mine)


def _group(cell: Cell) -> tuple[str, ...]:
    """The names of a cell, without that of its variant."""
    name = cell.name
    return name.plain, name.scenario, name.strategy, name.perturbation or ""
