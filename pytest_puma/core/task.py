"""The task of a cell as data, so that stored predictions can be compared and shown without its scenario."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_puma.core.metric import Direction
from pytest_puma.task_types import KINDS, TaskKind


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredScore:
    """The declaration of a metric of single predictions, as in `Metric`; `pooled`: its scores are vectors."""

    name: str
    better: Direction = "high"
    unit: str = ""
    bounds: tuple[float, float] | None = (0.0, 1.0)
    pooled: bool = False
    interval: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskInfo:
    """The task that a scenario sets.

    `type`: its `task_type`. `labels`: the valid answers of a classification, the values to choose from in a regression,
    else empty; `ordered`: they are steps of a scale. `primary`: the primary metric; `better`: which of its values are
    better. `keyed`: ids of samples mean something to people, as they are no hashes. `scores`: the metrics of single
    predictions that the cell has beside those of every such task.
    """

    type: str
    labels: tuple[str, ...] = ()
    ordered: bool = False
    primary: str = ""
    better: Direction = "neither"
    keyed: bool = True
    scores: tuple[DeclaredScore, ...] = ()

    @property
    def kind(self) -> TaskKind:
        """The kind of task, by its type; a `KeyError` if this version has no such kind."""
        return KINDS[self.type]
