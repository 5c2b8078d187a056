"""The scenarios of the small sets read their files: every row, its answers, its groups and units."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from pytest_puma.core import Model, Sample, Scenario
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.tasks import tasks_of
from pytest_puma.perturbations import parse_perturbation, perturb
from pytest_puma.planning.matrix import make_scenario
from pytest_puma.planning.registry import Registry
from pytest_puma.planning.scores import own_scores
from pytest_puma.planning.settings import Settings
from pytest_puma.platform.bundled import bundled_folder
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.composed import ComposedScenario
from pytest_puma.scenarios.small import SMALL_SETS
from pytest_puma.strategies import parse_strategy

ALL = 1_000
#: Questions of each set; those of `translate_mini` are 30 sentences in 4 directions.
QUESTIONS = {
    "capitals": 120,
    "arithmetic_word": 100,
    "commonsense_mini": 80,
    "knowledge_mini": 90,
    "formats": 60,
    "instructions_mini": 58,
    "needle": 60,
    "common_words": 60,
    "translate_mini": 120,
    "summaries_mini": 40,
    "dialogue_mini": 48,
}

small_sets = pytest.mark.parametrize("kind", SMALL_SETS.values(), ids=SMALL_SETS)


def drawn(name: str) -> tuple[Sample, ...]:
    return draw(SMALL_SETS[name](), ALL, 42)


def test_every_set_has_a_scenario() -> None:
    assert set(SMALL_SETS) == {path.stem for path in bundled_folder("data").glob("*.jsonl") if "_dev" not in path.stem}
    assert {name: len(drawn(name)) for name in SMALL_SETS} == QUESTIONS


@small_sets
def test_a_scenario_is_known_by_its_name(kind: type[ComposedScenario]) -> None:
    assert type(make_scenario(kind.name, Settings())) is kind


@small_sets
def test_the_metrics_of_a_scenario_exist_and_apply(kind: type[ComposedScenario]) -> None:
    assert [metric.name for metric in own_scores(kind(), Registry())] == list(kind.scores)


@small_sets
def test_the_file_is_named_in_reports(kind: type[ComposedScenario]) -> None:
    assert kind().source().name == f"data/{kind.name}.jsonl"


@small_sets
def test_each_strategy_of_a_scenario_has_its_examples(kind: type[ComposedScenario]) -> None:
    for name in kind.strategies or kind().kind.strategies:
        shots = parse_strategy(name).shots
        if shots:
            model = Model(name="m", path=Path("m.gguf"))
            cell = Cell(scenario=kind(), strategy=parse_strategy(name), model=model, samples=ALL)
            tasks = tasks_of(cell, None)
            assert {len(task.examples) for task in tasks} == {shots}
            assert not {row["id"] for task in tasks for row in task.examples} & {task.sample.id for task in tasks}


@small_sets
def test_a_perturbation_changes_every_text(kind: type[ComposedScenario]) -> None:
    scenario: Scenario = kind()
    for sample in draw(scenario, 5, 1):
        changed = perturb(scenario, sample, parse_perturbation("case_upper"), 1, scenario.text_fields)
        assert scenario.text_fields
        assert all(changed.fields[field] != sample.fields[field] for field in scenario.text_fields)


@small_sets
def test_a_users_own_file_takes_the_place_of_the_set(kind: type[ComposedScenario], tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    shutil.copy(bundled_folder("data") / f"{kind.name}.jsonl", own)
    assert [sample.id for sample in draw(kind(data=own), 9, 42)] == [sample.id for sample in draw(kind(), 9, 42)]


def test_groups_have_equal_numbers_of_samples() -> None:
    counts = {
        name: Counter(Counter(sample.group for sample in drawn(name)).values())
        for name in ("capitals", "knowledge_mini", "needle", "common_words", "translate_mini", "dialogue_mini")
    }
    assert counts == {
        "capitals": {8: 15},
        "knowledge_mini": {15: 6},
        "needle": {1: 60},
        "common_words": {4: 15},
        "translate_mini": {30: 4},
        "dialogue_mini": {24: 2},
    }


def test_rows_of_one_country_or_sentence_are_one_unit() -> None:
    assert Counter(sample.units for sample in drawn("capitals")).most_common(1)[0][1] == 3
    assert len({sample.units for sample in drawn("capitals")}) == 40
    assert len({sample.units for sample in drawn("translate_mini")}) == 30


def test_answers_of_a_set_are_those_of_its_rows() -> None:
    by_id = {sample.id: sample for name in SMALL_SETS for sample in drawn(name)}
    assert by_id["capitals-de-jp"].references == ("Tokio", "Tokyo")
    assert by_id["arithmetic-001"].references == ("13",)
    assert by_id["commonsense-001"].references == ("refrigerator",)
    assert by_id["formats-csv-01"].references == ("name,age\nAnna,31\nBen,28",)
    assert by_id["formats-length-01"].references == ()
    assert by_id["needle-en-50-none"].references == ("none",)
    assert by_id["words-en-30-2"].references == ("cloud, desert, mirror",)
    assert by_id["translate-03-es-en"].references == ("We are going to the beach tomorrow.",)
    assert by_id["translate-03-en-de"].references == ("Wir gehen morgen an den Strand.",)
    assert by_id["dialogue-01"].references == ("Bruno",)
    assert "dialogue-50" not in by_id


def test_metrics_of_formats_get_their_arguments_and_those_of_other_kinds_none() -> None:
    by_id = {sample.id: dict(sample.context) for sample in drawn("formats")}
    schema = by_id["formats-json-01"].pop("json_schema")
    assert schema["required"] == ["name", "age"]
    assert by_id["formats-json-01"] == {"csv": None, "length": None}
    assert by_id["formats-csv-02"] == {
        "json_schema": None,
        "csv": {"columns": ["fruit", "price"], "separator": ";"},
        "length": None,
    }
    assert by_id["formats-length-05"] == {
        "json_schema": None,
        "csv": None,
        "length": {"unit": "words", "count": 40, "type": "maximum"},
    }
