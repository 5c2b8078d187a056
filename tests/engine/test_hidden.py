"""Hidden states of the bundled model, and vectors made of pairs of texts."""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import llama_cpp
import numpy as np
import pytest

from pytest_puma.core import Control, EngineError, Message, Model, Prompt, SettingsError, Step, Variant
from pytest_puma.engine.native import NativeBackend
from pytest_puma.engine.native.hidden import HiddenStates
from pytest_puma.engine.native.made_vector import made_vector
from pytest_puma.models.control_vector import ControlVector
from pytest_puma.models.pairs import default_layers
from pytest_puma.models.weights import weights_digest
from pytest_puma.platform.bundled import bundled_folder

PATH = bundled_folder("models") / "puma-tiny.gguf"
TOKENS = tuple(range(300, 340))
TEXTS = ["The login fails.", "A page is slow.", "The colour is wrong.", "Nobody can pay."]


@pytest.fixture
def backend() -> Iterator[NativeBackend]:
    with closing(NativeBackend(Model(name="q", path=PATH), threads=1, digest="5a")) as backend:
        yield backend


@pytest.fixture
def states(backend: NativeBackend) -> Iterator[HiddenStates]:
    with closing(backend.hidden_states()) as states:
        yield states


@pytest.fixture
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pairs of capitals, and a cache of their own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "loud.jsonl"
    path.write_text("".join(json.dumps({"positive": text.upper(), "negative": text}) + "\n" for text in TEXTS))
    return path


def test_each_layer_but_the_last_has_a_row_for_each_token(states: HiddenStates) -> None:
    read = states.of(TOKENS)
    last = max(read)
    assert sorted(read) == list(range(last + 1))
    assert {rows.shape[0] for rows in read.values()} == {len(TOKENS)}
    assert all(np.isfinite(rows).all() and rows.any() for rows in read.values())
    assert not np.array_equal(read[0], read[last])


def test_the_state_of_a_token_depends_on_those_before_it_alone(states: HiddenStates) -> None:
    whole, beginning = states.of(TOKENS), states.of(TOKENS[:7])
    for layer, rows in beginning.items():
        assert np.allclose(whole[layer][:7], rows, atol=1e-4)
    other = states.of((*TOKENS[:6], 500))
    assert np.allclose(other[1][:6], beginning[1][:6], atol=1e-4)
    assert not np.allclose(other[1][6], beginning[1][6], atol=1e-2)


def test_a_vector_is_added_to_the_states_that_are_read_of_its_layer(states: HiddenStates) -> None:
    plain = states.of(TOKENS)
    rows = np.random.default_rng(0).normal(size=(len(plain), plain[0].shape[1])).astype(np.float32)
    numbers = rows.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
    # The first row is of layer 1.
    llama_cpp.llama_set_adapter_cvec(states._context, numbers, rows.size, rows.shape[1], 1, 1)  # noqa: SLF001
    steered = states.of(TOKENS)
    assert np.array_equal(steered[0], plain[0])
    assert np.allclose(steered[1] - plain[1], rows[0], atol=1e-4)


def test_a_text_that_is_too_long_is_refused(states: HiddenStates) -> None:
    with pytest.raises(EngineError, match="a text has 2049 tokens; expected at most 2048"):
        states.of([300] * 2049)


def _made(pairs: Path, backend: NativeBackend, *, weights: str = "5a") -> Path:
    return made_vector(pairs, backend, weights=weights, chat=False)


def test_a_direction_is_the_mean_difference_of_the_sides(
    pairs: Path, backend: NativeBackend, states: HiddenStates
) -> None:
    vector = ControlVector.load(_made(pairs, backend))
    prompt = Prompt(messages=(Message(role="user", content="Say something."),), chat=False)
    start = len(backend.encode(prompt, answer=True))
    differences = []
    for text in TEXTS:
        loud, quiet = (states.of(backend.encode(prompt, side))[1] for side in (text.upper(), text))
        differences.append(loud[start + 1 :].mean(axis=0) - quiet[start + 1 :].mean(axis=0))
    assert np.allclose(vector.directions[1], np.mean(differences, axis=0), atol=1e-4)
    assert 0 not in vector.directions


def test_of_a_reply_of_one_token_the_direction_is_that_of_the_token(
    pairs: Path, backend: NativeBackend, states: HiddenStates
) -> None:
    pairs.write_text((json.dumps({"positive": "X", "negative": "y"}) + "\n") * 4)
    prompt = Prompt(messages=(Message(role="user", content="Say something."),), chat=False)
    big, small = (states.of(backend.encode(prompt, side))[1][-1] for side in ("X", "y"))
    assert np.allclose(ControlVector.load(_made(pairs, backend)).directions[1], big - small, atol=1e-4)


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ([("YES", "yes"), ("NO", "no"), ("yes", "YES"), ("no", "NO")], "layer 1: the pairs cancel each other: a "),
        ([("A", "b")] * 4 + [("word " * 3000, "b")], "line 5: a prompt with its reply has 3"),
    ],
)
def test_pairs_without_a_direction_and_too_long_ones_are_refused_by_their_place(
    pairs: Path, backend: NativeBackend, texts: list[tuple[str, str]], sentence: str
) -> None:
    pairs.write_text("".join(json.dumps({"positive": one, "negative": other}) + "\n" for one, other in texts))
    with pytest.raises(SettingsError, match=re.escape(f"{pairs}, {sentence}")):
        _made(pairs, backend)
    assert not [*pairs.parent.rglob("*.gguf")]


def test_a_vector_is_made_once_for_the_same_pairs_and_weights(pairs: Path, backend: NativeBackend) -> None:
    first = _made(pairs, backend)
    stamp = first.stat().st_mtime_ns
    assert _made(pairs, backend) == first
    assert first.stat().st_mtime_ns == stamp
    assert _made(pairs, backend, weights="6b") != first
    pairs.write_text(pairs.read_text() + '{"positive": "YES", "negative": "yes"}\n')
    assert _made(pairs, backend) != first


def test_pairs_steer_the_layer_at_a_third_of_the_depth(pairs: Path, backend: NativeBackend) -> None:
    def logits(path: Path, layers: tuple[int, int] | None) -> list[float]:
        control = Control(kind="steer", name="loud", path=path, sha256=weights_digest(path), layers=layers)
        backend.vary(Variant(controls=(control,)))
        backend.open(256)
        row: list[float] = backend.decode([Step(0, 0, TOKENS, len(TOKENS) - 1)])[0].tolist()
        return row

    layers = default_layers(max(ControlVector.load(_made(pairs, backend)).layers) + 2)
    file = backend.vector_of(pairs)
    assert logits(pairs, None) == logits(file, layers)
    backend.vary(None)
    backend.open(256)
    assert backend.decode([Step(0, 0, TOKENS, len(TOKENS) - 1)])[0].tolist() != logits(pairs, None)
