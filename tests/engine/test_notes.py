"""Notes of a backend about its model: warnings of llama.cpp, a missing template, layers without a GPU."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import gguf
import pytest

from pytest_puma.core import Model, ModelOptions
from pytest_puma.engine.native import NativeBackend, offloads
from pytest_puma.engine.native.binding import captured_warnings, on_log
from tests.tiny_gguf import LLAMA_BOS, Shape
from tests.tiny_vocabulary import END_OF_TURN, vocabulary

ID = vocabulary()[0].index(END_OF_TURN)


def notes(path: Path, options: ModelOptions | None = None) -> tuple[str, ...]:
    with closing(NativeBackend(Model(name="tiny", path=path, options=options or ModelOptions()), threads=1)) as backend:
        return tuple(backend.notes)


def test_a_sound_model_has_no_notes(model_file: Callable[[Shape], Path]) -> None:
    assert notes(model_file(LLAMA_BOS)) == ()


def test_a_warning_of_llama_cpp_is_a_note_of_this_model_alone(
    model_file: Callable[[Shape], Path], tmp_path: Path
) -> None:
    path = tmp_path / "odd.gguf"
    shutil.copy(model_file(LLAMA_BOS), path)
    reader = gguf.GGUFReader(path, "r+")
    kinds = reader.fields["tokenizer.ggml.token_type"]
    kinds.parts[kinds.data[ID]][0] = gguf.TokenType.NORMAL
    reader.data.flush()
    (note,) = notes(path)
    assert note.startswith(f"llama.cpp warns: load: control-looking token: {ID} '{END_OF_TURN}' was not control-type;")
    assert notes(model_file(LLAMA_BOS)) == ()


def test_a_missing_template_is_a_note(model_file: Callable[[Shape], Path]) -> None:
    (note,) = notes(model_file(replace(LLAMA_BOS, chat_template=None)))
    assert note.startswith("the file has no chat template;")


@pytest.mark.skipif(offloads(), reason="there is a GPU here")
def test_layers_for_a_missing_gpu_are_a_note(model_file: Callable[[Shape], Path]) -> None:
    (note,) = notes(model_file(LLAMA_BOS), ModelOptions(gpu_layers=20))
    assert note.startswith("gpu_layers=20 has no effect: this llama.cpp is built without a GPU, or finds none;")
    assert notes(model_file(LLAMA_BOS), ModelOptions(gpu_layers=0)) == ()


def test_many_warnings_are_cut_and_each_is_shown_once() -> None:
    with captured_warnings() as sentences:
        for number in [*range(7), *range(7)]:
            on_log(3, f"odd  tensor {number}\n".encode())
        on_log(2, b"only information")
    assert sentences == [
        *(f"llama.cpp warns: odd tensor {number}" for number in range(5)),
        "llama.cpp: 2 more warnings",
    ]
