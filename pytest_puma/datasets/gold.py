"""The fields of a sample that reveal its gold answer, hidden from templates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_puma.core import SettingsError
from pytest_puma.datasets.order import plain_text
from pytest_puma.errors import did_you_mean

if TYPE_CHECKING:
    from pytest_puma.core import Sample, Scenario


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
    there = dict.fromkeys(name for sample in samples for name in sample.fields)
    columns = getattr(scenario, "columns", None)
    for name in declared:
        if name not in there and name not in (columns or ()):
            hint = did_you_mean(name, there)
            remedy = "" if hint or columns is None else f"; if files may lack it: columns = {{{name!r}: ()}}"
            found = f"{scenario.name}: hidden_fields() has {name!r}, which no row has; {hint}"
            msg = f"{found}the rows have: {', '.join(there)}{remedy}"
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
