from pathlib import Path

import pytest

from tests.tiny_gguf import LLAMA_NO_BOS, write_gguf


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a model that llama.cpp can load."""
    return write_gguf(tmp_path_factory.mktemp("tiny") / "tiny.gguf", LLAMA_NO_BOS).read_bytes()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current directory, with its own home."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / "cache"))
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here
