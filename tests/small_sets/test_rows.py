"""The rules that all small sets keep."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from pytest_puma.platform.bundled import bundled_folder
from tests.small_sets.rows import DEV, FIELDS, FORMATS, SETS, Rows, text_of, texts
from tools.data.rows import CANARY


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
    def questions(rows: Rows) -> set[str]:
        return {f"{row.get('text', '')}{row.get('question') or row['en']}".casefold() for row in rows}

    assert not questions(SETS[name]) & questions(SETS[name.removesuffix("_dev")])


@pytest.mark.parametrize("name", ["capitals", "arithmetic_word", "commonsense_mini", "knowledge_mini"])
def test_no_question_occurs_twice(name: str) -> None:
    questions = Counter(row["question"].casefold() for row in SETS[name])
    assert [question for question, times in questions.items() if times > 1] == []
