"""The fields of a sample that reveal its gold answer, hidden from templates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_puma.scenarios.order import plain_text

if TYPE_CHECKING:
    from pytest_puma.core import Sample, Scenario


def hidden_fields(scenario: Scenario, samples: Sequence[Sample]) -> frozenset[str]:
    """Return the fields that the scenario declares, and those that `gold_label` reads and returns in every sample.

    A field that is only an input of the gold answer, as a term of a sum, may belong to the question.
    """
    if not samples:
        return frozenset(scenario.hidden_fields())
    labels = tuple(scenario.valid_labels())
    row = _RecordingRow(samples[0].fields)
    scenario.gold_label(row)
    revealing = {
        name
        for name in row.names_read - set(scenario.text_fields)
        if all(scenario.kind.gold(plain_text(sample.fields.get(name)), labels) == sample.gold for sample in samples)
    }
    return frozenset((*scenario.hidden_fields(), *revealing))


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
