import gc
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import warm
from tests.tiny_gguf import LLAMA_NO_BOS, write_gguf

#: For the runs that tests start: they take a fifth less time without plugins that only the tests need. On one thread,
#: those of real models take a tenth less: the workers of the tests already fill the cores.
ADDOPTS = "-p no:hypothesispytest -p no:anyio -o puma_threads=1"

# Tests say what is right, not how soon: machines are shared. Half of the usual examples: each run has others.
settings.register_profile("untimed", deadline=None, max_examples=50)
settings.load_profile("untimed")

# Tests compare numbers that a processor computes alike in any batch; a GPU does not. Name one here to see by how much.
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

# The runs that tests start are no workers, also if the tests run in one.
os.environ.pop("PYTEST_XDIST_WORKER", None)

# A job in the background of a script, or under nohup, ignores Ctrl-C or a closed terminal, and so do the runs that it
# starts; tests send both signals.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Digests and downloads of tests stay out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _warm() -> Iterator[None]:
    """Runs start with their imports done."""
    warm.install()
    yield
    warm.uninstall()


@pytest.fixture(scope="session", autouse=True)
def _frozen() -> None:
    """Loaded objects stay. Each run inside this process looks for garbage twice, and this takes half of its time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs start as a user's do: for tests of what a start imports, or of what differs from start to start."""
    monkeypatch.setattr(subprocess, "Popen", warm.COLD)


@pytest.fixture(scope="session")
def gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real model with random weights: it answers anything, but every number about it is computed for real."""
    return write_gguf(tmp_path_factory.mktemp("models") / "tiny.gguf", LLAMA_NO_BOS)


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """pytest's own, whose runs load no plugin that only these tests need."""
    monkeypatch.setenv("PYTEST_ADDOPTS", ADDOPTS)
    return pytester
