"""Controls of which llama.cpp says nothing, or far too much."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import llama_cpp
import numpy as np
import pytest

import pytest_puma
from pytest_puma.core import EngineError
from pytest_puma.engine.native import NativeBackend, binding
from tests.engine.controls.test_variants import control, logits, variant
from tests.tiny_controls import write_lora, write_vector


def test_an_architecture_that_ignores_vectors_is_an_error(
    backend: NativeBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = logits(backend, None)
    # As where llama.cpp's graph never asks for a vector: success, and no effect.
    monkeypatch.setattr(llama_cpp, "llama_set_adapter_cvec", lambda *_: 0)
    with pytest.raises(
        EngineError, match=r"llama\.cpp ignores control vectors for this architecture; expected one that"
    ):
        logits(backend, variant(control("steer", write_vector(tmp_path / "v.gguf"))))
    assert np.array_equal(logits(backend, None), before)


def test_matrices_that_are_not_repacked_are_one_note_of_their_variant(
    backend: NativeBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (write_lora(tmp_path / f"{name}.gguf") for name in ("a", "b"))
    # In llama.cpp's words; this processor may repack nothing.
    slow = [f"lora for 'blk.{layer}.attn_q.weight' cannot use buft 'CPU_REPACK', fallback to CPU" for layer in range(9)]
    monkeypatch.setattr(binding, "captured_warnings", lambda: nullcontext(slow))
    logits(backend, variant(control("lora", first)))
    assert list(backend.notes) == ["a.gguf: the adapter's matrices are not repacked for this processor"]
    monkeypatch.setattr(binding, "captured_warnings", lambda: nullcontext(["llama.cpp warns: odd"]))
    logits(backend, variant(control("lora", first), control("lora", second)))
    assert list(backend.notes[1:]) == ["llama.cpp warns: odd"]
    logits(backend, None)
    assert not backend.notes


def test_states_are_read_and_written_by_the_callback_alone() -> None:
    """`llama_set_embeddings_layer_inp`, a C++ name, ends the process for some architectures."""
    package = Path(pytest_puma.__file__).parent
    naming = [path.name for path in package.rglob("*.py") if "embeddings_layer_inp" in path.read_text(encoding="utf-8")]
    assert not naming
    assert "cb_eval" in (package / "engine" / "native" / "hidden.py").read_text(encoding="utf-8")
