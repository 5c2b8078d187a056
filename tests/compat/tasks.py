"""Tasks for tests, as their authors write them for eval-framework."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from pytest_puma.compat.eval_framework import BaseTask, ResponseType
from pytest_puma.core import Model, Outcome
from pytest_puma.evaluation.tasks import tasks_of
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.strategies import Task
from pytest_puma.testing import Cell, Engine, ScriptedBackend, evaluate, parse_strategy


class Capitals(BaseTask[str]):
    """Without the faults of the guide's example."""

    NAME = "Capitals"
    DATASET_PATH = "absent"
    SAMPLE_SPLIT = "test"
    FEWSHOT_SPLIT = "train"
    RESPONSE_TYPE = ResponseType.COMPLETION
    METRICS: ClassVar[Sequence[Any]] = ("AccuracyCompletion",)
    SUBJECTS = ("Europe", "Asia")

    def _get_instruction_text(self, item: dict[str, Any]) -> str:
        return f"Capital of {item['country']}?"

    def _get_ground_truth(self, item: dict[str, Any]) -> Any:
        return f" {item['capital']}"

    def _get_cue_text(self, item: dict[str, Any]) -> str:
        return "A:"


class CapitalChoices(Capitals):
    """The same, with texts to score."""

    NAME = "Capital Choices"
    RESPONSE_TYPE = ResponseType.LOGLIKELIHOODS
    METRICS = ("AccuracyLoglikelihood", "AccuracyNormLoglikelihood")

    def _get_possible_completions(self, item: dict[str, Any]) -> list[str]:
        return [f" {item['capital']}", " Atlantis", " I do not know."]


def cell(scenario: Any, strategy: str, *, samples: int = 12, seed: int = 42) -> Cell:
    """A cell of a task."""
    return Cell(
        scenario=scenario,
        strategy=parse_strategy(strategy),
        model=Model(name="scripted", path=Path("none.gguf")),
        samples=samples,
        seed=seed,
        scores=tuple(LIBRARY[name] for name in scenario.scores),
    )


def cell_tasks(scenario: Any, strategy: str, *, samples: int = 12, seed: int = 42) -> list[Task]:
    """The tasks of a cell."""
    return tasks_of(cell(scenario, strategy, samples=samples, seed=seed), None)


def turns(task: Task) -> list[tuple[str, str]]:
    """The messages of a prompt, and the beginning of the reply."""
    prompt = task.prompt()
    return [*((each.role, each.content) for each in prompt.messages), ("prefill", prompt.prefill)]


def answered(scenario: Any, script: dict[str, str], strategy: str = "zero_shot", *, default: str = "") -> Outcome:
    """The outcome of a cell whose replies are scripted: what follows the cue."""
    replies = {key: f"A:{reply}" for key, reply in script.items()}
    return evaluate(cell(scenario, strategy), Engine(ScriptedBackend(replies, default=f"A:{default}")))
