from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks.continuations import Piqa
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests

ROWS = [
    {"goal": "To dry a cup", "sol1": "use a towel", "sol2": "use a hose"},
    {"goal": "To cool tea", "sol1": "light a fire", "sol2": "wait a while"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    json_lines(tmp_path / "valid.jsonl", ROWS)
    (tmp_path / "valid-labels.lst").write_text("0\n1\n")
    json_lines(tmp_path / "train.jsonl", [{"goal": "To cut bread", "sol1": "use a spoon", "sol2": "use a knife"}])
    (tmp_path / "train-labels.lst").write_text("1\n")
    return tmp_path


def test_the_labels_lie_beside_the_rows(folder: Path) -> None:
    dry, cool = sample_requests(Piqa(folder), "cloze_scoring_1", chat=False)
    assert dry.text == "Question: To cut bread\nAnswer: use a knife\n\nQuestion: To dry a cup\nAnswer:"
    assert dry.continuations == (" use a towel", " use a hose")
    assert (dry.golds, cool.golds) == (("use a towel",), ("wait a while",))


def test_letters_in_a_chat(folder: Path) -> None:
    dry, _ = sample_requests(Piqa(folder / "valid.jsonl"), "option_scoring")
    assert dry.text == "user: Question: To dry a cup\nA. use a towel\nB. use a hose\nassistant: Answer:"


def test_the_hub_has_a_column_of_labels(tmp_path: Path) -> None:
    _, cool = sample_requests(Piqa(json_lines(tmp_path / "validation.jsonl", [row | {"label": 1} for row in ROWS])))
    assert cool.golds == ("wait a while",)


def test_other_labels_are_other_data(folder: Path) -> None:
    before = Piqa(folder).source()
    (folder / "valid-labels.lst").write_text("0\n0\n")
    assert Piqa(folder).source() != before


def test_a_label_too_few_is_refused(folder: Path) -> None:
    (folder / "valid-labels.lst").write_text("0\n")
    with pytest.raises(DataError, match=r"valid.jsonl has 2 rows, and valid-labels.lst 1 labels; expected a label for"):
        _ = Piqa(folder).rows


def test_rows_without_labels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"row 1, column 'label': missing or empty; the row has: goal, sol1, sol2"):
        _ = Piqa(json_lines(tmp_path / "tests.jsonl", ROWS)).rows


def test_the_hidden_labels_of_the_hub_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"column 'label': found -1 \(int\), expected a number from 0 to 1"):
        _ = Piqa(json_lines(tmp_path / "test.jsonl", [ROWS[0] | {"label": -1}])).rows
