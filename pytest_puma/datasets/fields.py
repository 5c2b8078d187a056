"""The fields of a sample: those that reveal its gold answer, hidden from templates, and those in natural language."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from pytest_puma.core import SettingsError
from pytest_puma.datasets.order import plain_text
from pytest_puma.phrases import did_you_mean, shortened

if TYPE_CHECKING:
    from pytest_puma.core import Sample, Scenario

#: The reason for a gold answer, in a pool of examples.
_RATIONALE = "rationale"
#: Maximum number of characters of a sample in a message.
_CHARACTERS = 40


def hidden_fields(scenario: Scenario, samples: Sequence[Sample]) -> frozenset[str]:
    """Return the fields that the scenario declares, and those that `gold_label` reads and returns in every sample.

    A field that is only an input of the gold answer, as a term of a sum, may belong to the question. A `SettingsError`
    names a declared field that no sample has.
    """
    declared = tuple(scenario.hidden_fields())
    if not samples:
        return frozenset(declared)
    _check_known(scenario, declared, samples)
    labels = tuple(scenario.valid_labels())
    row = _RecordingRow(samples[0].fields)
    scenario.gold_label(row)
    revealing = {
        name
        for name in row.names_read - set(scenario.text_fields)
        if all(scenario.kind.gold(plain_text(sample.fields.get(name)), labels) == sample.gold for sample in samples)
    }
    return frozenset((*declared, *revealing))


def _check_known(scenario: Scenario, declared: Sequence[str], samples: Sequence[Sample]) -> None:
    """Refuse a field that no sample has: misspelt, it would hide nothing.

    A column that a file may lack is among the `columns` of its scenario.
    """
    available = _names(samples)
    columns = getattr(scenario, "columns", None)
    for name in declared:
        if name not in available and name not in (columns or ()):
            hint = did_you_mean(name, available)
            remedy = "" if hint or columns is None else f"; if files may lack it: columns = {{{name!r}: ()}}"
            found = f"{scenario.name}: hidden_fields() has {name!r}, which no row has; {hint}"
            msg = f"{found}the rows have: {', '.join(available)}{remedy}"
            raise SettingsError(msg)


class _RecordingRow(dict[str, Any]):
    """A row that records which of its fields are read."""

    def __init__(self, *fields: Any) -> None:
        super().__init__(*fields)
        self.names_read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.names_read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.names_read.add(name)
        return super().get(name, default)


def text_fields(scenario: Scenario, samples: Sequence[Sample], hidden: Collection[str]) -> tuple[str, ...]:
    """Return the declared text fields that the samples have, or else all their fields of text.

    Fields that reveal the gold answer (`hidden`), identify the row or name its units or groups are excluded.
    """
    available = _names(samples)
    if declared := tuple(name for name in scenario.text_fields if name in available):
        return declared
    excluded = {*hidden, scenario.key, *scenario.unit_columns, *scenario.group_columns, _RATIONALE}
    return tuple(name for name in available if name not in excluded and _is_text(name, samples))


def beginning(sample: Sample, texts: Sequence[str]) -> str:
    """Return the beginning of these fields of a sample, in one line."""
    text = " ".join(" ".join(str(sample.fields.get(name) or "") for name in texts).split())
    return shortened(text, _CHARACTERS)


def _names(samples: Sequence[Sample]) -> list[str]:
    """All fields that samples have, in their order."""
    return list(dict.fromkeys(name for sample in samples for name in sample.fields))


def _is_text(name: str, samples: Sequence[Sample]) -> bool:
    values = [sample.fields.get(name) for sample in samples]
    return all(value is None or isinstance(value, str) for value in values) and any(values)
