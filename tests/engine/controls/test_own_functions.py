"""Functions of one's own that change hidden states of the bundled model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_puma import hook
from pytest_puma.core import EngineError, Step
from pytest_puma.engine.hook import Rows, States
from pytest_puma.engine.native import NativeBackend
from pytest_puma.engine.transforms import ablation
from pytest_puma.models.control_vector import ControlVector
from tests.engine.controls.test_variants import TOKENS, control, logits, opened, variant
from tests.tiny_gguf import MAMBA, write_gguf


def test_a_function_computes_what_a_hook_of_the_package_does(backend: NativeBackend, vector: Path) -> None:
    row = ControlVector.load(vector).rows(3)[0].astype(np.float64)
    take_out = ablation((row / np.linalg.norm(row)).astype(np.float32), 1.0)
    plain = logits(backend, None)
    ready = logits(backend, variant(control("ablate", vector, layers=(1, 1))))
    own = logits(backend, variant(hook(lambda states, _where: take_out(states), version="1", layers=1)))
    assert np.array_equal(own, ready)
    assert not np.array_equal(own, plain)
    assert np.array_equal(logits(backend, None), plain)


def test_a_function_may_change_the_states_in_place(backend: NativeBackend) -> None:
    def halve(states: States, _where: Rows) -> States:
        states *= 0.5
        return states

    def halved(states: States, _where: Rows) -> States:
        return states * 0.5

    first, second = (logits(backend, variant(hook(it, version="1", layers=(1, 2)))) for it in (halve, halved))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, logits(backend, None))


def test_a_function_knows_the_tokens_of_its_rows(backend: NativeBackend) -> None:
    seen: list[Rows] = []

    def look(states: States, where: Rows) -> States:
        seen.append(where)
        return states

    backend.vary(variant(hook(look, version="1", layers=1, scope="reply"), hook(look, version="2", layers=1)))
    backend.open(1024)
    backend.decode([Step(0, 0, TOKENS[:6], 5, prompt=4), Step(3, 0, TOKENS[:2], 1, prompt=2)])
    reply, everything = seen
    assert reply.position.tolist() == [4, 5]
    assert everything.sequence.tolist() == [0] * 6 + [3] * 2
    assert np.flatnonzero(everything.last).tolist() == [3, 7]


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (lambda states, _: states[:-1], r"float32 of the shape \(39, 192\)"),
        (lambda states, _: states[:, :7], r"float32 of the shape \(40, 7\)"),
        (lambda states, _: states.astype(np.float64), r"float64 of the shape \(40, 192\)"),
        (lambda states, _: states * np.float32("nan"), "a value that is not a finite number"),
        (lambda states, _: states / np.float32(0), "a value that is not a finite number"),
        (lambda _states, _: None, "NoneType"),
        (lambda states, _: states.tolist(), "list"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_another_result_than_states_is_an_error(
    backend: NativeBackend, function: Callable[..., Any], found: str
) -> None:
    with pytest.raises(
        EngineError, match=rf"'mine' returned {found} for l_out-1; expected finite .* float32 of the shape \(40, 192\)"
    ):
        logits(backend, variant(hook(function, version="1", layers=1, name="mine")))
    assert logits(backend, None).any()


def test_a_node_that_does_not_exist_is_an_error(backend: NativeBackend) -> None:
    own = hook(lambda states, _: states, version="1", layers=2, node="gate")
    with pytest.raises(EngineError, match=r"q: llama\.cpp computes no gate-2 for this architecture; .*kqv_out-2"):
        logits(backend, variant(own))


def test_recurrent_layers_have_no_rows_for_a_function(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf", MAMBA)
    with closing(opened(path=path)) as backend, pytest.raises(EngineError, match="no function of one's own for this"):
        logits(backend, variant(hook(lambda states, _: states, version="1", layers=1)))
