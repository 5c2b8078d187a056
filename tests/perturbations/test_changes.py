"""Changed texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.perturbations import ALL, Change, edits, parse_perturbation, wording

#: All characters of Unicode, and words of real reports.
texts = st.one_of(
    st.text(alphabet=st.characters(), max_size=80),
    st.lists(st.sampled_from(["The", "server", "crashes", "often.", "I", "cannot", "log", "in!", "\n", "  "])).map(
        " ".join
    ),
)
words = st.lists(st.text("abcdefghij", min_size=1, max_size=9), min_size=1, max_size=40)
shares = st.integers(1, 100).map(lambda percent: percent / 100)

REPORT = "The server crashes when two users log in. Nobody can work then! We restart it every morning.\n\nPlease help."
LONG = " ".join(["several", "hundred", "characters", "belong", "together"] * 60)


def changed(text: str, change: Change, seed: int = 1) -> str:
    return change(text, Random(seed))  # noqa: S311 - no secret


def _change(name: str) -> Change:
    change = parse_perturbation(name).change
    assert change is not None
    return change


CHANGES = {name: _change(name) for name in ALL if name != "label_order"}


@pytest.mark.parametrize("name", CHANGES)
@given(text=texts, seed=st.integers(0, 1000))
def test_the_change_of_any_text_depends_on_its_random_generator_alone(name: str, text: str, seed: int) -> None:
    assert changed(text, CHANGES[name], seed) == changed(text, CHANGES[name], seed)


@pytest.mark.parametrize("name", CHANGES)
def test_a_report_becomes_another_text(name: str) -> None:
    assert changed(REPORT, CHANGES[name]) != REPORT


@pytest.mark.parametrize("change", [edits.typos, edits.editor, edits.permute, edits.replace, edits.delete])
@given(text=texts, rate=shares, seed=st.integers(0, 100))
def test_the_text_between_edited_words_stays(change: Callable[..., str], text: str, rate: float, seed: int) -> None:
    edited = changed(text, partial(change, rate=rate), seed)
    assert re.split(r"[^\W\d_]+", edited) == re.split(r"[^\W\d_]+", text)


@pytest.mark.parametrize("change", [edits.permute, edits.replace, edits.delete])
@given(seed=st.integers(0, 100))
def test_edits_inside_words_do_not_change_short_words(change: Callable[..., str], seed: int) -> None:
    assert changed("a to by I", partial(change, rate=1.0), seed) == "a to by I"


@given(words, shares, st.integers(0, 100))
def test_permuted_words_keep_their_characters(text: list[str], rate: float, seed: int) -> None:
    permuted = changed(" ".join(text), partial(edits.permute, rate=rate), seed).split(" ")
    assert [sorted(word) for word in permuted] == [sorted(word) for word in text]
    assert [word[0] for word in permuted] == [word[0] for word in text]


@pytest.mark.parametrize("percent", [5, 10, 30])
def test_the_share_of_characters_that_are_edited_is_that_of_the_name(percent: int) -> None:
    inner = sum(len(word) - 2 for word in LONG.split())
    edited = sum(
        now != then
        for seed in range(20)
        for now, then in zip(changed(LONG, partial(edits.replace, rate=percent / 100), seed), LONG, strict=True)
    )
    assert edited / (20 * inner) == pytest.approx(percent / 100, rel=0.1)
    lost = [len(LONG) - len(changed(LONG, partial(edits.delete, rate=percent / 100), seed)) for seed in range(20)]
    assert sum(lost) / (20 * inner) == pytest.approx(percent / 100, rel=0.1)


@pytest.mark.parametrize("change", [edits.typos, edits.editor])
def test_typing_errors_change_about_their_share_of_the_words(change: Callable[..., str]) -> None:
    touched = [
        now != then
        for seed in range(20)
        for now, then in zip(changed(LONG, partial(change, rate=0.05), seed).split(), LONG.split(), strict=True)
    ]
    # One in three words of seven characters has an error.
    assert sum(touched) / len(touched) == pytest.approx(1 - 0.95**7, rel=0.15)


def test_a_typo_uses_a_neighbouring_key() -> None:
    letters = {changed("S", partial(edits.typos, rate=1.0), seed) for seed in range(200)}
    assert letters == {*"WEADZX", "S", "SS"}


def test_characters_that_are_not_on_the_keyboard_are_no_error() -> None:
    assert {changed("ñ", partial(edits.typos, rate=1.0), seed) for seed in range(50)} == {"ñ", "ññ"}


def test_case_changes_nothing_but_the_case() -> None:
    assert changed(REPORT, edits.upper) == REPORT.upper()
    assert changed(REPORT, edits.lower) == REPORT.lower()
    assert changed(REPORT, edits.random_case).lower() == REPORT.lower()
    capitals = sum(letter.isupper() for letter in changed(LONG, edits.random_case))
    assert capitals / sum(map(str.isalpha, LONG)) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("rate", "cut", "hollow"),
    [
        (0.5, "one  two\nthree", "one  two six"),
        (0.2, "one  two\nthree four five", "one  two\nthree five six"),
        (1.0, "one", "one"),
        (0.01, "one  two\nthree four five six", "one  two\nthree four five six"),
    ],
)
def test_words_are_removed_and_the_space_between_the_others_stays(rate: float, cut: str, hollow: str) -> None:
    text = "one  two\nthree four five six"
    assert changed(text, partial(edits.truncate, rate=rate)) == cut
    assert changed(text, partial(edits.truncate_middle, rate=rate)) == hollow


@pytest.mark.parametrize("change", [edits.truncate, edits.truncate_middle])
@given(text=words, rate=shares)
def test_a_truncated_text_has_its_share_of_words_and_at_least_one(
    change: Callable[..., str], text: list[str], rate: float
) -> None:
    rest = changed(" ".join(text), partial(change, rate=rate)).split()
    assert len(rest) == max(1, len(text) - int(len(text) * rate))
    assert rest[0] == text[0]


@given(texts, st.integers(0, 100))
def test_noise_is_added_in_separate_lines_and_no_text_is_lost(text: str, seed: int) -> None:
    noisy = changed(text, wording.tech_noise, seed)
    rest = iter(noisy)
    assert all(letter in rest for letter in text)
    assert "\n" in noisy[len(text.rstrip("\n")) :] or len(noisy) > len(text)


def test_noise_is_between_sentences() -> None:
    text = "It fails. It fails again. It fails."
    noisy = {changed(text, wording.tech_noise, seed) for seed in range(50)}
    assert any(re.fullmatch(r"It fails\.\n.+\n? It fails again\. It fails\.\n.+", each) for each in noisy)


@given(st.integers(0, 500))
def test_a_man_and_a_woman_report_in_the_same_words(seed: int) -> None:
    his, hers = changed(REPORT, wording.man, seed), changed(REPORT, wording.woman, seed)
    assert his.endswith(f" {REPORT}")
    assert hers.endswith(f" {REPORT}")
    pairs = list(zip(re.findall(r"\w+", his), re.findall(r"\w+", hers), strict=True))
    differing = {(one.lower(), other.lower()) for one, other in pairs if one != other}
    names = {(man.lower(), woman.lower()) for man, woman in wording.NAMES}
    assert len(differing & names) == 1
    assert differing - names <= {("he", "she"), ("his", "her"), ("himself", "herself")}
    assert differing - names


def test_an_informal_text_has_contractions_and_sentences_in_lower_case() -> None:
    text = changed("I cannot log in because the database is not there. The application is down.", wording.informal, 3)
    assert "can't log in cuz the db isn't there." in text
    assert "the app is down." in text
    assert not re.search(r"(\A|\. )[A-Z]", text)


def test_a_long_s_is_no_error() -> None:
    assert changed("The me\u017f\u017fage", wording.informal, 1).endswith("me\u017f\u017fage")


def test_an_acronym_at_the_start_keeps_its_capitals() -> None:
    assert "GPU hangs" in changed("GPU hangs", wording.informal)
