from pathlib import Path

import pytest

from tests.tiny_gguf import LLAMA_NO_BOS, write_gguf


@pytest.fixture(scope="session")
def gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real model with random weights: it answers anything, but every number about it is computed for real."""
    return write_gguf(tmp_path_factory.mktemp("models") / "tiny.gguf", LLAMA_NO_BOS)
