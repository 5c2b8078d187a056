"""Exceptions from outside, as Ctrl-C or a time limit raises them at any moment: none is lost, none spoils an answer."""

from __future__ import annotations

import gc
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import FrameType

import llama_cpp
import pytest

from pytest_puma.core import Model, Request
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend
from pytest_puma.engine.native.binding import error_log
from tests.engine.ask import generate, issues, score, timeless
from tests.engine.conftest import OpenBackend
from tests.tiny_gguf import LLAMA_NO_BOS, Shape


class LateError(BaseException):
    """The exception of a time limit."""


@pytest.fixture(autouse=True)
def _no_callbacks() -> Iterator[None]:
    """Python drops an exception inside a callback of the garbage collector, and Hypothesis installs such a callback."""
    before = gc.callbacks[:]
    gc.callbacks.clear()
    yield
    gc.callbacks.extend(before)


@pytest.fixture
def _alarm() -> Iterator[None]:
    def late(_number: int, _frame: FrameType | None) -> None:
        raise LateError

    before = signal.signal(signal.SIGALRM, late)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def load(path: Path) -> None:
    """Load a model, open its cache, and close both."""
    backend = NativeBackend(Model(name="tiny", path=path), threads=1)
    try:
        backend.open(4096)
    finally:
        backend.close()


# An interrupt between `open` and `with` leaves a file to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_while_a_model_loads_is_not_lost(
    model_file: Callable[[Shape], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    """llama.cpp logs meanwhile, and an exception inside the function for the log would be dropped."""
    path, random, main = model_file(LLAMA_NO_BOS), Random(1), threading.main_thread().ident or 0  # noqa: S311
    load(path)
    started = time.perf_counter()
    load(path)
    seconds = time.perf_counter() - started
    for _ in range(40):
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - the moment is random
            threading.Timer(random.uniform(0, seconds), signal.pthread_kill, [main, signal.SIGINT]).start()
            load(path)
            time.sleep(60)
    assert "ignored" not in capfd.readouterr().err


@pytest.mark.usefixtures("_alarm")
def test_what_an_exception_interrupts_changes_no_later_answer(open_backend: OpenBackend) -> None:
    engine, random = Engine(open_backend(LLAMA_NO_BOS)), Random(2)  # noqa: S311
    requests: list[Request] = [
        score(each, "A", "13", "AB 8") if number % 3 else generate(each, 8) for number, each in enumerate(issues(12))
    ]
    expected = timeless(engine.run(requests))
    started = time.perf_counter()
    engine.reset()
    engine.run(requests)
    seconds = time.perf_counter() - started
    interrupted = 0
    for _ in range(30):
        engine.reset()
        signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0005, seconds))
        try:
            engine.run(requests)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except LateError:
            interrupted += 1
        engine.reset()
        assert timeless(engine.run(requests)) == expected
    assert interrupted


@pytest.mark.parametrize("gpu", [True, False])
def test_nothing_of_ours_runs_while_a_gpu_decodes(
    open_backend: OpenBackend, monkeypatch: pytest.MonkeyPatch, *, gpu: bool
) -> None:
    """A GPU writes to the log then, and Python would handle a signal inside our function for the log."""
    backend, decode = open_backend(LLAMA_NO_BOS), llama_cpp.llama_decode

    def with_a_log(context: object, batch: object) -> int:
        llama_cpp.llama_model_load_from_file(b"missing.gguf", llama_cpp.llama_model_default_params())
        return int(decode(context, batch))

    error_log()
    monkeypatch.setattr(llama_cpp, "llama_decode", with_a_log)
    monkeypatch.setattr(backend, "_on_gpu", gpu)
    Engine(backend).run([generate(each, 2) for each in issues(1)])
    assert ("missing.gguf" in error_log()) != gpu
    assert not llama_cpp.llama_model_load_from_file(b"other.gguf", llama_cpp.llama_model_default_params())
    assert "other.gguf" in error_log()
