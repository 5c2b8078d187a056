"""The tokens that a control changes: of which sequence and of which part of its request each row of a batch is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_puma.core import Control, EngineError, Score, Step
from pytest_puma.core.variant import ControlKind, Scope
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.hook import Hook, Rows, States
from pytest_puma.engine.native import NativeBackend
from tests.engine.ask import generate, issues
from tests.engine.cache import NOISE as BATCH_NOISE
from tests.engine.conftest import OpenBackend
from tests.engine.controls.test_variants import TOKENS, control, logits, variant
from tests.tiny_controls import write_vector
from tests.tiny_gguf import GEMMA3_SWA, LFM2, LLAMA_BOS, Shape

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits

#: What adding in another order may move a logit by, where a control moves them by 1 and more.
NOISE = 1e-3


def scoped(vector: Path, scope: Scope, kind: ControlKind = "steer") -> Control:
    return replace(control(kind, vector, 2.0), scope=scope)


def test_rows_know_their_sequence_and_their_part_of_the_request() -> None:
    rows = Rows.of([Step(3, 4, [7, 7, 7], 1, 6), Step(5, 0, [7, 7], 2), Step(0, 9, [7], 0, 9)])
    assert rows.sequence.tolist() == [3, 3, 3, 5, 5, 0]
    assert rows.position.tolist() == [4, 5, 6, 0, 1, 9]
    assert rows.reply.tolist() == [False, False, True, False, False, True]
    assert rows.last.tolist() == [False, True, False, False, False, False]
    assert rows.wanted.tolist() == [False, True, True, False, False, True]
    assert rows[rows.reply].position.tolist() == [6, 9]
    assert len(Rows.of([])) == 0


def test_a_vector_that_a_hook_adds_is_that_of_llama_cpp(backend: NativeBackend, vector: Path) -> None:
    """All tokens here are those of a prompt, so that the scope leaves none out."""
    added = logits(backend, variant(control("steer", vector, 2.0)))
    assert np.abs(logits(backend, variant(scoped(vector, "prompt"))) - added).max() < NOISE
    assert np.array_equal(logits(backend, variant(scoped(vector, "reply"))), logits(backend, None))


@pytest.mark.parametrize(("scope", "first"), [("prompt", 0), ("last", 29), ("reply", 30)])
def test_logits_change_from_the_first_token_of_the_scope_on(
    backend: NativeBackend, vector: Path, scope: Scope, first: int
) -> None:
    def decoded(chosen: Control | None) -> Logits:
        backend.vary(variant(chosen) if chosen else None)
        backend.open(1024)
        return backend.decode([Step(0, 0, TOKENS, 0, 30)]).copy()

    changed = np.abs(decoded(scoped(vector, scope)) - decoded(None)).max(axis=1) > NOISE
    assert changed.tolist() == [position >= first for position in range(len(TOKENS))]


@pytest.mark.parametrize("scope", ["prompt", "last", "reply"])
def test_a_text_in_parts_is_changed_as_at_once(backend: NativeBackend, vector: Path, scope: Scope) -> None:
    """Steering once differed between a whole text and its tokens one by one, in public tools."""

    def decoded(*cuts: int) -> Logits:
        backend.vary(variant(scoped(vector, scope)))
        backend.open(1024)
        parts = [
            backend.decode([Step(0, start, TOKENS[start:end], 0, 30)]).copy()
            for start, end in pairwise([0, *cuts, len(TOKENS)])
        ]
        return np.concatenate(parts)

    assert np.abs(decoded(*range(25, 40)) - decoded()).max() < BATCH_NOISE


@pytest.mark.parametrize("scope", ["all", "prompt", "last", "reply"])
def test_a_batch_that_llama_cpp_divides_is_changed_like_its_parts(
    backend: NativeBackend, vector: Path, scope: Scope
) -> None:
    """It computes 512 tokens at once; the last layer has no rows at all where no token needs logits."""
    text = TOKENS * 20

    def decoded(length: int) -> Logits:
        backend.vary(variant(scoped(vector, scope, "ablate")))
        backend.open(1024)
        steps = [
            Step(0, start, text[start : start + length], max(0, min(length, 780 - start)), 700)
            for start in range(0, len(text), length)
        ]
        return np.concatenate([backend.decode([step]).copy() for step in steps])

    assert np.abs(decoded(800) - decoded(100)).max() < BATCH_NOISE


@pytest.mark.parametrize("shape", [LLAMA_BOS, GEMMA3_SWA], ids=lambda shape: shape.arch)
@pytest.mark.parametrize("scope", ["prompt", "last", "reply"])
def test_each_sequence_of_a_batch_has_its_own_scope(
    shape: Shape, scope: Scope, open_backend: OpenBackend, tmp_path: Path
) -> None:
    backend = open_backend(shape)
    vector = write_vector(tmp_path / "v.gguf", (1,), width=shape.width)
    steps = [Step(number, 0, range(5, 12 + 3 * number), 5, 6 + 2 * number) for number in range(4)]

    def decoded(*together: Step) -> Logits:
        backend.vary(variant(scoped(vector, scope)))
        backend.open(1024)
        return NativeBackend.decode(backend, together).copy()

    alone = np.concatenate([decoded(step) for step in steps])
    assert np.abs(decoded(*steps) - alone).max() < BATCH_NOISE
    assert np.abs(decoded(*(replace(step, prompt=99) for step in steps)) - alone).max() > 5 * BATCH_NOISE


@pytest.mark.parametrize("streams", [0, 4])
def test_tokens_of_streams_keep_the_order_of_the_batch(backend: NativeBackend, vector: Path, streams: int) -> None:
    seen: list[tuple[States, Rows]] = []

    def see(states: States, rows: Rows) -> States:
        seen.append((states.copy(), rows))
        return states

    logits(backend, variant(scoped(vector, "reply")), streams=streams)
    backend.open(1024, streams)
    assert backend.hooks is not None
    backend.hooks.put_on(backend._context, [Hook(0, "l_out", see)])  # noqa: SLF001
    for sequence in range(4):
        backend.decode([Step(sequence, 0, TOKENS[: 9 + sequence], 8 + sequence)])
    del seen[:]
    backend.decode([Step(sequence, 9 + sequence, [301 + sequence], 0, 5) for sequence in range(4)])
    together = np.concatenate([states for states, _ in seen])
    assert np.concatenate([rows.sequence for _, rows in seen]).tolist() == [0, 1, 2, 3]
    for sequence in range(4):
        backend.open(1024, streams)
        backend.hooks.put_on(backend._context, [Hook(0, "l_out", see)])  # noqa: SLF001
        backend.decode([Step(0, 0, TOKENS[: 9 + sequence], 8 + sequence)])
        del seen[:]
        backend.decode([Step(0, 9 + sequence, [301 + sequence], 0, 5)])
        assert np.abs(seen[0][0] - together[sequence]).max() < BATCH_NOISE


def test_the_engine_says_where_a_reply_begins(open_backend: OpenBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    backend, steps = open_backend(LLAMA_BOS), list[Step]()

    def record(planned: Sequence[Step]) -> Logits:
        steps.extend(planned)
        return decode(planned)

    decode = backend.decode
    monkeypatch.setattr(backend, "decode", record)
    prompts = issues(6)
    continuations = ("Major issue", "Trivial, and late")
    Engine(backend).run(
        [*map(generate, prompts), *(Score(prompt=each, continuations=continuations) for each in prompts)]
    )
    lengths = {len(backend.encode(each, answer=True)) for each in prompts}
    shared = [step for step in steps if step.prompt is None]
    assert shared
    assert all(step.rows_from == len(step.tokens) for step in shared)
    assert {step.prompt for step in steps if step.prompt is not None} <= lengths
    rows = Rows.of([step for step in steps if step.prompt is not None])
    assert rows.last.sum() == 2 * len(prompts)
    # Logits are needed behind the last token of a prompt, and behind each token of a reply.
    assert np.array_equal(rows.wanted, rows.last | rows.reply)


def test_a_scope_needs_attention_alone(open_backend: OpenBackend, tmp_path: Path) -> None:
    backend = open_backend(LFM2)
    backend.vary(variant(scoped(write_vector(tmp_path / "v.gguf", (1,), width=LFM2.width), "reply")))
    with pytest.raises(EngineError, match=r"in an order of its own; expected no scope=reply for this architecture"):
        backend.open(256)
