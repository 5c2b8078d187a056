"""Fakes for tests: a backend with scripted answers, to test scenarios without a GGUF file.

    engine = Engine(ScriptedBackend({"login crashes": "Critical"}, default="Minor"))
    cell = Cell(scenario=TriageJiraScenario(), strategy=parse_strategy("zero_shot"), model=model)
    outcome = evaluate(cell, engine)

It replaces llama.cpp alone: the scheduler, sampling and everything above are real.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_puma.core import EngineError, Model, Outcome, Prompt, Step
from pytest_puma.core.backend import AnyText, Thoughts
from pytest_puma.core.variant import Variant, varied
from pytest_puma.engine.chat import as_text
from pytest_puma.engine.engine import Engine
from pytest_puma.evaluation import evaluate as evaluation
from pytest_puma.evaluation.cell import Cell
from pytest_puma.planning.registry import Registry
from pytest_puma.planning.scores import own_scores
from pytest_puma.strategies import parse_strategy

if TYPE_CHECKING:
    from pytest_puma.core.backend import Grammar, Logits

__all__ = ["Cell", "Engine", "Model", "ScriptedBackend", "evaluate", "parse_strategy"]

#: A function from the text of the prompt to the answer, or a table.
Script: TypeAlias = Mapping[str, str] | Callable[[str], str]
_END = 256
_VOCABULARY = 257
#: Bytes before each turn of a chat and before its text; without chat, the latter alone.
_TURN, _TEXT = "\x02", "\x03"
_ASSISTANT = f"\n{_TURN}assistant"


def evaluate(cell: Cell, engine: Engine, *, project: Path | None = None) -> Outcome:
    """Run a cell to its outcome, with the metrics that its scenario lists as `scores`.

    `project` is the folder that holds `prompts/`. Errors are those of a run: a `SettingsError` for an unknown metric.
    """
    scores = cell.scores or own_scores(cell.scenario, Registry())
    return evaluation.evaluate(replace(cell, scores=scores), engine, project=project)


class ScriptedBackend:
    """A model with bytes as tokens and with scripted answers.

    `script` is a function from the text of the prompt to the answer, or a table: the answer of the first key that the
    last message of the prompt contains, else `default`. An answer begins with the prefill of its prompt. Its next byte
    has the logit `confidence`, all others 0, so that scoring prefers the scripted answer. Answers are kept in the
    response store only under a `digest`, which stands for the weights. `variants`: the scripts of variants of the model
    by their names, where these differ.
    """

    def __init__(
        self,
        script: Script,
        *,
        default: str = "",
        confidence: float = 50.0,
        context_limit: int = 1_000_000,
        parallel: int = 16,
        digest: str = "",
        variants: Mapping[str, Script] | None = None,
    ) -> None:
        self._plain = self._script = script
        self._variants = variants or {}
        self._default = default
        self._confidence = confidence
        self._tokens: dict[int, bytearray] = {}
        self._answers: dict[bytes, bytes] = {}
        self.context_limit = context_limit
        self.kv_slots: int | None = None
        self.good_kv_slots = context_limit
        self.stream_kv_slots = 0
        self.batch = 8192
        self.parallel = self.parallel_streams = parallel
        self.encoders = 1
        self.copied = 0
        self.sequences = parallel + 48
        self.rows = self.sequences
        self.ends_of_turn: Sequence[int] = (_END,)
        self.signature: Mapping[str, str] = {"backend": "scripted", **({"weights_sha256": digest} if digest else {})}
        self.stops: Sequence[str] = ()
        self.notes: Sequence[str] = ()

    def encode(self, prompt: Prompt, continuation: str = "", *, answer: bool = False) -> list[int]:  # noqa: ARG002 - no thoughts
        """Return the bytes of the chat, or of the plain text."""
        if prompt.chat:
            messages = [f"\n{_TURN}{message.role}{_TEXT}{message.content}" for message in prompt.messages]
        else:
            messages = [f"{_TEXT}{as_text(message)}" for message in prompt.messages]
        head = "".join(messages) + (_ASSISTANT if prompt.chat else "")
        return list(_bytes(f"{head}{_TEXT}{prompt.prefill}{continuation}"))

    def tokens(self, text: str) -> list[int]:
        """Return the bytes of the text."""
        return list(_bytes(text))

    def thoughts(self, prompt: Prompt) -> Thoughts:  # noqa: ARG002 - as in any chat
        """Return no marks: a script writes its thoughts as it likes."""
        return Thoughts()

    def is_end(self, token: int) -> bool:
        """Whether the token ends a generation."""
        return token == _END

    def piece(self, token: int) -> bytes:
        """Return the byte of the token."""
        return b"" if token == _END else bytes([token])

    def vary(self, variant: Variant | None) -> None:
        """Answer by the script of a variant."""
        self._script = self._plain if variant is None else self._variants.get(variant.name, self._plain)
        self.signature = varied(self.signature, variant)

    def open(self, kv_slots: int, streams: int = 0) -> None:  # noqa: ARG002 - any number of slots
        """Forget all sequences and answers."""
        self._tokens, self._answers = {}, {}

    def decode(self, steps: Sequence[Step]) -> Logits:
        """Append the tokens; each requested row of logits prefers the next byte of the script."""
        rows: list[int] = []
        for step in steps:
            tokens = self._tokens.setdefault(step.sequence, bytearray())
            if step.start != len(tokens):
                msg = f"sequence {step.sequence}: found tokens from position {step.start}; expected {len(tokens)}"
                raise EngineError(msg)
            tokens += bytes(list(step.tokens))
            first = step.start + step.rows_from
            rows.extend(self._next(tokens[: position + 1]) for position in range(first, len(tokens)))
        logits = np.zeros((len(rows), _VOCABULARY), dtype=np.float32)
        logits[np.arange(len(rows)), rows] = self._confidence
        return logits

    def fork(self, source: int, target: int) -> None:
        """Copy a sequence."""
        self._tokens[target] = bytearray(self._tokens[source])

    def drop(self, sequence: int) -> None:
        """Forget a sequence."""
        self._tokens.pop(sequence, None)

    def grammar(self, text: str) -> Grammar:  # noqa: ARG002 - of any text
        """Return a grammar that allows everything: the script decides, also what a grammar forbids."""
        return AnyText(_VOCABULARY)

    def close(self) -> None:
        """Forget everything."""
        self._tokens, self._answers = {}, {}

    def _next(self, tokens: bytearray) -> int:
        prompt, _, reply = tokens.rpartition(_TEXT.encode())
        answer = self._answer(bytes(prompt))
        return answer[len(reply)] if answer.startswith(reply) and len(reply) < len(answer) else _END

    def _answer(self, prompt: bytes) -> bytes:
        if prompt not in self._answers:
            text = prompt.decode().removesuffix(_ASSISTANT)
            if callable(self._script):
                answer = self._script(text if _TURN in text else text.replace(_TEXT, ""))
            else:
                last = text.rpartition(_TEXT)[2]
                answer = next((reply for key, reply in self._script.items() if key in last), self._default)
            self._answers[prompt] = _bytes(answer)
        return self._answers[prompt]


def _bytes(text: str) -> bytes:
    """The text in UTF-8, with `?` for half a surrogate pair, as llama.cpp gets it."""
    return text.encode(errors="replace")
