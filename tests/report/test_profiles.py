"""Profiles in the shape that AISteer360's functions for sweeps read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_puma.core import Outcome
from pytest_puma.planning.reports import PageSettings
from pytest_puma.report.profiles import as_profiles
from tests.factories import cell, evaluated
from tests.report.page.scripted import Recorded, moody, recorded


def swept(*models: str, **fields: Any) -> list[Outcome]:
    outcomes = []
    for model in models:
        outcome = evaluated(cell(samples=4, **fields), moody)
        outcomes.append(replace(outcome, name=replace(outcome.name, model=model)))
    return outcomes


def profiles(made: Recorded, settings: PageSettings = PageSettings()) -> dict[str, list[dict[str, Any]]]:  # noqa: B008
    found: dict[str, list[dict[str, Any]]] = json.loads(as_profiles(made.run, made.path, settings))
    return found


def test_each_configuration_is_an_entry_of_its_pipeline(tmp_path: Path) -> None:
    made = recorded(tmp_path, swept("q", "q+v-0.5-L10", "q+v-1-L10", "q+v-1-L10+w-0.2"))
    found = profiles(made)

    params = {name: [entry["params"] for entry in entries] for name, entries in found.items()}
    assert params == {
        "baseline": [{}],
        "v": [{"v": {"strength": 0.5, "layers": "10"}}, {"v": {"strength": 1.0, "layers": "10"}}],
        "v+w": [{"v": {"strength": 1.0, "layers": "10"}, "w": {"strength": 0.2, "layers": None}}],
    }


def test_values_are_those_of_the_record_and_generations_those_of_the_predictions(tmp_path: Path) -> None:
    made = recorded(tmp_path, swept("q"))
    ((entry,),) = profiles(made).values()
    (outcome,) = made.record["outcomes"]

    for name, evaluation in entry["evaluations"].items():
        assert evaluation == {key: outcome["measures"][name][key] for key in ("value", "low", "high", "n")}
    predictions = made.predictions(outcome["cell"])
    assert [each["question_id"] for each in entry["generations"]] == [each.sample_id for each in predictions]
    assert [each["response"] for each in entry["generations"]] == [each.raw[-1] for each in predictions]
    assert [each["reference_answer"] for each in entry["generations"]] == [each.gold for each in predictions]
    prompts = [each["prompt"] for each in entry["generations"]]
    assert [[message["role"] for message in prompt] for prompt in prompts] == [["system", "user"]] * len(predictions)
    assert all("<issue>" in prompt[1]["content"] for prompt in prompts), "whole, with the common beginning"


def test_several_cells_and_models_are_named_before_the_pipeline(tmp_path: Path) -> None:
    both = [*swept("q", "r+v-1"), *swept("q", strategy="few_shot_3")]

    assert list(profiles(recorded(tmp_path, both))) == [
        "triage_jira-zero_shot q baseline",
        "triage_jira-zero_shot r v",
        "triage_jira-few_shot_3 q baseline",
    ]


def test_texts_may_be_left_out(tmp_path: Path) -> None:
    made = recorded(tmp_path, swept("q"))
    ((entry,),) = profiles(made, PageSettings(texts="none")).values()
    assert {key for each in entry["generations"] for key in each} == {"question_id"}


def test_a_run_without_its_predictions_has_its_values(tmp_path: Path) -> None:
    made = recorded(tmp_path, swept("q"))
    ((entry,),) = json.loads(as_profiles(made.run, None, PageSettings())).values()
    assert entry["generations"] == []
    assert entry["evaluations"]
