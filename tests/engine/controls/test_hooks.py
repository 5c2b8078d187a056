"""Hooks on the states of tiny models: what they change, what stays as it was, and which nodes there are."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from pytest_puma.core import EngineError, Step
from pytest_puma.core.variant import ControlKind
from pytest_puma.engine.hook import Hook, Rows, States
from pytest_puma.engine.native import NativeBackend
from pytest_puma.engine.transforms import SCOPES, ablation, addition, hooks_of, rotation
from pytest_puma.models.control_vector import ControlVector
from pytest_puma.models.weights import recall, stamps_of
from tests.engine.conftest import OpenBackend
from tests.engine.controls.test_variants import TOKENS, careful, control, logits, variant
from tests.tiny_controls import write_vector
from tests.tiny_gguf import MAMBA, Shape

#: What adding in another order may move a logit by, where a control moves them by 1 and more.
NOISE = 1e-3


def states_of(backend: NativeBackend, vector: Path, hooks: list[Hook], node: str, layer: int) -> States:
    """The states of a node after these hooks in place of those of a variant, as a last hook sees them."""
    logits(backend, variant(control("ablate", vector)))
    backend.open(1024)
    seen: list[States] = []

    def see(states: States, _rows: Rows) -> States:
        seen.append(states.copy())
        return states

    assert backend.hooks is not None
    backend.hooks.put_on(backend._context, [*hooks, Hook(layer, node, see)])  # noqa: SLF001 - of no use elsewhere
    backend.decode([Step(0, 0, TOKENS, len(TOKENS) - 1)])
    return np.concatenate(seen)


def test_ablated_states_have_nothing_along_the_direction_and_the_rest_as_it_was() -> None:
    states = np.random.default_rng(0).normal(0, 3, (7, 192)).astype(np.float32)
    direction = np.eye(192, dtype=np.float32)[5]
    expected = states.copy()
    expected[:, 5] = 0
    assert np.allclose(ablation(direction, 1.0)(states), expected)
    assert np.allclose(ablation(direction, 0.25)(states)[:, 5], states[:, 5] * 0.75)


@pytest.mark.parametrize("degrees", [0.5, 30.0, -30.0, 170.0])
def test_a_rotation_keeps_norms_and_turns_each_state_by_the_angle_in_its_plane(degrees: float) -> None:
    states = np.random.default_rng(0).normal(0, 3, (7, 192)).astype(np.float32)
    direction = np.eye(192, dtype=np.float32)[5]
    rotated = rotation(direction, degrees)(states)
    norms = np.linalg.norm(states, axis=1)
    assert np.allclose(np.linalg.norm(rotated, axis=1), norms, rtol=1e-5)
    between = np.degrees(np.arccos(np.sum(states * rotated, axis=1) / norms**2))
    assert np.allclose(between, abs(degrees), atol=0.1)
    # Only the component along the direction, and the length of the rest, change.
    others = [np.delete(part, 5, axis=1) for part in (states, rotated)]
    before, after = (np.abs(part / np.linalg.norm(part, axis=1, keepdims=True)) for part in others)
    assert np.allclose(before, after, atol=1e-5)
    angles = [np.degrees(np.arccos(part[:, 5] / norms)) for part in (states, rotated)]
    assert np.allclose(angles[1], np.abs(angles[0] - degrees), atol=0.1)


def test_states_without_a_plane_are_not_rotated() -> None:
    direction = np.eye(192, dtype=np.float32)[5]
    states = np.stack([direction * 3, -direction, direction * 0])
    assert np.array_equal(rotation(direction, 30.0)(states), states)


@pytest.mark.parametrize(("kind", "strength"), [("ablate", 1.0), ("rotate", 20.0), ("heads", 9.0)])
@pytest.mark.parametrize("streams", [0, 4])
def test_without_hooks_the_logits_are_as_before_to_the_last_bit(
    backend: NativeBackend, vector: Path, kind: ControlKind, strength: float, streams: int
) -> None:
    hooked = variant(control(kind, vector, strength))
    plain = logits(backend, None, streams=streams)
    assert backend.hooks is None  # the context has no callback
    changed = logits(backend, hooked, streams=streams)
    assert np.abs(changed - plain).max() > 0.5
    assert np.array_equal(logits(backend, None, streams=streams), plain)
    assert backend.hooks is None
    assert np.array_equal(logits(backend, hooked, streams=streams), changed)


def test_what_a_vector_adds_is_ablated_again(backend: NativeBackend, vector: Path) -> None:
    without = logits(backend, variant(control("ablate", vector, layers=(1, 1))))
    both = variant(control("steer", vector, 2.0, (1, 1)), control("ablate", vector, layers=(1, 1)))
    assert np.abs(logits(backend, both) - without).max() < NOISE


def test_layers_that_are_not_chosen_stay_as_they_are(backend: NativeBackend, vector: Path, tmp_path: Path) -> None:
    ControlVector({2: ControlVector.load(vector).directions[2]}).save(tmp_path / "second.gguf")
    chosen = logits(backend, variant(control("ablate", vector, layers=(2, 2))))
    assert np.array_equal(chosen, logits(backend, variant(control("ablate", tmp_path / "second.gguf"))))


def test_the_last_layer_has_the_states_of_rows_with_logits_alone(backend: NativeBackend, vector: Path) -> None:
    assert len(states_of(backend, vector, [], "l_out", 1)) == len(TOKENS)
    assert len(states_of(backend, vector, [], "l_out", 2)) == 1


def test_a_state_does_not_depend_on_those_beside_it() -> None:
    states = np.random.default_rng(0).normal(0, 3, (64, 576)).astype(np.float32)
    direction = (states[5] / np.linalg.norm(states[5])).astype(np.float32)
    for change in (ablation(direction, 1.0), rotation(direction, 30.0), addition(direction, 4.0)):
        whole = change(states)
        for row in range(len(states)):
            assert np.array_equal(change(states[row : row + 1])[0], whole[row])


def test_hooks_are_called_in_their_order_and_llama_goes_on_with_what_they_return(
    backend: NativeBackend, vector: Path
) -> None:
    plain = states_of(backend, vector, [], "kqv_out", 1)
    hooks = [Hook(1, "kqv_out", lambda states, _rows: states + 1), Hook(1, "kqv_out", lambda states, _rows: states * 2)]
    assert np.array_equal(states_of(backend, vector, hooks, "kqv_out", 1), (plain + 1) * 2)
    after = states_of(backend, vector, hooks, "ffn_out", 1)
    assert np.abs(after - states_of(backend, vector, [], "ffn_out", 1)).max() > 0.1


def test_a_vector_of_heads_is_added_to_their_outputs(backend: NativeBackend, vector: Path) -> None:
    rows = ControlVector.load(vector).rows(3, (1, 1))
    rows[:, 64:] = 0  # the first heads alone
    hooks = hooks_of(control("heads", vector, 2.0), rows, SCOPES["all"])
    plain, changed = (states_of(backend, vector, given, "kqv_out", 1) for given in ([], hooks))
    assert np.array_equal(changed, plain + 2 * rows[0])
    assert np.array_equal(changed[:, 64:], plain[:, 64:])


def test_an_error_inside_a_hook_is_an_error_of_the_decode(backend: NativeBackend, vector: Path) -> None:
    def fail(_states: States, _rows: Rows) -> States:
        raise EngineError("not today")

    with pytest.raises(EngineError, match="not today"):
        states_of(backend, vector, [Hook(1, "l_out", fail)], "l_out", 1)
    assert logits(backend, None).any()


def test_rows_that_are_not_those_of_the_batch_are_an_error(backend: NativeBackend, vector: Path) -> None:
    logits(backend, variant(control("ablate", vector)))
    backend.open(1024)
    assert backend.hooks is not None
    with pytest.raises(EngineError, match=r"q: llama\.cpp computes 40 rows of l_out-1 .*; expected 39, one for each"):
        backend.hooks.decode(backend._context, backend._batch, [Step(0, 0, TOKENS[1:], 0)])  # noqa: SLF001


def test_a_missing_node_is_an_error_that_lists_those_of_its_layer(backend: NativeBackend, vector: Path) -> None:
    with pytest.raises(EngineError, match=r"q: llama\.cpp computes no gate-2 for this architecture; .*kqv_out-2"):
        states_of(backend, vector, [], "gate", 2)


def test_the_nodes_of_hooks_exist(shape: Shape, open_backend: OpenBackend, tmp_path: Path) -> None:
    """Names are llama.cpp's own: a release may change them."""
    backend = open_backend(shape)
    backend.vary(variant(control("ablate", write_vector(tmp_path / "v.gguf", (1,), width=shape.width))))
    backend.open(256)
    assert backend.hooks is not None
    nodes = set(backend.hooks.nodes)
    assert {b"l_out-0", b"l_out-1"} <= nodes
    assert (b"kqv_out-1" in nodes) is (shape != MAMBA)


def test_hooks_are_used_in_a_process_of_their_own_first(vector: Path) -> None:
    with closing(careful()) as backend:
        changed = logits(backend, variant(control("ablate", vector)))
    assert changed.any()
    assert str(recall(vector, stamps_of(vector), "tried")).endswith(" hooked")
