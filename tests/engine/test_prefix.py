"""The first shared prefix of a cell: passes that the cell before has computed are copied, and change no bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from pytest_puma.core import Control, Model, ModelOptions, Request, Response, Variant
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend, prefix
from pytest_puma.engine.native.prefix import LEAST, PASS, pass_ends
from pytest_puma.platform.bundled import bundled_folder
from tests.engine.ask import generate, prompt, score, timeless
from tests.tiny_gguf import GEMMA3_SWA, LFM2, LLAMA_BOS, MAMBA, Shape

#: Two cells whose prefixes are equal up to a place in the third pass, and then go on.
EQUAL = "Severity: Critical, Major, Minor, Trivial or Blocker? The issue is one of these. " * 20
FIRST, SECOND = (EQUAL + end * 6 for end in ("An example: the server crashes. ", "Answer with one word, please. "))
QUANTISED = Variant.of(Control(kind="kv", name="q8_0"))


def cell(system: str, *, tokens: int = 6) -> list[Request]:
    """Answers and scores after one prefix; with many tokens, in streams."""
    questions = [prompt(f"A button has the wrong color {number}", system=system) for number in range(4)]
    answers: list[Request] = [generate(question, tokens, logprobs=True) for question in questions]
    return answers if tokens > 6 else [*answers, score(questions[0], "Critical", "Major", "13")]


@pytest.fixture
def bundled() -> Iterator[NativeBackend]:
    with closing(NativeBackend(Model(name="q", path=bundled_folder("models") / "puma-tiny.gguf"), threads=1)) as opened:
        yield opened


def run(backend: NativeBackend, requests: Sequence[Request]) -> tuple[list[Response], int]:
    """The responses of a cell of its own, and the tokens that it copied."""
    engine, copied = Engine(backend), 0
    tickets = engine.submit_all(requests)
    done: dict[int, Response] = {}
    while not engine.idle:
        done |= engine.step()
        copied += backend.copied
    return timeless([done[ticket] for ticket in tickets]), copied


@pytest.mark.parametrize("tokens", [1, 63, 127, 128, 191, 192, 319, 320, 1000])
def test_each_pass_has_its_fixed_end_and_enough_tokens(tokens: int) -> None:
    ends = pass_ends(tokens)
    assert ends[-1] == tokens
    assert all((end - LEAST) % PASS == 0 for end in ends[:-1])
    assert all(after - before >= LEAST for before, after in pairwise([0, *ends] if tokens >= LEAST else ends))
    assert pass_ends(tokens, LEAST) == [end for end in ends if end > LEAST]


@pytest.mark.parametrize("tokens", [6, 200], ids=["shared cache", "streams"])
def test_a_copied_prefix_changes_no_bit(model_file: Callable[[Shape], Path], shape: Shape, tokens: int) -> None:
    with closing(NativeBackend(Model(name="tiny", path=model_file(shape)), threads=1)) as alone:
        expected, _ = run(alone, cell(SECOND, tokens=tokens))
    with closing(NativeBackend(Model(name="tiny", path=model_file(shape)), threads=1)) as after:
        run(after, cell(FIRST, tokens=tokens))
        found, copied = run(after, cell(SECOND, tokens=tokens))
    assert found == expected
    assert (copied > 0) == (shape not in (MAMBA, LFM2, GEMMA3_SWA) and shape.sliding_window == 0)


@pytest.mark.parametrize("tokens", [6, 200], ids=["shared cache", "streams"])
def test_so_it_is_with_the_bundled_model(bundled: NativeBackend, tokens: int) -> None:
    alone, none = run(bundled, cell(SECOND, tokens=tokens))
    _, some = run(bundled, cell(FIRST, tokens=tokens))
    after, again = run(bundled, cell(SECOND, tokens=tokens))
    assert after == alone
    assert none == 0
    assert some == again >= LEAST + PASS
    _, whole = run(bundled, cell(SECOND, tokens=tokens))
    assert whole > again


def test_a_variant_and_other_streams_copy_nothing(bundled: NativeBackend) -> None:
    run(bundled, cell(SECOND))
    assert run(bundled, cell(SECOND, tokens=200))[1] == 0
    bundled.vary(QUANTISED)
    varied, copied = run(bundled, cell(SECOND, tokens=200))
    assert copied == 0
    again, copied = run(bundled, cell(SECOND, tokens=200))
    assert (again, copied > 0) == (varied, True)
    bundled.vary(None)
    assert run(bundled, cell(SECOND))[1] == 0


def test_strict_copies_nothing(model_file: Callable[[Shape], Path]) -> None:
    model = Model(name="tiny", path=model_file(LLAMA_BOS), options=ModelOptions(strict=True))
    with closing(NativeBackend(model, threads=1)) as strict:
        assert [run(strict, cell(SECOND))[1] for _ in range(2)] == [0, 0]


def test_a_prefix_of_too_many_bytes_is_not_kept(bundled: NativeBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefix, "MOST_BYTES", 1000)
    assert [run(bundled, cell(SECOND))[1] for _ in range(2)] == [0, 0]


def test_usage_is_that_of_the_cell_alone_and_speed_counts_what_was_computed(bundled: NativeBackend) -> None:
    engine = Engine(bundled)
    first = timeless(engine.run(cell(SECOND)))
    computed = engine.speed.prefill_tokens
    engine.reset()
    assert timeless(engine.run(cell(SECOND))) == first
    assert 0 < engine.speed.prefill_tokens < computed
