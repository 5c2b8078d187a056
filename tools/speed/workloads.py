"""The workloads: the requests that the product itself makes, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_puma.core import Exchange, Generate, Generation, Model, Request, Scenario, Score
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.tasks import tasks_of
from pytest_puma.scenarios import EstimationTawosScenario, TriageJiraScenario
from pytest_puma.strategies import parse_strategy

DIRECT = ("zero_shot", "one_shot", "few_shot_3", "few_shot_5", "few_shot_8", "rcoif", "contextual_anchoring")
#: New tokens of a chain of thought.
THOUGHT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Requests by cell; `why` describes the workload."""

    name: str
    why: str
    cells: tuple[tuple[Request, ...], ...]

    @property
    def requests(self) -> tuple[Request, ...]:
        """The requests of all cells, in order."""
        return tuple(request for cell in self.cells for request in cell)

    @property
    def generated(self) -> tuple[Generate, ...]:
        """The requests for text."""
        return tuple(request for request in self.requests if isinstance(request, Generate))

    @property
    def scored(self) -> bool:
        """Whether the workload scores continuations and generates nothing."""
        return any(isinstance(request, Score) for request in self.requests)

    def prompts_alone(self) -> Workload:
        """Return the same prompts, each with an answer of one token."""
        return replace(self, cells=tuple(tuple(_first_token(each) for each in cell) for cell in self.cells))


def workloads(model: Model, *, samples: int, stories: Sequence[Path]) -> dict[str, Workload]:
    """Return all workloads by name, with this number of samples per cell.

    The workload `stories` has eight times as many samples, from the files of backlog items in `stories`, else from the
    bundled items.
    """

    def cells(scenario: Scenario, *strategies: str, count: int = samples, new: int | None = None) -> list[Cell]:
        generation = Generation(max_tokens=new)
        return [
            Cell(scenario=scenario, strategy=parse_strategy(name), model=model, samples=count, generation=generation)
            for name in strategies
        ]

    triage, points = TriageJiraScenario(), EstimationTawosScenario()
    backlogs = [EstimationTawosScenario(path) for path in stories] or [points]
    groups = {
        "triage": ("triage under seven strategies", cells(triage, *DIRECT)),
        "thoughts": ("chain of thought", cells(triage, "zero_shot_cot", new=THOUGHT)),
        "votes": ("self-consistency", cells(triage, "self_consistency_5", count=-(-samples // 5), new=THOUGHT)),
        "stories": (
            "long and short stories mixed",
            [cell for each in backlogs for cell in cells(each, "zero_shot", count=-(-8 * samples // len(backlogs)))],
        ),
        "labels": ("option scoring of 4 labels", cells(triage, "option_scoring")),
        "points": ("option scoring of 10 values", cells(points, "option_scoring")),
    }
    return {
        name: Workload(name=name, why=why, cells=tuple(tuple(_requests(cell)) for cell in group))
        for name, (why, group) in groups.items()
    }


def _requests(cell: Cell) -> Iterator[Request]:
    """The first requests of the strategy for each sample, without stop strings."""
    for task in tasks_of(cell, None):
        for request in Exchange(cell.strategy.converse(task)).advance():
            yield replace(request, prompt=replace(request.prompt, stop=()))


def _first_token(request: Request) -> Generate:
    return Generate(prompt=request.prompt, max_tokens=1)
