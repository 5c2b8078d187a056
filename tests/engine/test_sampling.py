from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_puma.core import EngineError
from pytest_puma.engine.sampling import best_token, choose, log_probabilities, softmax

#: Samples at evenly spaced points of [0, 1): a token of probability p occurs p * GRID times, plus or minus one.
GRID = 400
OFF: dict[str, Any] = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}


def draw(logits: Sequence[float], at: float = 0.5, mask: Sequence[bool] | None = None, **changed: float) -> int:
    """The token that `choose` returns if its random generator returns `at`."""
    random = cast("np.random.Generator", SimpleNamespace(random=lambda: at))
    allowed = None if mask is None else np.array(mask)
    return choose(np.array(logits, np.float32), **(OFF | changed), random=random, mask=allowed)


def counts(logits: Sequence[float], **changed: Any) -> list[float]:
    """The number of times that each token is sampled, of GRID."""
    tokens = [draw(logits, (point + 0.5) / GRID, **changed) for point in range(GRID)]
    return [tokens.count(token) for token in range(len(logits))]


def plain(logits: Sequence[float], *, temperature: float, top_k: int, top_p: float, min_p: float) -> list[float]:
    """The same distribution, filter by filter over a sorted list, as llama.cpp's samplers are documented."""
    order = sorted(range(len(logits)), key=lambda token: (-logits[token], token))[: top_k or None]
    weights = [math.exp(logits[token] - logits[order[0]]) for token in order]
    passed: list[int] = []
    for place, token in enumerate(order):
        if top_p < 1 and sum(weights[:place]) / sum(weights) >= top_p:
            break
        if weights[place] >= min_p * weights[0]:
            passed.append(token)
    scaled = {token: math.exp((logits[token] - logits[order[0]]) / temperature) for token in passed}
    return [scaled.get(token, 0.0) / sum(scaled.values()) for token in range(len(logits))]


@settings(max_examples=60, deadline=None)
@given(
    logits=st.lists(st.integers(-160, 160).map(lambda quarters: quarters / 4), min_size=1, max_size=12),
    temperature=st.sampled_from([0.2, 0.7, 1.0, 1.5, 20.0]),
    top_k=st.integers(0, 14),
    top_p=st.sampled_from([0.03, 0.41, 0.77, 0.95, 1.0]),
    min_p=st.sampled_from([0.0, 0.051, 0.37, 1.0]),
)
def test_each_token_is_sampled_as_often_as_with_plain_filters(logits: list[float], **filters: Any) -> None:
    expected = plain(logits, **filters)
    assert counts(logits, **filters) == pytest.approx([GRID * mass for mass in expected], abs=1.001)


def test_a_disabled_filter_cuts_nothing_at_any_temperature() -> None:
    assert counts([0.0, 60.0], temperature=60.0) == pytest.approx([GRID * 0.2689, GRID * 0.7311], abs=1.001)


def test_a_large_vocabulary_is_sampled_like_a_small_one() -> None:
    logits = np.full(3000, -np.inf)
    logits[[3, 700, 701, 2999]] = np.log([1, 2, 3, 4])
    expected = dict.fromkeys(range(3000), 0.0) | {3: 0.1, 700: 0.2, 701: 0.3, 2999: 0.4}
    assert counts(logits.tolist()) == pytest.approx([GRID * mass for mass in expected.values()], abs=1.001)
    assert {draw(logits.tolist(), at) for at in (1 - 2**-53, 1.0)} == {2999}
    assert draw(logits.tolist(), 0.0) == 3


def test_top_k_acts_before_top_p() -> None:
    # Of the two best, each has half of the mass: top_p 0.5 keeps one. Of all five it would keep three.
    assert counts([1.0, 1.0, 1.0, 1.0, 1.0], top_k=2, top_p=0.5) == [GRID, 0, 0, 0, 0]
    assert counts([1.0, 1.0, 1.0, 1.0, 1.0], top_p=0.5) == pytest.approx([GRID / 3] * 3 + [0, 0], abs=1.001)


def test_temperature_acts_after_the_filters() -> None:
    # At temperature 1 the second token has 1/(1+e) = 0.27 of the mass, at 100 nearly half.
    assert counts([1.0, 0.0], top_p=0.7, temperature=100.0) == [GRID, 0]
    assert counts([1.0, 0.0], min_p=0.4, temperature=100.0) == [GRID, 0]


def test_of_equal_logits_the_lowest_ids_are_kept() -> None:
    assert counts([0.0, 3.0, 3.0, 3.0], top_k=2) == [0, GRID / 2, GRID / 2, 0]


@pytest.mark.parametrize(("logits", "best"), [([0.0, 2.0, 1.0], 1), ([1.0, 5.0, 5.0], 1), ([-3.0], 0)])
def test_temperature_zero_takes_the_best_token_and_the_first_of_a_tie(logits: list[float], best: int) -> None:
    assert draw(logits, 0.999, temperature=0.0) == best


@pytest.mark.parametrize("temperature", [0.0, 1e-4])
def test_greedy_or_nearly_so_obeys_the_mask(temperature: float) -> None:
    assert draw([9.0, 2.0, 1.0], mask=[False, True, True], temperature=temperature) == 1


def test_masked_tokens_are_never_sampled_and_do_not_count_in_top_k() -> None:
    assert counts([9.0, 2.0, 2.0, 1.0], mask=[False, True, True, True], top_k=2) == [0, GRID / 2, GRID / 2, 0]


@pytest.mark.parametrize("at", [0.0, 1 - 2**-53])
def test_the_ends_of_the_unit_interval_give_a_token_that_passes_the_filter(at: float) -> None:
    assert draw([0.0, 1.0, 2.0], at, top_k=2) in (1, 2)


def test_a_token_is_sampled_from_its_lower_bound_on() -> None:
    assert [draw([0.0, 0.0], at) for at in (0.0, 0.25, 0.5, 0.75)] == [0, 0, 1, 1]


def test_equal_seeds_give_equal_tokens_and_other_seeds_others() -> None:
    logits = np.zeros(50, np.float32)

    def text(seed: int) -> list[int]:
        random = np.random.default_rng(seed)
        return [choose(logits, **OFF, random=random) for _ in range(20)]

    assert text(1) == text(1) != text(2)


@given(st.lists(st.floats(-500, 500, width=32), min_size=1, max_size=30))
def test_log_probabilities_are_those_of_the_full_softmax(logits: list[float]) -> None:
    top = max(logits)
    total = top + math.log(math.fsum(math.exp(logit - top) for logit in logits))
    expected = [logit - total for logit in logits]
    computed = log_probabilities(np.array(logits, np.float32), list(range(len(logits))))
    assert computed.tolist() == pytest.approx(expected, abs=1e-7)


def test_softmax_survives_logits_that_overflow_an_exponential() -> None:
    assert softmax(np.array([1e4, 1e4, -1e4])).tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("changed", [{"temperature": 0.0}, {}, {"top_k": 2}, {"top_p": 0.5}], ids=str)
def test_a_logit_that_is_not_a_number_is_an_error(wrong: float, changed: dict[str, Any]) -> None:
    others = [wrong, wrong] if wrong == -math.inf else [0.5, 1.0]
    with pytest.raises(
        EngineError, match=f"^the model computed {wrong} in place of a logit; expected finite numbers: "
    ):
        draw([*others, wrong], **changed)


def test_tokens_that_are_impossible_are_no_error() -> None:
    assert best_token(np.array([-math.inf, 1.0, 1.0], np.float32)) == 1
