"""The name of a cell: `scenario-strategy@model`, under a perturbation `scenario-strategy+perturbation@model`.

The names before the `@` have no hyphen, no `+` and no `@`; what follows the first `@` is the model's name. That of a
variant follows a `+`: `scenario-strategy@model+variant`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from pytest_puma.core.variant import PLUS, plain_name

Axis: TypeAlias = Literal["strategy", "model", "perturbation", "variant", "scenario"]
#: The columns of a cell's names in tables.
COLUMNS = ("cell", "scenario", "strategy", "perturbation", "model")


@dataclass(frozen=True, slots=True, order=True)
class CellId:
    """The four names of a cell; `perturbation` is None for samples as they are."""

    scenario: str
    strategy: str
    model: str
    perturbation: str | None = None

    @classmethod
    def parse(cls, text: str) -> CellId:
        """Read `str(cell_id)` back. A part that the text lacks is empty."""
        names, _, model = text.partition("@")
        names, plus, perturbation = names.partition("+")
        scenario, _, strategy = names.partition("-")
        return cls(scenario, strategy, model, perturbation if plus else None)

    def __str__(self) -> str:
        """As in node ids, gates and baseline files."""
        return f"{self.scenario}-{self.shown}@{self.model}"

    @property
    def plain(self) -> str:
        """The name of the model without that of the variant."""
        return plain_name(self.model)

    @property
    def variant(self) -> str | None:
        """The name of the variant, None for the plain model."""
        _, plus, variant = self.model.partition(PLUS)
        return variant if plus else None

    @property
    def shown(self) -> str:
        """The strategy, with the perturbation if there is one: `few_shot_3+typos_5pct`."""
        return with_perturbation(self.strategy, self.perturbation)

    def columns(self) -> dict[str, str | None]:
        """Return the names under `COLUMNS`; `cell` is the id."""
        values = (str(self), self.scenario, self.strategy, self.perturbation, self.model)
        return dict(zip(COLUMNS, values, strict=True))

    def without(self, axis: Axis) -> CellId:
        """The cells that differ on this axis alone have this in common: the same names, with that one empty.

        Scenarios have strategies of their own, so that without the scenario there is none either.
        """
        if axis == "perturbation":
            return replace(self, perturbation=None)
        if axis == "variant":
            return replace(self, model=self.plain)
        if axis == "scenario":
            return replace(self, scenario="", strategy="")
        return replace(self, strategy="") if axis == "strategy" else replace(self, model="")

    @property
    def common_name(self) -> str:
        """The name of a group of cells, without the empty parts: `triage_jira@qwen`, `triage_jira-zero_shot`."""
        strategy = f"-{self.strategy}" if self.strategy else ""
        return (
            f"{with_perturbation(self.scenario + strategy, self.perturbation)}{f'@{self.model}' if self.model else ''}"
        )


def with_perturbation(name: str, perturbation: str | None) -> str:
    """A name followed by that of the perturbation if there is one."""
    return name if perturbation is None else f"{name}+{perturbation}"
