"""Completions: ground truths, splits, and where the rows come from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest

from pytest_puma import CompletionScenario
from pytest_puma.core import DataError, SettingsError
from pytest_puma.datasets.sampling import draw, examples_by_group
from tests.composed import CAPITALS, Capitals, drawn, written


class WithColumns(Capitals):
    key = "country"
    required: ClassVar = {"capital": (str, list)}


def refused(scenario: type[CompletionScenario], folder: Path, *rows: dict[str, Any]) -> str:
    with pytest.raises(DataError) as caught:
        drawn(scenario, folder, *rows)
    return str(caught.value)


@pytest.mark.parametrize(
    ("capital", "references"),
    [("Rome", ("Rome",)), (["Rome", "Roma"], ("Rome", "Roma")), ([], ()), (None, ())],
)
def test_there_is_no_truth_or_one_or_several(capital: Any, references: tuple[str, ...], tmp_path: Path) -> None:
    (sample,) = drawn(Capitals, tmp_path, {"country": "Italy", "capital": capital})
    assert Capitals().references(dict(sample.fields)) == references
    assert sample.gold == (references[0] if references else "")


@pytest.mark.parametrize("capital", [5, [5], ["Rome", None], {"a": "b"}])
def test_a_truth_that_is_no_text_is_refused_with_its_row(capital: Any, tmp_path: Path) -> None:
    message = refused(WithColumns, tmp_path, *({"country": "Italy", "capital": each} for each in [capital]))
    assert "Italy" in message or "row 1, column 'capital'" in message
    assert "expected" in message


def test_a_hook_that_fails_is_named_with_the_row_and_its_columns(tmp_path: Path) -> None:
    assert refused(Capitals, tmp_path, {"country": "Italy", "town": "Rome"}).endswith(
        "truth failed with KeyError('capital'); the row has: country, town"
    )


def test_a_target_is_the_cue_and_the_first_truth() -> None:
    assert Capitals().target({"country": "Italy", "capital": ["Rome", "Roma"]}) == "A: Rome"


def test_an_example_without_a_truth_has_no_target() -> None:
    with pytest.raises(DataError, match=r"Capitals: an example has no ground truth to show; override target\(\)"):
        Capitals().target({"country": "Italy", "capital": None})


def test_required_columns_are_checked_in_every_row(tmp_path: Path) -> None:
    message = refused(WithColumns, tmp_path, *CAPITALS, {"country": "Chile", "capital": None})
    assert message.endswith("row 5, column 'capital': found nothing, expected str or list")


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    assert "the file has no rows; expected one row for each question" in refused(Capitals, tmp_path)


def test_a_folder_has_a_file_for_each_split(tmp_path: Path) -> None:
    written(tmp_path / "test.jsonl", CAPITALS[:2])
    written(tmp_path / "train.jsonl", CAPITALS[2:])
    scenario = Capitals(tmp_path)
    samples = draw(scenario, 10, 42)
    assert {sample.gold for sample in samples} == {"Rome", "Oslo"}
    examples = examples_by_group(scenario, 2, 42, samples)[()]
    assert {example["gold_label"] for example in examples} == {"Lima", "Tokyo"}


def test_a_missing_split_is_an_error_that_lists_the_files(tmp_path: Path) -> None:
    written(tmp_path / "validation.jsonl", CAPITALS)
    with pytest.raises(DataError) as caught:
        draw(Capitals(tmp_path), 10, 42)
    assert "no file of the split 'test'" in str(caught.value)
    assert str(caught.value).endswith("there is: validation.jsonl")


def test_a_split_that_data_do_not_declare_lists_those_that_they_do() -> None:
    class Elsewhere(Capitals):
        data: ClassVar = {"test": "a.jsonl", "dev": "b.jsonl"}
        split = "validation"

    with pytest.raises(DataError, match="no split 'validation' in data; there are: test, dev"):
        draw(Elsewhere(), 10, 42)


def test_a_scenario_without_data_says_how_to_get_them() -> None:
    class Public(Capitals):
        obtain = "download capitals.jsonl (2 kB, CC0) from its page"

    with pytest.raises(DataError) as caught:
        draw(Public(), 10, 42)
    assert str(caught.value) == (
        "scenario 'capitals' has no data of its own: download capitals.jsonl (2 kB, CC0) from its page; then run with "
        "--puma-data capitals=PATH"
    )


def test_a_single_file_lends_rows_that_are_not_evaluated(tmp_path: Path) -> None:
    scenario = Capitals(written(tmp_path / "rows.jsonl", CAPITALS))
    samples = draw(scenario, 2, 42)
    examples = examples_by_group(scenario, 2, 42, samples)[()]
    assert {sample.gold for sample in samples}.isdisjoint(example["gold_label"] for example in examples)
    with pytest.raises(SettingsError, match="3 examples requested, 2 there"):
        examples_by_group(scenario, 3, 42, samples)


def test_examples_are_in_the_order_of_the_seed_whatever_their_truths(tmp_path: Path) -> None:
    written(tmp_path / "test.jsonl", CAPITALS[:1])
    same = [{"country": f"land {number}", "capital": "Rome"} for number in range(8)]
    written(tmp_path / "train.jsonl", [*CAPITALS[1:], *same])
    scenario = Capitals(tmp_path)
    samples = draw(scenario, 1, 42)
    chosen = [examples_by_group(scenario, 4, seed, samples)[()] for seed in range(40)]
    assert any([example["gold_label"] for example in examples].count("Rome") > 1 for examples in chosen)
    assert examples_by_group(scenario, 2, 3, samples)[()] == chosen[3][:2]


def test_rows_of_another_split_may_have_the_ids_of_evaluated_ones(tmp_path: Path) -> None:
    class Numbered(Capitals):
        key = "id"

    written(tmp_path / "test.jsonl", [{"id": 1, **CAPITALS[0]}])
    written(tmp_path / "train.jsonl", [{"id": 1, **CAPITALS[1]}])
    scenario = Numbered(tmp_path)
    examples = examples_by_group(scenario, 1, 42, draw(scenario, 1, 42))[()]
    assert examples[0]["gold_label"] == "Oslo"


def test_a_method_can_read_another_format(tmp_path: Path) -> None:
    class Lines(Capitals):
        def records(self, path: Path) -> list[dict[str, Any]]:
            lines = path.read_text(encoding="utf-8").splitlines()
            return [dict(zip(("country", "capital"), line.split(" - "), strict=True)) for line in lines]

    path = tmp_path / "capitals.txt"
    path.write_text("Italy - Rome\nPeru - Lima\n", encoding="utf-8")
    assert {sample.gold for sample in draw(Lines(path), 10, 42)} == {"Rome", "Lima"}


def test_a_scenario_declares_examples_by_a_split_or_by_picking_them(tmp_path: Path) -> None:
    class Picky(Capitals):
        def pick_examples(self, item: dict[str, Any], k: int, random: Random) -> Sequence[dict[str, Any]]:  # noqa: ARG002
            return []

    assert Picky(written(tmp_path / "rows.jsonl", CAPITALS)).declares_examples
    assert Capitals(tmp_path).declares_examples
    assert not Capitals(tmp_path / "rows.jsonl").declares_examples
