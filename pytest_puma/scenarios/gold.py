"""Which fields of a sample tell its gold answer: templates do not see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_puma.scenarios.layout import valid_gold
from pytest_puma.scenarios.order import plain_text

if TYPE_CHECKING:
    from pytest_puma.core import Sample, Scenario


def hidden_fields(scenario: Scenario, samples: Sequence[Sample]) -> frozenset[str]:
    """Those that the scenario declares, and any that `gold_label` reads and returns as it stands in every sample.

    A field that the gold answer is only computed from, as a sum is from its terms, may be what the question is about.
    """
    if not samples:
        return frozenset(scenario.hidden_fields())
    labels = tuple(scenario.valid_labels()) if scenario.kind.closed else None
    reading = _Reading(samples[0].fields)
    scenario.gold_label(reading)
    told = {
        name
        for name in reading.read - set(scenario.text_fields)
        if all(valid_gold(plain_text(sample.fields.get(name)), labels) == sample.gold for sample in samples)
    }
    return frozenset((*scenario.hidden_fields(), *told))


class _Reading(dict[str, Any]):
    """A row that knows which of its fields were read."""

    def __init__(self, *fields: Any) -> None:
        super().__init__(*fields)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.read.add(name)
        return super().get(name, default)
