"""Log-likelihoods on real models against the independent loop: chats and plain text, all boundaries, all ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from pytest_puma.core import Message, Model, ModelOptions, Prompt, Response, Score
from pytest_puma.engine.encoding import encoded
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend
from tests.real.conftest import THREADS
from tests.real.formats import joint, written
from tests.real.loop import Likely, Loop
from tests.real.test_engine import MEAN_NOISE, STRICT

#: Questions, cues of their answers, and continuations. The cue of the third one ends inside a word.
CASES = (
    ("Question: Where do fish live?", "Answer:", (" in the water", " at a bank", " trees", " sea")),
    ("Question: Which animal barks?\nA. a cat\nB. a dog\nC. a fish", "Answer:", (" A", " B", " C")),
    ("Question: Which bird cannot fly?", "Answer: a pengu", ("ins of the south", "in", "ant")),
    ("Name a planet.", "", ("The moon is none", "Mars", "Earth")),
)
#: With weights in single precision, the engine differed from `transformers` by .03 at most; with those of four bits
#: both and the loop differ from each other by .2 in the mean and 1.3 at most: kernels round to eight bits between
#: layers, and round otherwise in other batches. A token or row in the wrong place changes several nats.
MAX_NOISE = 1.6
ENDS = pytest.mark.parametrize("ends", [True, False], ids=["with_end", "without_end"])


@pytest.fixture(scope="module", params=["strict-chat", "strict-plain", "batched-chat", "batched-plain"])
def options(request: pytest.FixtureRequest) -> ModelOptions:
    return ModelOptions(strict=request.param.startswith("strict"), chat=request.param.endswith("chat"))


@pytest.fixture(scope="module")
def engine(options: ModelOptions, model: Model) -> Iterator[Engine]:
    opened = Engine(NativeBackend(replace(model, options=options), threads=THREADS))
    yield opened
    opened.close()


def score(question: str, cue: str, texts: tuple[str, ...], *, chat: bool, ends: bool) -> Score:
    prompt = Prompt(messages=(Message(role="user", content=question),), prefill=cue, chat=chat)
    return Score(prompt=prompt, continuations=texts, ends=ends)


@cache
def of_the_loop(loop: Loop, *, chat: bool, ends: bool) -> list[list[Likely]]:
    """The likelihoods of all cases, with the loop's own prompts."""
    tokens = loop.ends(chat=chat) if ends else ()
    return [
        loop.likelihoods(
            written(loop, question, cue, chat=chat),
            [f"{joint(loop, cue, chat=chat)}{text}" for text in texts],
            ends=tokens,
        )
        for question, cue, texts in CASES
    ]


def off(response: Response, expected: Sequence[Likely]) -> list[float]:
    """The differences of all log-probabilities, after the check of what must be equal."""
    assert [each.tokens for each in response.likelihoods] == [each.tokens for each in expected]
    assert [each.end is None for each in response.likelihoods] == [each.end is None for each in expected]
    pairs = list(zip(response.likelihoods, expected, strict=True))
    sums = [one.total + (one.end or 0) for one in response.likelihoods]
    assert response.logprobs == pytest.approx(sums)
    return [
        *(abs(one.total - other.total) for one, other in pairs),
        *(abs((one.end or 0) - (other.end or 0)) for one, other in pairs if other.end is not None),
    ]


@ENDS
def test_likelihoods_are_those_of_the_loop(engine: Engine, options: ModelOptions, loop: Loop, *, ends: bool) -> None:
    chat, strict = options.chat, options.strict
    responses = engine.run([score(*case, chat=chat, ends=ends) for case in CASES])
    expected = of_the_loop(loop, chat=chat, ends=ends)
    noise = np.array([each for pair in zip(responses, expected, strict=True) for each in off(*pair)])
    assert [each[0].merged for each in expected][:3] == [False, False, True]
    assert any(each.tokens > 1 for case in expected for each in case)
    assert noise.max() < MAX_NOISE
    assert noise.mean() < MEAN_NOISE
    # The strict engine computes the last two continuations together, and kernels take four tokens at once.
    assert not strict or np.quantile(noise, 0.7) < STRICT


@ENDS
def test_a_text_has_one_log_probability_wherever_its_prompt_is_cut(
    engine: Engine, options: ModelOptions, loop: Loop, *, ends: bool
) -> None:
    question, word = "Question: Which bird cannot fly?", " pengu"
    cut = score(question, f"Answer:{word}", ("in",), chat=options.chat, ends=ends)
    whole = score(question, "Answer:", (f"{word}in",), chat=options.chat, ends=ends)
    (one,), (other,) = (engine.run([request])[0].likelihoods for request in (cut, whole))
    tokens, of_whole = encoded(engine.backend, cut), encoded(engine.backend, whole)
    assert (tokens.tokens, tokens.tails) == (of_whole.tokens, of_whole.tails)
    assert (one.total, one.end) == pytest.approx((other.total, other.end), abs=STRICT)
    # The end of the word alone, as a text of its own, is another token with another probability.
    alone = of_whole.tails[0][: one.tokens]
    assert list(alone) != loop.tokens("in", bos=False)
