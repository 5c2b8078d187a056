from __future__ import annotations

import csv
from pathlib import Path

import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks.knowledge import Mmlu
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests

TEST = [["Which number is even?", "1", "2", "3", "5", "B"], ['Which of "these" is odd?', "4", "6", "8", "9", "D"]]
DEV = [["Which number is the least?", "7", "9", "6", "8", "C"]]
LAW = [["Who judges?", "a judge", "a baker", "a tailor", "a cook", "A"]]
LAW_DEV = [["Who pleads?", "a smith", "a lawyer", "a cook", "a tailor", "B"]]


def write_csv(path: Path, rows: list[list[str]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """As in the published archive."""
    write_csv(tmp_path / "test" / "number_theory_test.csv", TEST)
    write_csv(tmp_path / "test" / "law_test.csv", LAW)
    write_csv(tmp_path / "dev" / "number_theory_dev.csv", DEV)
    write_csv(tmp_path / "dev" / "law_dev.csv", LAW_DEV)
    return tmp_path


def test_the_letters_are_scored_after_an_example_of_the_subject(folder: Path) -> None:
    law, even, odd = sample_requests(Mmlu(folder), "option_scoring_1")
    assert even.text == (
        "user: Questions about number theory. One of the four choices is right.\n\n"
        "Which number is the least?\nA. 7\nB. 9\nC. 6\nD. 8\n"
        "assistant: Answer: C\n"
        "user: Which number is even?\nA. 1\nB. 2\nC. 3\nD. 5\n"
        "assistant: Answer:"
    )
    assert even.continuations == (" A", " B", " C", " D")
    assert (even.golds, odd.golds, law.golds) == (("2",), ("9",), ("a judge",))
    assert "Questions about law." in law.text
    assert "a smith" in law.text


def test_plain_text_is_that_of_the_paper(folder: Path) -> None:
    _, _, odd = sample_requests(Mmlu(folder), "option_scoring", chat=False)
    assert odd.text == (
        "Questions about number theory. One of the four choices is right.\n\n"
        'Which of "these" is odd?\nA. 4\nB. 6\nC. 8\nD. 9\nAnswer:'
    )


def test_the_subjects_are_groups(folder: Path) -> None:
    rows = Mmlu(folder).rows
    assert list(rows["subject"]) == ["law", "number_theory", "number_theory"]


@pytest.mark.parametrize("answer", [1, "1", "B"])
def test_the_answer_of_the_hub_is_a_place_from_0_or_a_letter(tmp_path: Path, answer: object) -> None:
    row = {"question": "Which is even?", "subject": "sums", "choices": ["1", "2", "3", "5"], "answer": answer}
    ((only),) = sample_requests(Mmlu(json_lines(tmp_path / "test.jsonl", [row])))
    assert only.golds == ("2",)


def test_a_header_is_no_question(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "law_test.csv", [["question", "A", "B", "C", "D", "answer"], [*LAW[0][:5], "0"]])
    (only,) = sample_requests(Mmlu(file))
    assert only.golds == ("a judge",)


def test_the_digest_changes_with_any_file_of_the_folder(folder: Path) -> None:
    before = Mmlu(folder).source()
    write_csv(folder / "test" / "law_test.csv", LAW_DEV)
    after = Mmlu(folder).source()
    write_csv(folder / "dev" / "law_dev.csv", LAW)
    assert before != after
    assert Mmlu(folder).source() == after


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ([*LAW[0][:5], "E"], "law_test.csv: row 2, column 'answer': found 'E' (str), expected one of A, B, C, D, or"),
        (LAW[0][:5], "law_test.csv: row 2 has 5 cells; expected 6"),
        ([*LAW[0][:5], "4"], "found '4' (str), expected one of A, B, C, D, or a number from 0 to 3"),
    ],
)
def test_a_faulty_row_is_named(tmp_path: Path, row: list[str], fault: str) -> None:
    file = write_csv(tmp_path / "law_test.csv", [LAW[0], row])
    with pytest.raises(DataError) as refused:
        _ = Mmlu(file).rows
    assert fault in str(refused.value)


def test_a_cell_may_be_longer_than_the_limit_of_the_csv_module(tmp_path: Path) -> None:
    question = "x" * 200_000
    file = write_csv(tmp_path / "law_test.csv", [[question, *LAW[0][1:]]])
    assert Mmlu(file).rows["question"].tolist() == [question]


def test_a_folder_without_the_split_says_what_is_expected(tmp_path: Path) -> None:
    (tmp_path / "questions.txt").write_text("?")
    with pytest.raises(
        DataError, match=r"no file of the split 'test' .*there is: questions.txt; published names .*: test,"
    ):
        _ = Mmlu(tmp_path).rows


def test_without_a_path_the_error_says_what_to_get() -> None:
    with pytest.raises(DataError) as refused:
        _ = Mmlu().rows
    for part in ("14,042 questions", "MIT", "hf:cais/mmlu@REVISION:all/*", "--puma-data mmlu=PATH", "SHA-256"):
        assert part in str(refused.value)
