"""The sets that generators make, and what their texts hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from tests.small_sets.rows import SETS, Rows, occurs, text_of
from tools.data import arithmetic_word, common_words, needle
from tools.data.phrases import NAMES, PHRASES
from tools.data.rows import json_lines


def test_a_solution_is_right_in_each_step_and_ends_in_the_answer() -> None:
    for row in (*SETS["arithmetic_word"], *SETS["arithmetic_word_dev"]):
        *lines, last = row["answer"].split("\n")
        steps = [re.fullmatch(r"[A-Z][^\d]+ (\d+) ([-+*/]) (\d+) = (\d+)\.", line) for line in lines]
        assert len(steps) == row["steps"]
        numbers = {int(number) for number in re.findall(r"\d+", row["question"])}
        for step in steps:
            assert step is not None, lines
            left, right, result = (Fraction(step[place]) for place in (1, 3, 4))
            assert {"+": left + right, "-": left - right, "*": left * right, "/": left / right}[step[2]] == result
            assert {left, right} <= numbers, row
            numbers.add(int(result))
        assert steps[-1] is not None
        assert last == f"#### {steps[-1][4]}"
        assert steps[-1][4] not in re.findall(r"\d+", row["question"])


def test_no_two_problems_differ_only_in_the_name() -> None:
    problems = [arithmetic_word.without_name(row["question"]) for row in SETS["arithmetic_word"]]
    problems += [arithmetic_word.without_name(row["question"]) for row in SETS["arithmetic_word_dev"]]
    assert len(set(problems)) == len(problems)
    assert not [problem for problem in problems if occurs("Mona", problem) or occurs("Alma", problem)]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("arithmetic_word", arithmetic_word.rows()),
        ("arithmetic_word_dev", arithmetic_word.rows(dev=True)),
        ("needle", needle.rows()),
        ("needle_dev", needle.rows(needle.DEV_WORDS, seed=needle.DEV_SEED, dev=True)),
        ("common_words", common_words.rows()),
        ("common_words_dev", common_words.rows(common_words.DEV_WORDS, seed=common_words.DEV_SEED, dev=True)),
    ],
)
def test_a_generated_set_is_what_its_generator_makes(name: str, rows: Iterator[dict[str, Any]]) -> None:
    assert text_of(name) == json_lines(rows)


@pytest.mark.parametrize("rows", [SETS["needle"], list(needle.rows(words=(30, 3000), languages=("de", "it"), seed=7))])
def test_a_text_holds_exactly_the_numbers_that_are_asked_for(rows: Rows) -> None:
    for row in rows:
        phrases = PHRASES[row["language"]]
        (wanted,) = (name for name in NAMES if occurs(name, row["question"]))
        pattern = re.escape(phrases.needle).replace(r"\{name\}", r"(\w+)").replace(r"\{number\}", r"(\d+)")
        needles = re.findall(pattern, row["text"])
        assert ([number for name, number in needles if name == wanted] or [phrases.none]) == row["answer"]
        assert len(row["answer"]) == {"single": 1, "multiple": 2, "none": 1}[row["kind"]]
        assert len({number for _, number in needles}) == len(re.findall(r"\d+", row["text"])) == 4
        longest = max(len(sentence.split()) for sentence in phrases.filler)
        assert row["words"] <= len(row["text"].split()) < max(row["words"], 32) + longest


def test_other_seeds_and_kinds_give_other_texts() -> None:
    seen = [needle.row("en", 100, kind, seed)["text"] for kind in needle.KINDS for seed in (1, 2)]
    seen += [common_words.row("en", 100, number, seed)["text"] for number in (1, 2) for seed in (1, 2)]
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("rows", [SETS["common_words"], list(common_words.rows(words=(8, 5000), languages=("fr",)))])
def test_three_words_occur_more_often_than_all_others(rows: Rows) -> None:
    for row in rows:
        counts = Counter(row["text"].split(", "))
        assert sum(counts.values()) == row["words"]
        *common, (_, most) = counts.most_common(4)
        assert sorted(word for word, _ in common) == row["answer"]
        assert min(times for _, times in common) > most
        assert not [word for word in row["answer"] if occurs(word, row["question"])]


def test_phrases_of_all_languages_are_complete() -> None:
    assert list(PHRASES) == ["en", "de", "es", "fr", "it"]
    for phrases in PHRASES.values():
        assert len(set(phrases.filler)) == 12
        assert not [sentence for sentence in phrases.filler if re.search(r"\d", sentence)]
        assert len(set(phrases.words)) == len(phrases.words) >= 39
