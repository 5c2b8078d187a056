"""Weights that are not numbers, and a file that changes under llama.cpp: no answer comes from either."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pytest_puma.core import EngineError, Model, ModelError, Request
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend
from pytest_puma.models.weights import stamps_of
from tests.engine.ask import generate, score
from tests.tiny_gguf import QWEN2, Shape


@pytest.fixture
def path(model_file: Callable[[Shape], Path], tmp_path: Path) -> Path:
    """A file that the test may damage."""
    return Path(shutil.copy(model_file(QWEN2), tmp_path / "q.gguf"))


@pytest.fixture
def engine(path: Path) -> Iterator[Engine]:
    model = Model(name="q", path=path, stamps=stamps_of(path))
    with closing(Engine(NativeBackend(model, threads=1))) as opened:
        yield opened


def overwrite_end(path: Path, data: bytes) -> None:
    """Write into the file without replacing it."""
    with path.open("r+b") as file:
        file.seek(-len(data), os.SEEK_END)
        file.write(data)


GENERATED = generate("Which?", 5)
REQUESTS = [
    GENERATED,
    generate("Which?", 5, temperature=0.8),
    generate("Which?", 5, grammar='root ::= "A" | "B"'),
    score("Which?", "A", "B"),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=["greedy", "sampled", "grammar", "scored"])
def test_weights_that_are_not_numbers_are_an_error(path: Path, request_: Request) -> None:
    # The last weights of the file are those of the output matrix.
    overwrite_end(path, b"\xff" * 100_000)
    with (
        closing(Engine(NativeBackend(Model(name="q", path=path), threads=1))) as engine,
        pytest.raises(EngineError, match=r"^the model computed nan in place of a logit; expected finite numbers: "),
    ):
        engine.run([request_])


def test_no_answer_comes_from_a_file_that_was_written_to(engine: Engine, path: Path) -> None:
    engine.run([GENERATED])
    overwrite_end(path, b"\0" * 100_000)
    for _ in range(2):
        with pytest.raises(
            ModelError, match=r"^q: .*q\.gguf changed while llama.cpp used it: found .*; leave it alone "
        ):
            engine.run([GENERATED])
        engine.reset()


@pytest.mark.skipif(os.name == "nt", reason="Windows refuses to shorten a mapped file")
def test_a_file_that_was_shortened_is_an_error_and_not_the_end_of_the_process(engine: Engine, path: Path) -> None:
    engine.run([GENERATED])
    os.truncate(path, 4096)
    with pytest.raises(ModelError, match=r"^q: .*q\.gguf changed while llama.cpp used it: found 4,096 bytes of "):
        engine.run([GENERATED])


@pytest.mark.skipif(os.name == "nt", reason="Windows refuses to delete an open file")
def test_a_file_that_is_deleted_or_replaced_changes_no_answer(engine: Engine, path: Path) -> None:
    (before,) = engine.run([GENERATED])
    other = path.with_name("other")
    other.write_bytes(bytes(path.stat().st_size))
    other.replace(path)
    engine.reset()
    (after,) = engine.run([GENERATED])
    assert (after.text, after.logprobs) == (before.text, before.logprobs)
    path.unlink()
    engine.run([GENERATED])


def test_a_file_that_changed_before_it_is_loaded_is_an_error(path: Path) -> None:
    model = Model(name="q", path=path, stamps=stamps_of(path))
    overwrite_end(path, b"\0")
    with pytest.raises(ModelError, match=r"^q: .*q\.gguf changed since the model was checked: "):
        NativeBackend(model, threads=1)
