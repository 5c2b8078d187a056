"""Runs over the store of a folder: conversations, and a backend that counts the prompts that it computes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_puma.core import (
    Answer,
    Conversation,
    Generate,
    Message,
    Model,
    ModelOptions,
    Origin,
    Prompt,
    Provenance,
    Request,
    Trial,
    ask,
)
from pytest_puma.evaluation.conversations import run_conversations
from pytest_puma.responses.database import ResponseStore
from pytest_puma.responses.keeping import KeepingResponder, Mode
from pytest_puma.testing import Engine, ScriptedBackend
from tests.factories import sample

CELL, SIGNATURE = "triage-egi@m", {"samples": 3}


class Counting(ScriptedBackend):
    """A script that counts the prompts whose answers are computed."""

    def __init__(self, answers: str = "abc", **options: Any) -> None:
        super().__init__(self._answer_of, digest="5a", **options)
        self.prompts: list[str] = []
        self.opened: list[tuple[int, int]] = []
        self._words = answers

    def _answer_of(self, prompt: str) -> str:
        self.prompts.append(prompt.rpartition("\x03")[2])
        return self._words + self.prompts[-1]

    def open(self, kv_slots: int, streams: int = 0) -> None:
        self.opened.append((kv_slots, streams))
        super().open(kv_slots, streams)


def prompt(text: str) -> Prompt:
    return Prompt(messages=(Message(role="user", content=text),))


def generate(text: str, **fields: Any) -> Generate:
    return Generate(prompt=prompt(text), max_tokens=40, **fields)


def once(request: Request) -> Conversation:
    response = yield from ask(request)
    return Answer(value=response.text, responses=(response,))


def twice(text: str) -> Conversation:
    """The second request depends on the first response."""
    first = yield from ask(generate(text))
    second = yield from ask(generate(first.text))
    return Answer(value=second.text, responses=(first, second))


class Run:
    """One run over the store of a folder."""

    def __init__(
        self, folder: Path, name: str = "r", *, mode: Mode = "mix", strict: bool = False, **backend: Any
    ) -> None:
        self.backend = Counting(**backend)
        self.backend.signature = {**self.backend.signature, "strict": str(strict), "threads": "2"}
        self.store = ResponseStore(folder / "responses.sqlite", run=name, started="now")
        model = Model(name="m", path=folder, options=ModelOptions(strict=strict))
        self.engine = KeepingResponder(Engine(self.backend), self.store, model, mode=mode)

    def run_cell(self, *conversations: Conversation, cell: str = CELL, batches: int = 1) -> list[str | None]:
        """Begin a cell, run its conversations, in one batch or in several, and return the answers."""
        self.engine.begin(cell, SIGNATURE)
        answers: list[str | None] = []
        size = -(-len(conversations) // batches)
        for start in range(0, len(conversations), size):
            part = conversations[start : start + size]
            origins = [Origin(cell, sample(str(start + place)), Trial()) for place in range(len(part))]
            states = run_conversations(part, self.engine, origins=origins)
            answers += [None if state.answer is None else state.answer.value for state in states]
        return answers

    def end(self) -> Provenance:
        provenance = self.engine.provenance()
        self.engine.close()
        return provenance


def ask_texts(folder: Path, texts: Sequence[str], name: str = "r", **options: Any) -> tuple[Run, Provenance]:
    """Run one cell, with a request for each text."""
    run = Run(folder, name, **options)
    run.run_cell(*(once(generate(text)) for text in texts))
    return run, run.end()
