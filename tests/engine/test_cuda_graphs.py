"""CUDA graphs of llama.cpp are off before a model computes: replayed, they can end the process on an NVIDIA GPU."""

from __future__ import annotations

import ctypes

import pytest

from tests.engine.conftest import OpenBackend
from tests.tiny_gguf import LLAMA_BOS

NAME = "GGML_CUDA_DISABLE_GRAPHS"
_READ = ctypes.CDLL(None).getenv
_READ.restype = ctypes.c_char_p


@pytest.mark.parametrize(("user", "read"), [(None, b"1"), ("yes", b"yes")])
def test_llama_cpp_reads_that_cuda_graphs_are_off(
    user: str | None, read: bytes, open_backend: OpenBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    if user is None:
        monkeypatch.delenv(NAME, raising=False)
    else:
        monkeypatch.setenv(NAME, user)
    open_backend(LLAMA_BOS)
    assert _READ(NAME.encode()) == read
