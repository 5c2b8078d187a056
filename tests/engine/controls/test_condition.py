"""Conditions of vectors: each sequence decides after its prompt, whatever is computed beside it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pytest_puma.core import Control, EngineError, Model, ModelOptions, Prompt, Response, Score, Step
from pytest_puma.engine.condition import Condition, under
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.hook import Rows, States
from pytest_puma.engine.native import NativeBackend
from pytest_puma.models.control_vector import ControlVector
from tests.engine.ask import generate, issues
from tests.engine.conftest import OpenBackend
from tests.engine.controls.test_variants import PATH, control, logits, variant
from tests.tiny_controls import WIDTH, write_vector
from tests.tiny_gguf import LFM2

#: Of the log-probability of a continuation of several tokens in another batch, where steering moves it by 4 and more.
NOISE = 1.0
CONTINUATIONS = ("Major and late", "Trivial colours")
PROMPTS = issues(8, seed=3)


@pytest.fixture
def vector(tmp_path: Path) -> Path:
    return write_vector(tmp_path / "v.gguf", (2,), size=2.0)


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    return write_vector(tmp_path / "topic.gguf", (1,), seed=7)


def cosine(backend: NativeBackend, topic: Path, prompt: Prompt) -> float:
    """Of the mean state of a prompt, computed without hooks."""
    with closing(backend.hidden_states()) as states:
        mean = states.of(backend.encode(prompt, answer=True))[1].mean(axis=0)
    direction = ControlVector.load(topic).directions[1]
    return float(mean @ direction / np.linalg.norm(mean) / np.linalg.norm(direction))


def median(cosines: list[float]) -> float:
    """A threshold that half of them reach, as far as possible from any."""
    ordered = sorted(cosines)
    return (ordered[3] + ordered[4]) / 2


def conditional(vector: Path, topic: Path, threshold: float) -> tuple[Control, Control]:
    return control("steer", vector, 4.0), control("when", topic, threshold, (1, 1))


def test_a_sequence_decides_by_its_own_prompt_and_keeps_that_in_forks() -> None:
    condition = Condition(1, np.array([2, 0], dtype=np.float32), 0.5)
    states = np.array([[3, 1], [1, 3], [0, 4], [9, 0]], dtype=np.float32)
    rows = Rows.of([Step(0, 0, [5, 6], 2), Step(1, 0, [5], 1, 1), Step(2, 7, [5], 0, 7)])
    assert condition.hook.change(states, rows) is states
    # The reply in sequence 2 is no part of a prompt; sequence 3 goes on with the prompt of 0.
    condition.fork(0, 3)
    condition.hook.change(np.array([[-90, 0]], dtype=np.float32), Rows.of([Step(3, 2, [5], 0, 3)]))
    replies = Rows.of([Step(0, 2, [5], 0, 2), Step(1, 1, [5], 0, 1), Step(3, 3, [5], 0, 3)])
    assert condition.cosine(0) == pytest.approx(4 / np.hypot(4, 4))
    assert condition.holds(replies).tolist() == [True, False, False]
    assert under([condition])(rows[:3]).tolist() == [False, False, False]
    condition.drop(0)
    condition.fork(1, 0)
    assert condition.holds(replies).tolist() == [False, False, False]


def test_several_conditions_must_all_hold() -> None:
    first, second = (Condition(1, np.array(direction, dtype=np.float32), 0.5) for direction in ([1, 0], [0, 1]))
    states = np.array([[1, 1], [1, 0], [0, 1]], dtype=np.float32)
    prompts = Rows.of([Step(sequence, 0, [5], 1, 1) for sequence in range(3)])
    replies = Rows.of([Step(sequence, 1, [5], 0, 1) for sequence in range(3)])
    for condition in (first, second):
        condition.hook.change(states, prompts)
    assert under([first])(replies).tolist() == [True, True, False]
    assert under([second])(replies).tolist() == [True, False, True]
    assert under([first, second])(replies).tolist() == [True, False, False]


def scores(backend: NativeBackend, *controls: Control, together: bool) -> list[Response]:
    """The scores of two continuations behind each prompt, in one batch or one after the other."""
    backend.vary(variant(*controls) if controls else None)
    requests = [Score(prompt=prompt, continuations=CONTINUATIONS) for prompt in PROMPTS]
    batches = [requests] if together else [[request] for request in requests]
    return [response for batch in batches for response in Engine(backend).run(batch)]


def differences(left: list[Response], right: list[Response]) -> list[float]:
    return [max(np.abs(np.subtract(one.logprobs, other.logprobs))) for one, other in zip(left, right, strict=True)]


def test_each_request_of_a_batch_decides_as_it_does_alone(backend: NativeBackend, vector: Path, topic: Path) -> None:
    cosines = [cosine(backend, topic, prompt) for prompt in PROMPTS]
    controls = conditional(vector, topic, median(cosines))
    plain, always = scores(backend, together=True), scores(backend, replace(controls[0], scope="reply"), together=True)
    assert min(differences(plain, always)) > 4 * NOISE
    batch, alone = scores(backend, *controls, together=True), scores(backend, *controls, together=False)
    assert max(differences(batch, alone)) < NOISE
    assert [difference < NOISE for difference in differences(batch, always)] == [
        value >= controls[1].strength for value in cosines
    ]
    assert [difference < NOISE for difference in differences(batch, plain)] == [
        value < controls[1].strength for value in cosines
    ]


def test_a_strict_batch_of_8_answers_to_the_last_bit_as_each_alone(vector: Path, topic: Path) -> None:
    model = Model(name="q", path=PATH, options=ModelOptions(strict=True, gpu_layers=0))
    with closing(NativeBackend(model, threads=1)) as backend:
        threshold = median([cosine(backend, topic, prompt) for prompt in PROMPTS])
        controls = conditional(vector, topic, threshold)
        batch, alone = (scores(backend, *controls, together=together) for together in (True, False))
        assert [response.logprobs for response in batch] == [response.logprobs for response in alone]
        backend.vary(variant(*controls))
        requests = [generate(prompt, 8, logprobs=True) for prompt in PROMPTS]
        texts = [(reply.text, reply.logprobs) for reply in Engine(backend).run(requests)]
        assert texts == [
            (reply.text, reply.logprobs) for request in requests for reply in Engine(backend).run([request])
        ]


def test_a_condition_alone_and_its_removal_change_no_bit(backend: NativeBackend, vector: Path, topic: Path) -> None:
    plain = logits(backend, None)
    controls = conditional(vector, topic, -1.0)
    # All tokens here are those of a prompt, on which a condition has no effect.
    assert np.array_equal(logits(backend, variant(*controls)), plain)
    assert np.array_equal(logits(backend, None), plain)


def test_a_condition_needs_attention_alone(open_backend: OpenBackend, tmp_path: Path) -> None:
    backend = open_backend(LFM2)
    path = write_vector(tmp_path / "v.gguf", (1,), width=LFM2.width)
    backend.vary(variant(*conditional(path, path, 0.0)))
    with pytest.raises(EngineError, match=r"in an order of its own; expected no when= for this architecture"):
        backend.open(256)


def test_states_of_a_condition_are_read_and_stay_the_same() -> None:
    states: States = np.ones((1, WIDTH), dtype=np.float32)
    condition = Condition(1, states[0], 0.0)
    assert condition.hook.change(states, Rows.of([Step(0, 0, [5], 1)])) is states
    assert condition.cosine(0) == pytest.approx(1.0)
