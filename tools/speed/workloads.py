"""What is asked: the requests that the product itself would make, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_puma.core import Exchange, Generate, Generation, Model, Request, Scenario, Score
from pytest_puma.run.cell import Cell
from pytest_puma.run.tasks import tasks_of
from pytest_puma.scenarios import EstimationTawosScenario, TriageJiraScenario
from pytest_puma.strategies import parse_strategy

DIRECT = ("zero_shot", "one_shot", "few_shot_3", "few_shot_5", "few_shot_8", "rcoif", "contextual_anchoring")
#: New tokens of a chain of thought.
THOUGHT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Requests by cell. `why` says what it stands for."""

    name: str
    why: str
    cells: tuple[tuple[Request, ...], ...]

    @property
    def requests(self) -> tuple[Request, ...]:
        """Of all cells, in their order."""
        return tuple(request for cell in self.cells for request in cell)

    @property
    def generated(self) -> tuple[Generate, ...]:
        """Those that ask for text."""
        return tuple(request for request in self.requests if isinstance(request, Generate))

    @property
    def scored(self) -> bool:
        """Whether continuations are scored, and nothing is generated."""
        return any(isinstance(request, Score) for request in self.requests)

    def prompts_alone(self) -> Workload:
        """The same prompts, each answered with one token."""
        return replace(self, cells=tuple(tuple(_first_token(each) for each in cell) for cell in self.cells))


def workloads(model: Model, *, samples: int, stories: Sequence[Path]) -> dict[str, Workload]:
    """All there are, by name, of so many samples a cell.

    Of `stories`, files of backlog items, eight times as many are drawn over all; without one, of the bundled items.
    """

    def cells(scenario: Scenario, *strategies: str, count: int = samples, new: int | None = None) -> list[Cell]:
        asked = Generation(max_tokens=new)
        return [
            Cell(scenario=scenario, strategy=parse_strategy(name), model=model, samples=count, generation=asked)
            for name in strategies
        ]

    triage, points = TriageJiraScenario(), EstimationTawosScenario()
    told = [EstimationTawosScenario(path) for path in stories] or [points]
    asked = {
        "triage": ("triage under seven strategies", cells(triage, *DIRECT)),
        "thoughts": ("chain of thought", cells(triage, "zero_shot_cot", new=THOUGHT)),
        "votes": ("self-consistency", cells(triage, "self_consistency_5", count=-(-samples // 5), new=THOUGHT)),
        "stories": (
            "long and short stories mixed",
            [cell for each in told for cell in cells(each, "zero_shot", count=-(-8 * samples // len(told)))],
        ),
        "labels": ("option scoring of 4 labels", cells(triage, "option_scoring")),
        "points": ("option scoring of 10 values", cells(points, "option_scoring")),
    }
    return {
        name: Workload(name=name, why=why, cells=tuple(tuple(_requests(cell)) for cell in group))
        for name, (why, group) in asked.items()
    }


def _requests(cell: Cell) -> Iterator[Request]:
    """What its strategy asks first about each sample, with nothing that could end an answer early."""
    for task in tasks_of(cell, None):
        for request in Exchange(cell.strategy.converse(task)).advance():
            yield replace(request, prompt=replace(request.prompt, stop=()))


def _first_token(request: Request) -> Generate:
    return Generate(prompt=request.prompt, max_tokens=1)
