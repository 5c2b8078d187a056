"""Requests of a benchmark about the rows of a file: each prompt, the continuations that are scored, and the gold."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_puma.core import Exchange, Model, ModelOptions, Prompt, Score
from pytest_puma.engine.chat import as_text
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.tasks import tasks_of
from pytest_puma.scenarios.composed import ComposedScenario
from pytest_puma.strategies import parse_strategy


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRequests:
    """The first requests about a sample."""

    prompts: tuple[str, ...]
    continuations: tuple[str, ...]
    golds: tuple[str, ...]

    @property
    def text(self) -> str:
        """The only prompt."""
        (prompt,) = self.prompts
        return prompt


def sample_requests(
    scenario: ComposedScenario, strategy: str = "zero_shot", *, chat: bool = True, samples: int = 9
) -> list[SampleRequests]:
    """The first requests about each sample, in the order of the file."""
    options = ModelOptions(chat=chat)
    model = Model(name="m", path=Path("m.gguf"), options=options)
    cell = Cell(scenario=scenario, strategy=parse_strategy(strategy), model=model, samples=samples)
    tasks = sorted(tasks_of(cell, None), key=lambda task: int(task.sample.row.split()[-1]))
    result = []
    for task in tasks:
        requests = Exchange(cell.strategy.converse(task)).advance()
        scored = [each for request in requests if isinstance(request, Score) for each in request.continuations]
        prompts = dict.fromkeys(_shown(request.prompt) for request in requests)
        result.append(SampleRequests(prompts=tuple(prompts), continuations=tuple(scored), golds=task.sample.references))
    return result


def json_lines(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """Write rows as JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def _shown(prompt: Prompt) -> str:
    """A chat as `user: ...` lines with the beginning of the reply; plain text as the model gets it."""
    if not prompt.chat:
        return f"{''.join(map(as_text, prompt.messages))}{prompt.prefill}"
    turns: Sequence[str] = [f"{message.role}: {message.content}" for message in prompt.messages]
    return "\n".join([*turns, f"assistant: {prompt.prefill}"]).rstrip(" ")
