"""The rules that the small data sets keep: one right answer, not told by its place, length or words."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from pytest_puma.core.bundled import bundled_folder
from tools.data import arithmetic_word, common_words, needle
from tools.data.phrases import NAMES, PHRASES
from tools.data.rows import CANARY, json_lines

Rows = list[dict[str, Any]]

#: The fields of each file, and its number of rows.
FIELDS: dict[str, tuple[set[str], int]] = {
    "capitals": ({"country_code", "country", "continent", "language", "question", "answer"}, 120),
    "capitals_dev": ({"country_code", "country", "continent", "language", "question", "answer"}, 15),
    "arithmetic_word": ({"steps", "question", "answer"}, 100),
    "arithmetic_word_dev": ({"steps", "question", "answer"}, 8),
    "commonsense_mini": ({"question", "choices", "answer"}, 80),
    "commonsense_mini_dev": ({"question", "choices", "answer"}, 5),
    "knowledge_mini": ({"subject", "question", "choices", "answer"}, 90),
    "knowledge_mini_dev": ({"subject", "question", "choices", "answer"}, 24),
    "formats": ({"kind", "prompt"}, 60),
    "instructions_mini": ({"prompt", "instruction_id_list", "kwargs"}, 58),
    "needle": ({"language", "kind", "words", "text", "question", "answer"}, 60),
    "common_words": ({"language", "words", "text", "question", "answer"}, 60),
    "translate_mini": ({"en", "de", "es"}, 30),
    "translate_mini_dev": ({"en", "de", "es"}, 4),
    "summaries_mini": ({"text", "summary"}, 40),
    "dialogue_mini": ({"category", "turns", "answer"}, 60),
}
#: More fields of `formats`, by kind.
FORMATS = {
    "json": {"schema", "expected"},
    "csv": {"columns", "separator", "expected"},
    "length": {"unit", "bound", "count"},
}
DEV = sorted(name for name in FIELDS if name.endswith("_dev"))
CHOICES = {"commonsense_mini": 5, "knowledge_mini": 4}


def text_of(name: str) -> str:
    return (bundled_folder("data") / f"{name}.jsonl").read_bytes().decode("utf-8")


SETS: dict[str, Rows] = {name: [json.loads(line) for line in text_of(name).splitlines()] for name in FIELDS}


def texts(value: Any) -> Iterator[str]:
    """All texts in a value, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for each in value.values() for text in texts(each))
    elif isinstance(value, list):
        yield from (text for each in value for text in texts(each))


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def occurs(answer: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(answer.casefold())}(?!\w)", text.casefold()) is not None


def test_the_folder_holds_these_sets() -> None:
    assert {path.stem for path in bundled_folder("data").iterdir() if path.suffix == ".jsonl"} == set(FIELDS)


@pytest.mark.parametrize("name", FIELDS)
def test_a_set_has_its_rows_and_each_row_its_fields(name: str) -> None:
    fields, count = FIELDS[name]
    assert len(SETS[name]) == count
    for row in SETS[name]:
        assert set(row) == {"id", "canary"} | fields | FORMATS.get(row.get("kind", ""), set())


@pytest.mark.parametrize("name", FIELDS)
def test_texts_are_trimmed_plain_and_not_empty(name: str) -> None:
    assert "\r" not in text_of(name)
    for row in SETS[name]:
        for text in texts([value for key, value in row.items() if key != "separator"]):
            assert text
            assert text == text.strip()
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\ufffd]|  ", text), text


@pytest.mark.parametrize("name", FIELDS)
def test_each_row_holds_the_canary(name: str) -> None:
    assert {row["canary"] for row in SETS[name]} == {CANARY}


def test_ids_are_unique_over_all_sets() -> None:
    ids = [row["id"] for rows in SETS.values() for row in rows]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[a-z]+(-[a-z0-9]+)+", each) for each in ids)


@pytest.mark.parametrize("name", DEV)
def test_no_question_is_both_evaluated_and_an_example(name: str) -> None:
    def asked(rows: Rows) -> set[str]:
        return {(row.get("question") or row["en"]).casefold() for row in rows}

    assert not asked(SETS[name]) & asked(SETS[name.removesuffix("_dev")])


@pytest.mark.parametrize("name", ["capitals", "arithmetic_word", "commonsense_mini", "knowledge_mini"])
def test_no_question_occurs_twice(name: str) -> None:
    questions = Counter(row["question"].casefold() for row in SETS[name])
    assert [question for question, times in questions.items() if times > 1] == []


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


def test_a_solution_is_right_in_each_step_and_ends_in_the_answer() -> None:
    for row in (*SETS["arithmetic_word"], *SETS["arithmetic_word_dev"]):
        *lines, last = row["answer"].split("\n")
        steps = [re.fullmatch(r"[A-Z][^\d]+ (\d+) ([-+*/]) (\d+) = (\d+)\.", line) for line in lines]
        assert len(steps) == row["steps"]
        known = {int(number) for number in re.findall(r"\d+", row["question"])}
        for step in steps:
            assert step is not None, lines
            left, right, result = (Fraction(step[place]) for place in (1, 3, 4))
            assert {"+": left + right, "-": left - right, "*": left * right, "/": left / right}[step[2]] == result
            assert {left, right} <= known, row
            known.add(int(result))
        assert steps[-1] is not None
        assert last == f"#### {steps[-1][4]}"
        assert steps[-1][4] not in re.findall(r"\d+", row["question"])


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("arithmetic_word", arithmetic_word.rows()),
        ("arithmetic_word_dev", arithmetic_word.rows(dev=True)),
        ("needle", needle.rows()),
        ("common_words", common_words.rows()),
    ],
)
def test_a_generated_set_is_what_its_generator_makes(name: str, rows: Iterator[dict[str, Any]]) -> None:
    assert text_of(name) == json_lines(rows)


@pytest.mark.parametrize("rows", [SETS["needle"], list(needle.rows(words=(30, 3000), languages=("de", "it"), seed=7))])
def test_a_text_holds_exactly_the_numbers_that_are_asked_for(rows: Rows) -> None:
    for row in rows:
        phrases = PHRASES[row["language"]]
        (asked,) = (name for name in NAMES if occurs(name, row["question"]))
        pattern = re.escape(phrases.needle).replace(r"\{name\}", r"(\w+)").replace(r"\{number\}", r"(\d+)")
        needles = re.findall(pattern, row["text"])
        assert ([number for name, number in needles if name == asked] or [phrases.none]) == row["answer"]
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


def test_a_dialogue_has_two_turns_and_the_second_does_not_tell_its_answer() -> None:
    rows = SETS["dialogue_mini"]
    assert all(len(row["turns"]) == 2 for row in rows)
    closed = [row for row in rows if row["answer"]]
    assert {row["category"] for row in closed} == {"recall", "follow-up"}
    assert len(closed) == 36
    assert not [
        row
        for row in closed
        for answer in row["answer"]
        if occurs(answer, row["turns"][1]) and " or " not in row["turns"][1]
    ]
    for row in rows:
        if row["category"] == "recall":
            assert any(occurs(answer, row["turns"][0]) for answer in row["answer"])


DATASHEET = (bundled_folder("data") / "README.md").read_text(encoding="utf-8")


def test_the_datasheet_has_the_canary_the_licence_and_each_set_with_its_rows() -> None:
    assert CANARY in DATASHEET
    assert "CC0" in DATASHEET
    for name, (fields, count) in FIELDS.items():
        (line,) = [line for line in DATASHEET.splitlines() if line.startswith(f"| `{name}.jsonl` | {count} |")]
        assert all(f"`{field}`" in line for field in fields), name
