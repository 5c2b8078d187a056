"""A model on a GPU: all, some and no layers there, and its numbers beside those of the CPU."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

import llama_cpp
import pytest

from pytest_puma.core import EngineError, Model, Request, Response
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.machine import Gpu
from pytest_puma.engine.native import NativeBackend, binding
from tests.engine.ask import generate, issues, one_at_a_time, prompt, score, timeless
from tests.gpu.conftest import tiny
from tests.tiny_gguf import MIXTRAL, write_gguf

LABELS = ("Critical", "Major", "Minor", "Trivial")
#: More tokens than those from which on llama.cpp computes on a GPU also with weights of the CPU.
LONG = "The server crashes when a user saves a file. " * 30
#: Maximum effect of another device on the log-probability of a label.
ROUNDING = 0.3
_OFFLOADED = re.compile(r"offloaded (\d+)/(\d+) layers to GPU")
_BUFFER = re.compile(r"^\S+: +(\S+) (?:model|KV|compute|output) *buffer size", re.MULTILINE)


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """llama.cpp's log from now on."""
    lines: list[str] = []
    note = llama_cpp.llama_log_callback(lambda _level, text, _data: lines.append(text.decode(errors="replace")))
    monkeypatch.setattr(binding, "_CALLBACK", note)
    yield lines
    monkeypatch.undo()
    binding.prepare()


def answers(model: Model) -> list[Response]:
    """Those to scored and to generated requests, and to a long prompt."""
    scored: list[Request] = [score(text, *LABELS) for text in (*issues(6), prompt(LONG))]
    with closing(Engine(NativeBackend(model, threads=1, digest="5a"))) as engine:
        return timeless(engine.run([*scored, *(generate(issue, 6) for issue in issues(6, seed=1))]))


def largest_gap(some: list[Response], others: list[Response]) -> float:
    """The largest difference of two log-probabilities."""
    pairs = [zip(a.logprobs, b.logprobs, strict=True) for a, b in zip(some, others, strict=True)]
    return max(abs(a - b) for a, b in chain.from_iterable(pairs))


@pytest.mark.parametrize(("requested", "there"), [(-1, -1), (2, 2), ("auto", -1)], ids=["all", "some", "auto"])
def test_as_many_layers_as_requested_are_on_the_gpu(log: list[str], requested: object, there: int) -> None:
    with closing(NativeBackend(tiny(gpu_layers=requested), threads=1, digest="5a")) as backend:
        backend.open(1024)
        text = "".join(log)
        offloaded, of = map(int, next(iter(_OFFLOADED.findall(text))))
        assert offloaded == (of if there < 0 else there)
        assert set(_BUFFER.findall(text)) - {"CPU"}
        assert (backend.signature["gpu"], backend.signature["gpu_layers"]) == ("True", str(there))


def test_without_layers_nothing_is_on_the_gpu(log: list[str], devices: tuple[Gpu, ...]) -> None:
    with closing(NativeBackend(tiny(gpu_layers=0), threads=1, digest="5a")) as backend:
        backend.open(1024)
        kinds = set(_BUFFER.findall("".join(log)))
        assert kinds
        assert all(kind.startswith("CPU") for kind in kinds)
        assert "using device" not in "".join(log)
        signature = backend.signature
    assert (signature["gpu"], signature["gpu_layers"]) == ("False", "0")
    assert signature["devices"] == ", ".join(gpu.name for gpu in devices)


@pytest.mark.parametrize("layers", [-1, 2], ids=["all", "some"])
def test_the_numbers_are_those_of_the_cpu_but_for_rounding(layers: int) -> None:
    assert largest_gap(answers(tiny(gpu_layers=layers)), answers(tiny(gpu_layers=0))) < ROUNDING


def test_two_runs_on_the_same_device_give_the_same_answers() -> None:
    assert answers(tiny()) == answers(tiny())


def test_strict_requests_are_alone_on_a_gpu_too() -> None:
    requests = [score(issue, *LABELS) for issue in issues(4)]
    with closing(NativeBackend(tiny(strict=True), threads=1)) as backend:
        alone = timeless(one_at_a_time(backend, requests))
        assert timeless(Engine(backend).run(requests)) == alone


def test_experts_that_stay_on_the_cpu_change_the_numbers_by_rounding_alone(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "experts.gguf", MIXTRAL)
    on_cpu = answers(tiny(path, gpu_layers=0))
    apart = answers(tiny(path, cpu_moe="all"))
    # Each of its continuations has a log-probability of -30 to -120.
    for some, others in zip(apart, on_cpu, strict=True):
        assert some.logprobs == pytest.approx(others.logprobs, rel=0.05)


def test_a_gpu_that_is_not_there_is_an_error(devices: tuple[Gpu, ...]) -> None:
    with pytest.raises(EngineError, match=rf"puma-tiny: gpu={len(devices)}, and they are counted from 0; found"):
        NativeBackend(tiny(gpu=len(devices)), threads=1)


def test_one_gpu_by_its_number_is_the_one_that_computes(log: list[str]) -> None:
    with closing(NativeBackend(tiny(gpu=0), threads=1, digest="5a")) as backend:
        assert backend.signature["main_gpu"] == "0"
    assert sum("using device" in line for line in log) == 1
