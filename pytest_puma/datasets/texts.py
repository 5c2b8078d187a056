"""The fields of a sample in natural language, for perturbations and naive baselines."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_puma.core import Sample, Scenario

#: The reason for a gold answer, in a pool of examples.
_RATIONALE = "rationale"
#: Maximum number of characters of a sample in a message.
_CHARACTERS = 40


def text_fields(scenario: Scenario, samples: Sequence[Sample], hidden: Collection[str]) -> tuple[str, ...]:
    """Return the declared text fields that the samples have, or else all their fields of text.

    Fields that reveal the gold answer (`hidden`), identify the row or name its units or groups are excluded.
    """
    there = dict.fromkeys(name for sample in samples for name in sample.fields)
    if declared := tuple(name for name in scenario.text_fields if name in there):
        return declared
    others = {*hidden, scenario.key, *scenario.unit_columns, *scenario.group_columns, _RATIONALE}
    return tuple(name for name in there if name not in others and _is_text(name, samples))


def beginning(sample: Sample, texts: Sequence[str]) -> str:
    """Return the beginning of these fields of a sample, in one line."""
    text = " ".join(" ".join(str(sample.fields.get(name) or "") for name in texts).split())
    return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}..."


def _is_text(name: str, samples: Sequence[Sample]) -> bool:
    values = [sample.fields.get(name) for sample in samples]
    return all(value is None or isinstance(value, str) for value in values) and any(values)
