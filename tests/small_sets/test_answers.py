"""One right answer a row, not told by its place, its length or the words of its question."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from tests.small_sets.rows import CHOICES, SETS, occurs, words


@pytest.mark.parametrize("name", [*CHOICES, *(f"{name}_dev" for name in CHOICES)])
def test_the_answer_is_one_of_different_choices_and_not_in_the_question(name: str) -> None:
    count = CHOICES[name.removesuffix("_dev")]
    for row in SETS[name]:
        assert len({choice.casefold() for choice in row["choices"]}) == len(row["choices"]) == count
        assert row["choices"].count(row["answer"]) == 1
        assert not occurs(row["answer"], row["question"]), row


@pytest.mark.parametrize(("name", "count"), CHOICES.items())
def test_neither_place_nor_length_tells_the_answer(name: str, count: int) -> None:
    rows = SETS[name]
    places = Counter(row["choices"].index(row["answer"]) for row in rows)
    assert set(places) == set(range(count))
    assert max(places.values()) - min(places.values()) <= 1
    for extreme in (min, max):
        chosen = sum(row["answer"] == extreme(row["choices"], key=len) for row in rows)
        assert chosen / len(rows) <= 1.75 / count


def test_subjects_have_as_many_questions_and_examples() -> None:
    assert set(Counter(row["subject"] for row in SETS["knowledge_mini"]).values()) == {15}
    assert set(Counter(row["subject"] for row in SETS["knowledge_mini_dev"]).values()) == {4}
    assert {row["subject"] for row in SETS["knowledge_mini_dev"]} == {row["subject"] for row in SETS["knowledge_mini"]}


def test_each_country_is_asked_for_once_in_each_language_and_its_capital_is_not_in_the_question() -> None:
    rows = SETS["capitals"]
    assert Counter((row["continent"], row["language"]) for row in rows) == {
        (continent, language): 8 for continent in {row["continent"] for row in rows} for language in ("en", "de", "es")
    }
    assert set(Counter(row["country_code"] for row in rows).values()) == {3}
    for row in (*rows, *SETS["capitals_dev"]):
        assert row["answer"]
        assert not [each for each in row["answer"] if each.casefold() in row["question"].casefold()]


def test_expected_formats_keep_to_their_own_rules() -> None:
    rows = SETS["formats"]
    assert Counter(row["kind"] for row in rows) == {"json": 24, "csv": 16, "length": 20}
    for row in (row for row in rows if row["kind"] == "json"):
        expected = json.loads(row["expected"])
        assert list(expected) == row["schema"]["required"] == list(row["schema"]["properties"])
        assert all(f"{key} (" in row["prompt"] for key in expected)
    for row in (row for row in rows if row["kind"] == "csv"):
        lines = [line.split(row["separator"]) for line in row["expected"].split("\n")]
        assert lines[0] == row["columns"]
        assert {len(line) for line in lines} == {len(row["columns"])}
        assert len(lines) >= 3
    for row in (row for row in rows if row["kind"] == "length"):
        assert row["unit"] in {"words", "sentences", "paragraphs"}
        assert row["bound"] in {"minimum", "maximum", "target"}
        assert f" {row['count']} {row['unit']}." in row["prompt"]


def test_instructions_cover_all_kinds_at_least_twice_and_have_their_arguments() -> None:
    kinds = Counter(kind for row in SETS["instructions_mini"] for kind in row["instruction_id_list"])
    assert len(kinds) == 25
    assert min(kinds.values()) >= 2
    for row in SETS["instructions_mini"]:
        assert len(row["kwargs"]) == len(row["instruction_id_list"])
        for value in (each for kwargs in row["kwargs"] for key, each in kwargs.items() if key != "language"):
            if not str(value).endswith(("than", "least")):
                wanted = value if isinstance(value, list) else [value]
                assert [each for each in wanted if str(each).casefold() not in row["prompt"].casefold()] in (
                    [],
                    [1],
                    [2],
                )


def test_translations_differ_and_have_similar_lengths() -> None:
    for row in (*SETS["translate_mini"], *SETS["translate_mini_dev"]):
        sentences = [row["en"], row["de"], row["es"]]
        assert len(set(sentences)) == 3
        assert len({sentence[-1] for sentence in sentences}) == 1
        assert max(map(len, sentences)) <= 1.6 * min(map(len, sentences)) + 8


def test_a_summary_is_one_short_sentence_in_words_of_its_text() -> None:
    for row in SETS["summaries_mini"]:
        assert 95 <= len(row["text"].split()) <= 120
        assert 12 <= len(row["summary"].split()) <= 25
        assert re.fullmatch(r"[A-Z][^.!?]+\.", row["summary"])
        assert row["summary"] not in row["text"]
        long = {word for word in words(row["summary"]) if len(word) > 4}
        assert len(long & set(words(row["text"]))) / len(long) >= 0.4, row


def test_a_dialogue_that_is_scored_has_answers_that_its_second_question_does_not_tell() -> None:
    closed = [row for row in SETS["dialogue_mini"] if row["answer"]]
    assert Counter(row["category"] for row in closed) == {"recall": 24, "follow-up": 24}
    for row in closed:
        revealed = [occurs(answer, row["second"]) for answer in row["answer"]]
        # The first message tells what is to be recalled, and nothing else.
        stated = [occurs(answer, row["first"]) for answer in row["answer"]]
        assert (any(revealed), any(stated)) == (False, row["category"] == "recall"), row
