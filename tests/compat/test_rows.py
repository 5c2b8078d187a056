"""The rows of tasks: files, splits and subjects."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.compat.eval_framework import NO_SUBJECT, BaseTask
from pytest_puma.compat.eval_framework.task import scenario_name
from pytest_puma.core import DataError, SettingsError
from pytest_puma.scenarios import draw
from tests.compat.geography import rows, write_rows
from tests.compat.tasks import Capitals, cell_tasks


def subjects_of(scenario: Any, n: int = 6) -> Counter[str]:
    return Counter(sample.groups.get("subject", "") for sample in draw(scenario, n, 42))


def subclass(**attributes: Any) -> type[Capitals]:
    return type("Own", (Capitals,), attributes)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("GeographyQA", "geography_qa"),
        ("MMLU Pro", "mmlu_pro"),
        ("GSM8K", "gsm8k"),
        ("TruthfulQA-MC1", "truthful_qa_mc1"),
        ("WMT14 (en, de)", "wmt14_en_de"),
        ("2WikiMultihop", "_2wiki_multihop"),
    ],
)
def test_the_name_of_a_scenario(name: str, expected: str) -> None:
    assert scenario_name(name) == expected


def test_a_task_is_a_scenario_with_the_name_of_its_class_and_its_data(folder: Path) -> None:
    scenario = Capitals(data=folder)
    assert type(scenario).__name__ == "Capitals"
    assert isinstance(scenario, Capitals)
    assert (Capitals.name, scenario.name, scenario.task_type) == ("capitals", "capitals", "completion")
    assert type(Capitals(data=folder)) is type(scenario)
    assert scenario.source().name.endswith("rows/test.jsonl")


def test_subjects_take_turns_and_others_are_left_out(folder: Path) -> None:
    lines = [*rows("test"), {"country": "Kenya", "capital": "Nairobi", "subject": "Africa"}]
    write_rows(folder / "test.jsonl", lines)
    assert subjects_of(Capitals(data=folder)) == {"Europe": 3, "Asia": 3}
    assert subjects_of(subclass(SUBJECTS=["Africa", "Asia"])(data=folder), 20) == {"Africa": 1, "Asia": 6}


def test_a_folder_for_a_split_has_a_file_for_each_subject(folder: Path) -> None:
    for split in ("test", "train"):
        (folder / f"{split}.jsonl").unlink()
        for subject in ("Europe", "Asia"):
            lines = [{"country": each["country"], "capital": each["capital"]} for each in rows(split, subject)]
            write_rows(folder / split / f"{subject}.jsonl", lines)
    tasks = cell_tasks(Capitals(data=folder), "few_shot_2")
    assert Counter(task.sample.groups["subject"] for task in tasks) == {"Europe": 6, "Asia": 6}
    for task in tasks:
        assert {each["subject"] for each in task.examples} == {task.sample.groups["subject"]}


class Place(Enum):
    EUROPE = "Europe"
    ASIA = "Asia"


def test_subjects_are_texts_enums_or_tuples(folder: Path) -> None:
    assert subjects_of(subclass(SUBJECTS=list(Place))(data=folder)) == {"Europe": 3, "Asia": 3}
    lines = [{**each, "subject": [each["subject"], "easy"]} for each in rows("test")]
    write_rows(folder / "test.jsonl", lines)  # type: ignore[arg-type] # lists on purpose
    pairs = subclass(SUBJECTS=[("Europe", "easy"), ("Asia", "easy")])
    assert subjects_of(pairs(data=folder)) == {"Europe, easy": 3, "Asia, easy": 3}


@pytest.mark.parametrize("subjects", [[], [NO_SUBJECT]])
def test_a_task_without_subjects_has_all_rows_in_no_groups(folder: Path, subjects: list[str]) -> None:
    assert subjects_of(subclass(SUBJECTS=subjects)(data=folder), 20) == {"": 12}


def test_the_only_subject_needs_no_column(folder: Path) -> None:
    write_rows(folder / "test.jsonl", [{"country": "Italy", "capital": "Rome"}])
    scenario = subclass(SUBJECTS=["Europe"])(data=folder)
    (sample,) = draw(scenario, 5, 42)
    assert (sample.fields["subject"], sample.groups) == ("Europe", {})


def test_several_subjects_need_a_column_or_files(folder: Path) -> None:
    write_rows(folder / "test.jsonl", [{"country": "Italy", "capital": "Rome"}])
    with pytest.raises(DataError, match="Capitals: SUBJECTS are Europe, Asia, but a row has no column 'subject'"):
        draw(Capitals(data=folder), 5, 42)


def test_a_subject_without_rows_is_an_error_with_the_nearest_name(folder: Path) -> None:
    with pytest.raises(DataError, match="Own: no row of the subject 'Azia'; did you mean 'Asia'"):
        draw(subclass(SUBJECTS=["Europe", "Azia", "Asia"])(data=folder), 5, 42)


def test_an_unknown_split_is_an_error_that_lists_the_files(folder: Path) -> None:
    with pytest.raises(DataError, match=r"no file of the split 'dev'.*test\.jsonl, train\.jsonl"):
        draw(subclass(SAMPLE_SPLIT="dev")(data=folder), 5, 42)


def test_data_that_are_nowhere_are_an_error_that_says_where_to_put_them() -> None:
    with pytest.raises(
        DataError, match=r"'absent'; found no such file.*no HF_REVISION.*make the folder .*absent with test.jsonl"
    ):
        draw(Capitals(), 5, 42)


def test_data_of_the_hub_are_read_at_their_revision(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    wanted = []

    def download(reference: str, split: str) -> Path:
        wanted.append((reference, split))
        return folder / f"{split}.jsonl"

    monkeypatch.setattr("pytest_puma.scenarios.composed.dataset_file", download)
    own = subclass(DATASET_PATH="owner/capitals", HF_REVISION="3f2c1d9")
    assert len(cell_tasks(own(), "few_shot_1")) == 12
    assert set(wanted) == {("hf:owner/capitals@3f2c1d9", "test"), ("hf:owner/capitals@3f2c1d9", "train")}


class Strict(Capitals):
    def __init__(self, num_fewshot: int = 0) -> None:
        assert num_fewshot < 9, "too many"
        super().__init__(num_fewshot)


def test_a_constructor_of_the_author_needs_no_parameter_for_data(folder: Path) -> None:
    assert len(draw(type(Strict())(data=folder), 20, 42)) == 12  # type: ignore[call-arg] # the scenario's constructor


@pytest.mark.parametrize("name", ["NAME", "DATASET_PATH", "SAMPLE_SPLIT", "FEWSHOT_SPLIT", "RESPONSE_TYPE"])
def test_a_missing_attribute_is_named(name: str) -> None:
    given = {each: getattr(Capitals, each) for each in vars(Capitals) if each.isupper() and each != name}
    incomplete = type("Incomplete", (BaseTask,), given)
    with pytest.raises(SettingsError, match=f"Incomplete: found no {name}; a task needs NAME, DATASET_PATH"):
        incomplete()


def test_a_wrong_response_type_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"RESPONSE_TYPE is 'text'; expected one of ResponseType\.COMPLETION"):
        subclass(RESPONSE_TYPE="text")()


def test_a_marker_that_takes_the_class_alone_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"expected an instance: @pytest\.mark\.puma\(Capitals\(\)\)"):
        Capitals(lambda: None)  # type: ignore[arg-type] # what pytest does


def test_words_are_protected_from_perturbations() -> None:
    assert subclass(PERTURBATION_UNMODIFIABLE_WORDS=["Capital"])().protected == ("Capital",)
    assert Capitals().protected == ()
