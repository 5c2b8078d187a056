"""Files that crash llama.cpp or keep it busy for ever, found by tests/fuzz: an error, and this process goes on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import llama_cpp
import pytest

from pytest_puma.core import EngineError, Model
from pytest_puma.engine.native import smoke_test
from pytest_puma.engine.native.build import build_id
from pytest_puma.models.resolve import inspect_model
from pytest_puma.models.weights import recall, stamps_of
from tests.fuzz.gguf_parts import FLOAT32, TEXT, UINT32, Pair, Parts, array, elements, number, take_apart
from tests.tiny_gguf import LFM2, MAMBA, MIXTRAL, QWEN2, Shape


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def a_token_twice(parts: Parts) -> None:
    pair = parts.pair("tokenizer.ggml.tokens")
    tokens = elements(pair.value)[1]
    pair.value = array(TEXT, [*tokens[:-1], tokens[0]])


def byte_pairs_as_sentence_pieces(parts: Parts) -> None:
    parts.pair("tokenizer.ggml.model").set(TEXT, "llama")


def a_negative_epsilon(parts: Parts) -> None:
    parts.pair("qwen2.attention.layer_norm_rms_epsilon").set(FLOAT32, -1.0)


def an_odd_rotation(parts: Parts) -> None:
    parts.pairs.append(Pair(b"lfm2.rope.dimension_count", UINT32, number(UINT32, (1 << 32) - 1)))


def no_rotation(parts: Parts) -> None:
    parts.pairs.append(Pair(b"lfm2.rope.dimension_count", UINT32, number(UINT32, 0)))


def whole_numbers_as_weights(parts: Parts) -> None:
    next(tensor for tensor in parts.tensors if tensor.name == b"blk.1.ffn_up.weight").kind = 26


def no_heads(parts: Parts) -> None:
    parts.pair("general.architecture").set(TEXT, "olmo2")
    for pair in parts.pairs:
        pair.key = pair.key.replace(b"mamba.", b"olmo2.")


def more_experts_used_than_there_are(parts: Parts) -> None:
    parts.pair("llama.expert_used_count").set(UINT32, 5)


CRASHES: list[tuple[Shape, Callable[[Parts], None], str]] = [
    (QWEN2, a_token_twice, r"SIGABRT: llama-vocab\.cpp:\d+: GGML_ASSERT\(.*\) failed"),
    (QWEN2, byte_pairs_as_sentence_pieces, r"SIGABRT: .*::at"),
    (QWEN2, a_negative_epsilon, r"SIGABRT: ops\.cpp:\d+: GGML_ASSERT\(eps >= 0\.0f\) failed"),
    (LFM2, an_odd_rotation, r"SIGABRT: ops\.cpp:\d+: GGML_ASSERT\(n_dims % 2 == 0\) failed"),
    (QWEN2, whole_numbers_as_weights, "SIGSEGV"),
    (MAMBA, no_heads, "SIGFPE"),
    (MIXTRAL, more_experts_used_than_there_are, r"SIGABRT: llama-model\.cpp:\d+: GGML_ASSERT\(.*\) failed"),
]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems report other signals")
@pytest.mark.parametrize(("shape", "damage", "reason"), CRASHES, ids=[damage.__name__ for _, damage, _ in CRASHES])
def test_a_file_that_crashes_llama_cpp_is_an_error(
    model_file: Callable[[Shape], Path], tmp_path: Path, shape: Shape, damage: Callable[[Parts], None], reason: str
) -> None:
    parts = take_apart(model_file(shape).read_bytes())
    damage(parts)
    path = tmp_path / "q.gguf"
    path.write_bytes(parts.content())
    inspect_model(path)
    expected = (
        rf"^q: llama\.cpp ended its process \({reason}\) when it used {path}; expected a model "
        "that it can use: download or convert the file again, or try another version of llama-cpp-python than 0"
    )
    with pytest.raises(EngineError, match=expected):
        smoke_test(Model(name="q", path=path))
    assert recall(path, stamps_of(path), "tried") is None


def test_a_usable_file_is_tried_once_for_each_build_of_llama_cpp(
    model_file: Callable[[Shape], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = model_file(QWEN2)
    smoke_test(Model(name="q", path=path))
    assert recall(path, stamps_of(path), "tried") == build_id()
    monkeypatch.setattr(sys, "executable", "/no/python")
    smoke_test(Model(name="q", path=path))
    monkeypatch.setattr(llama_cpp, "__version__", "0.3.99")
    with pytest.raises(FileNotFoundError):
        smoke_test(Model(name="q", path=path))


def test_a_file_that_takes_too_long_is_an_error(model_file: Callable[[Shape], Path]) -> None:
    with pytest.raises(EngineError, match=r"^q: llama\.cpp did not decode two tokens within 0\.01 s when it used /"):
        smoke_test(Model(name="q", path=model_file(QWEN2)), seconds=0.01)


def test_a_file_on_which_llama_cpp_never_ends_is_an_error(model_file: Callable[[Shape], Path], tmp_path: Path) -> None:
    parts = take_apart(model_file(LFM2).read_bytes())
    no_rotation(parts)
    path = tmp_path / "q.gguf"
    path.write_bytes(parts.content())
    with pytest.raises(EngineError, match=r"^q: llama\.cpp did not decode two tokens within 3 s when it used /"):
        smoke_test(Model(name="q", path=path), seconds=3)


def test_a_file_that_llama_cpp_refuses_is_left_to_the_backend(tmp_path: Path) -> None:
    path = tmp_path / "q.gguf"
    path.write_bytes(b"no model")
    smoke_test(Model(name="q", path=path))
    # It crashed nothing, and the backend reports the reason.
    assert recall(path, stamps_of(path), "tried") == build_id()
