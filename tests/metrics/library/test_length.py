from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import SettingsError
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.metrics.library.length import count_paragraphs, count_sentences, count_words
from tests.factories import prediction, sample

UNITS = ("words", "sentences", "paragraphs")
LENGTHS = ("length.fulfilled", "length.off", "length.bias")
TEXT = {
    "words": lambda number: " ".join(["word"] * number),
    "sentences": lambda number: " ".join(["It rains."] * number),
    "paragraphs": lambda number: "\n\n".join(["It rains. It snows."] * number),
}


def score(name: str, text: str, **context: Any) -> Any:
    return LIBRARY[name].score(sample("q1", context=context), prediction(reply=text, answer="other", raw=("another",)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("...", 0),
        ("one", 1),
        ("one two\nthree", 3),
        ("well-known", 2),
        ("it's", 2),
        ("snake_case x1", 2),
        ("e\u0301te\u0301", 1),
        ("हिन्दी भाषा", 2),
    ],
)
def test_words_are_runs_of_letters_with_their_accents(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", 0),
        ("...", 0),
        ("One. Two? Three", 3),
        ("1. One.\n2. Two.", 2),
        ("  10. One.\n\n 11. Two.", 2),
        ("One.\n\n---\n\nTwo.", 2),
        ("It was 1999. Then came 2000.", 2),
        ("Dr. Lee came.", 1),
        ("One. *", 1),
        ("One. 2", 2),
    ],
)
def test_sentences_have_a_letter_and_numbers_of_lists_are_none(text: str, sentences: int) -> None:
    assert count_sentences(text) == sentences


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [("", 0), ("\n\n", 0), ("one", 1), ("one\ntwo", 1), ("one\n\ntwo", 2), ("\n\none\n \t\n\n\ntwo\n\n", 2)],
)
def test_blank_lines_stand_between_paragraphs(text: str, paragraphs: int) -> None:
    assert count_paragraphs(text) == paragraphs


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    ("limits", "within"),
    [
        ({"at_least": 3}, [False, True, True]),
        ({"less_than": 3}, [True, False, False]),
        ({"target": 3}, [False, True, False]),
        ({"at_least": 2, "less_than": 4}, [True, True, False]),
        ({"at_least": 3, "less_than": 4}, [False, True, False]),
        ({"at_least": 0}, [True, True, True]),
    ],
)
def test_a_number_is_within_all_limits(unit: str, limits: dict[str, int], within: list[bool]) -> None:
    assert [score(unit, TEXT[unit](number), **{unit: limits}) for number in (2, 3, 4)] == within


@pytest.mark.parametrize("unit", UNITS)
def test_an_empty_reply_has_none_of_them(unit: str) -> None:
    assert score(unit, "", **{unit: {"at_least": 1}}) == 0
    assert score(unit, "", **{unit: {"target": 0}}) == 1


@pytest.mark.parametrize("name", [*UNITS, *LENGTHS])
def test_no_request_is_not_scored(name: str) -> None:
    assert score(name, "x", **{name.partition(".")[0]: None}) is None


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "value", [{}, {"more_than": 3}, {"at_least": "3"}, {"at_least": True}, {"at_least": -1}, {"at_least": 1.0}, 3, []]
)
def test_limits_are_whole_numbers_by_their_comparison(unit: str, value: object) -> None:
    with pytest.raises(SettingsError) as caught:
        score(unit, "x", **{unit: value})
    assert str(caught.value) == (
        f"{unit}: the context of sample 'q1' has {value!r} as '{unit}'; expected a dictionary with whole numbers for "
        "any of at_least, less_than, target, or None if it does not apply; return it from the scenario's context(item)"
    )


@pytest.mark.parametrize("name", [*UNITS, *LENGTHS, "length_ratio"])
def test_a_missing_argument_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name}: the context of sample 'q1' has nothing as"):
        score(name, "")


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    ("kind", "fulfilled"), [("target", [0, 1, 1, 1, 0]), ("minimum", [0, 0, 1, 1, 1]), ("maximum", [1, 1, 1, 0, 0])]
)
def test_a_target_may_be_off_by_a_sixth(unit: str, kind: str, fulfilled: list[int]) -> None:
    length = {"unit": unit, "count": 6, "type": kind}
    assert [score("length.fulfilled", TEXT[unit](number), length=length) for number in (4, 5, 6, 7, 8)] == fulfilled


@pytest.mark.parametrize(
    ("tolerance", "fulfilled"), [(0, [0, 1, 0]), (0.1, [1, 1, 1]), (0.05, [0, 1, 0]), (1, [1] * 3)]
)
def test_a_tolerance_of_the_context_replaces_the_sixth(tolerance: float, fulfilled: list[int]) -> None:
    length = {"unit": "words", "count": 10, "type": "target", "tolerance": tolerance}
    texts = [TEXT["words"](number) for number in (9, 10, 11)]
    assert [score("length.fulfilled", text, length=length) for text in texts] == fulfilled


