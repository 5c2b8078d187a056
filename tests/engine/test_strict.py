"""Strict mode: an answer is equal to the last bit, with any other requests and any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pytest_puma.core import Model, ModelOptions, Request, Response, SettingsError
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend
from tests.engine.ask import INSTRUCTIONS, generate, issues, prompt, score, timeless
from tests.tiny_gguf import Shape

#: More than one pass through the graph, and so many KV slots that flash attention on a CPU changes the result.
LONG = prompt("The server crashes when the user saves a file. " * 150, system=INSTRUCTIONS)


def requests() -> list[Request]:
    """Greedy, sampled and scored, short and long, after the same instructions."""
    questions = issues(6)
    return [
        *(generate(each, 8, logprobs=True) for each in questions[:3]),
        generate(questions[3], 8, temperature=1.0, seed=3, logprobs=True),
        score(questions[4], "Critical", "Major", "13"),
        generate(LONG, 8, logprobs=True),
    ]


@pytest.fixture
def answers(model_file: Callable[[Shape], Path], shape: Shape) -> Callable[[Sequence[Request], int], list[Response]]:
    """The responses of a strict engine with a number of threads, on each architecture."""

    def run(requests: Sequence[Request], threads: int) -> list[Response]:
        model = Model(name="tiny", path=model_file(shape), options=ModelOptions(strict=True))
        engine = Engine(NativeBackend(model, threads=threads))
        try:
            return timeless(engine.run(requests))
        finally:
            engine.close()

    return run


def test_other_requests_change_no_bit(answers: Callable[[Sequence[Request], int], list[Response]]) -> None:
    together = answers(requests(), 1)
    assert [answers([each], 1)[0] for each in requests()] == together
    assert answers(requests()[::-1], 1)[::-1] == together


def test_the_number_of_threads_changes_no_bit(answers: Callable[[Sequence[Request], int], list[Response]]) -> None:
    assert answers(requests(), 2) == answers(requests(), 1)


def test_strict_and_several_at_once_exclude_each_other() -> None:
    with pytest.raises(SettingsError, match="parallel is 8 where strict asks for one request at a time"):
        ModelOptions(strict=True, parallel=8)
