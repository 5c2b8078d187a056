"""Check that cells can run: read their rows, templates and baselines before any model is loaded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TypeAlias

from pytest_puma.core import Generation, Sample, SettingsError
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.tasks import rows_of, tasks_on
from pytest_puma.planning.prompts import check_prompts, warn_of_spaces
from pytest_puma.planning.settings import Settings
from pytest_puma.strategies.rehearsal import rehearse

#: Everything that decides the samples and prompts of a cell, by name.
Identity: TypeAlias = Mapping[str, object]
#: The first test that requests a cell, and the cell's identity, by its id.
Identities: TypeAlias = dict[str, tuple[str, Identity]]


def check_ready(cells: Sequence[Cell], settings: Settings, identities: Identities, *, test: str) -> None:
    """Refuse what would end a long run: unusable files, and a cell that another test requests with other data.

    `cells` are those of one spec, requested by `test`; they share their rows.
    """
    # Models share the templates, and all cells the rows: the longest examples include those of every other strategy.
    if cells:
        samples, examples = rows_of(max(cells, key=lambda cell: cell.strategy.shots))
        check_same(cells, samples, identities, test=test)
        for cell in {cell.strategy.name: cell for cell in cells}.values():
            tasks = tasks_on(replace(cell, perturbation=None), (samples, examples), settings.project)
            rehearse(cell.strategy, tasks[0])
            check_prompts(cell.strategy, tasks)
        warn_of_spaces(tasks)
    for cell in cells:
        settings.judging.baseline_of(cell)


def check_same(cells: Sequence[Cell], samples: Sequence[Sample], identities: Identities, *, test: str) -> None:
    """Refuse two different cells with the same id: their numbers would be confused."""
    for cell in cells:
        identity = _identity(cell, samples)
        first, earlier = identities.setdefault(cell.id, (test, identity))
        differing = (name for name in identity if earlier[name] != identity[name])
        parts = [f"{name} {earlier[name]} there and {identity[name]} here" for name in differing]
        # Different rows follow from another difference that is already named.
        parts = parts[:-1] if len(parts) > 1 and parts[-1].startswith("rows") else parts
        if parts:
            msg = (
                f"{cell.id} is requested by {first} too, with different settings: {'; '.join(parts)}; "
                "make them equal, or give one of the scenarios a name of its own"
            )
            raise SettingsError(msg)


def _identity(cell: Cell, samples: Sequence[Sample]) -> Identity:
    kind, source = type(cell.scenario), cell.scenario.source()
    return {
        "class": kind,
        "samples": cell.samples,
        "repeats": cell.repeats,
        "subjects": cell.subjects,
        "seed": cell.seed,
        **{field.name: getattr(cell.generation, field.name) for field in fields(Generation)},
        "data": None if source is None else f"{source.name} (SHA-256 {source.digest[:8]})",
        "templates": cell.scenario.template_folder or cell.scenario.name,
        "labels": tuple(cell.scenario.valid_labels()),
        "rows": _digest(samples),
    }


def _digest(samples: Sequence[Sample]) -> str:
    """Return a few digits that differ if the drawn rows differ."""
    rows = [[sample.id, sample.gold, sorted(map(repr, sample.fields.items()))] for sample in samples]
    return f"of digest {hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:8]}"