@pytest.mark.parametrize(("words", "bias"), [(0, -1.0), (3, -0.25), (4, 0.0), (5, 0.25), (12, 2.0)])
def test_bias_and_off_are_shares_of_the_requested_length(words: int, bias: float) -> None:
    for kind in ("target", "minimum", "maximum"):
        length = {"unit": "words", "count": 4, "type": kind}
        assert score("length.bias", TEXT["words"](words), length=length) == bias
        assert score("length.off", TEXT["words"](words), length=length) == abs(bias)


@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize(
    "change",
    [
        {"unit": "letters"},
        {"unit": ["words"]},
        {"count": 0},
        {"count": 2.5},
        {"type": "about"},
        {"tolerance": -0.1},
        {"tolerance": "0.1"},
        {"tolerance": True},
        {"tolerance": math.nan},
        {"limit": 3},
    ],
)
def test_an_unusable_length_is_refused(name: str, change: dict[str, Any]) -> None:
    length = {"unit": "words", "count": 4, "type": "target", **change}
    with pytest.raises(SettingsError) as caught:
        score(name, "x", length=length)
    assert str(caught.value) == (
        f"{name}: the context of sample 'q1' has {length!r} as 'length'; expected a dictionary with unit (words, "
        "sentences, paragraphs), count (a whole number from 1), type (target, minimum, maximum), and perhaps "
        "tolerance (a share from 0), or None if it does not apply; return it from the scenario's context(item)"
    )


@pytest.mark.parametrize("missing", ["unit", "count", "type"])
def test_a_length_is_complete(missing: str) -> None:
    length = {"unit": "words", "count": 4, "type": "target"}
    del length[missing]
    with pytest.raises(SettingsError):
        score("length.off", "x", length=length)


@pytest.mark.parametrize(("text", "ratio"), [("", 0), ("ab", 0.5), ("abcd", 1), ("abcdefgh", 2), ("été", 0.75)])
def test_a_ratio_is_of_characters(text: str, ratio: float) -> None:
    assert score("length_ratio", text, original="four") == ratio


def test_a_ratio_needs_a_text_and_does_not_apply_to_an_empty_one() -> None:
    assert score("length_ratio", "x", original="") is None
    with pytest.raises(SettingsError, match=r"has 4 as 'original'; expected the text of the question"):
        score("length_ratio", "x", original=4)


@pytest.mark.parametrize(
    ("words", "rule", "repeats"),
    [
        ("a b a", {"window": 1}, 1),
        ("a b c", {"window": 1}, 0),
        ("a b a b", {"window": 2}, 1),
        ("a b b a", {"window": 2}, 0),
        ("a b a b", {"window": 2, "times": 2}, 0),
        ("a b a b a b", {"window": 2, "times": 2}, 1),
        ("a a", {"window": 3}, 0),
        ("", {"window": 1}, 0),
        ("a a a", {}, 0),
    ],
)
def test_a_run_of_words_may_occur_as_often_as_the_context_allows(
    words: str, rule: dict[str, int], repeats: int
) -> None:
    assert score("repetition", words, repetition=rule) == repeats


def test_by_default_128_words_may_occur_once() -> None:
    assert score("repetition", "a " * 128) == 0
    assert score("repetition", "a " * 129) == 1
    once = " ".join(f"w{number}" for number in range(128))
    assert score("repetition", f"{once} x {once}") == 1
    assert score("repetition", f"{once} {once.removesuffix('w127')}") == 0


@pytest.mark.parametrize("rule", [{"window": 0}, {"times": 0}, {"window": "2"}, {"words": 2}, 2, None])
def test_an_unusable_rule_is_refused(rule: object) -> None:
    with pytest.raises(
        SettingsError, match=r"expected a dictionary with whole numbers from 1 for any of window \(words"
    ):
        score("repetition", "x", repetition=rule)


@given(st.lists(st.sampled_from("ab"), max_size=12), st.integers(1, 4), st.integers(1, 3))
def test_repetition_equals_the_count_of_every_run(words: list[str], window: int, times: int) -> None:
    runs = [words[start : start + window] for start in range(max(0, len(words) - window + 1))]
    expected = any(runs.count(run) > times for run in runs)
    assert score("repetition", " ".join(words), repetition={"window": window, "times": times}) == expected


@pytest.mark.parametrize(
    ("name", "better", "bounds"),
    [
        *((unit, "high", (0.0, 1.0)) for unit in UNITS),
        ("length.fulfilled", "high", (0.0, 1.0)),
        ("length.off", "low", None),
        ("length.bias", "neither", None),
        ("length_ratio", "low", None),
        ("repetition", "low", (0.0, 1.0)),
    ],
)
def test_directions_and_bounds(name: str, better: str, bounds: tuple[float, float] | None) -> None:
    metric = LIBRARY[name]
    assert (metric.better, metric.bounds, metric.extra, metric.pool) == (better, bounds, "", None)
    assert metric.kinds == {"completion"}
