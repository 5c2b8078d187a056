"""Benchmarks as readers of guides write them, on two real models: one of chats, and a base model with plain text."""

from __future__ import annotations

import math
import shutil
from collections import Counter
from typing import Any

import pytest

from pytest_puma.core import Model
from tests.compat.geography import TASK
from tests.integration.conftest import INI, Project
from tests.real.written import COMMONSENSE_MCQA, GEOGRAPHY_QA, INVOICES, ROWS, lines


@pytest.fixture
def project(pytester: pytest.Pytester, models: dict[str, Model]) -> Project:
    pytester.makeini(INI)
    for name, rows in ROWS.items():
        path = pytester.path / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(lines(rows), encoding="utf-8")
    return Project(pytester, models["smollm2"].path, 0)


def run(project: Project, models: dict[str, Model], *arguments: str, base: bool = True) -> pytest.RunResult:
    """A run of the chat model, and of the base model with it, whose folder is the only one.

    It takes the answers of the run before: tests/real/test_runs.py has runs that compute the same ones.
    """
    shutil.rmtree(project.pytester.path / ".puma" / "runs", ignore_errors=True)
    tested = [f"--puma-model=smollm2={models['smollm2'].path}"]
    if base:
        tested.append(f"--puma-model=gemma={models['gemma'].path},chat=off")
    return project.pytester.runpytest_subprocess("-p", "no:xdist", *tested, *arguments)


def values(project: Project, *names: str) -> dict[str, list[float]]:
    """Some measures of each cell; NaN for one that applies to no reply."""
    return {
        outcome["cell"]: [outcome["measures"].get(name, {"value": math.nan})["value"] for name in names]
        for outcome in project.record()["outcomes"]
    }


def statuses(project: Project) -> dict[str, list[str]]:
    """The verdicts on each cell, in the order of its gates."""
    return {
        outcome["cell"]: [each["status"] for each in outcome["verdicts"]] for outcome in project.record()["outcomes"]
    }


def test_completions_with_groups_a_cue_and_examples(project: Project, models: dict[str, Model]) -> None:
    project.write(test_geography_qa=GEOGRAPHY_QA)
    few = "--puma-samples=4"
    run(project, models, few, "--puma-update-baseline").assert_outcomes(passed=2)
    run(project, models, few).assert_outcomes(passed=2)
    assert set(map(tuple, statuses(project).values())) == {("PASS", "PASS")}
    for exact, words_in_common in values(project, "exact_match", "f1_words").values():
        assert 0.6 <= exact <= words_in_common
    for prediction in project.predictions():
        assert prediction["gold"].endswith(".")
        assert "A:" not in prediction["raw"][0]


def test_the_example_of_eval_frameworks_guide(project: Project, models: dict[str, Model]) -> None:
    marker = '@pytest.mark.puma(GeographyQATask, strategies=["few_shot_3"])'
    project.write(test_geography=f"import pytest\n{TASK}\n{marker}\ndef test_geography(puma): ...")
    result = run(project, models, "--puma-samples=4", "--puma-gate=exact_match >= 0.6")
    result.assert_outcomes(passed=2, warnings=1)
    result.stdout.fnmatch_lines(["*GeographyQATask: the ground truth 'A: *.' begins with the cue 'A:'*"])
    means = values(project, "exact_match[mean subject]", "exact_match[subject=Asia]", "exact_match[subject=Europe]")
    for mean, *groups in means.values():
        assert mean == pytest.approx(sum(groups) / 2)
    assert not any(each["gold"].startswith("A:") for each in project.predictions())


def test_choices_in_many_orders(project: Project, models: dict[str, Model]) -> None:
    project.write(test_commonsense_mcqa=COMMONSENSE_MCQA)
    # Both models are too small for the question. What they give away is that they prefer places.
    run(project, models, "--puma-samples=2", "--puma-max-tokens=4").assert_outcomes(failed=4)
    for accuracy, bias in values(project, "accuracy", "position_bias").values():
        assert abs(accuracy - 0.2) < 0.2
        assert bias > 0.2
    (bias,) = values(project, "position_bias")["commonsense_mcqa-option_scoring@smollm2"]
    assert bias > 0.7
    assert {status[1] for status in statuses(project).values()} == {"FAIL"}
    cells = Counter((each["cell"], each["sample_id"]) for each in project.predictions())
    assert len(cells) == 4 * 2
    assert set(cells.values()) == {10}
    scored = [each for each in project.predictions() if each["cell"] == "commonsense_mcqa-option_scoring@gemma"]
    assert {len(each["probabilities"]) for each in scored} == {5}
    places = Counter((each["sample_id"], place, choice) for each in scored for place, choice in _shown(each))
    assert set(places.values()) == {2}


def _shown(prediction: dict[str, Any]) -> list[tuple[int, str]]:
    """The choices by their places in the prompt."""
    choices = prediction["choices"]
    return [(place, choices[at]) for place, at in enumerate(prediction["order"] or range(len(choices)))]


def test_completions_in_json_with_a_metric_of_ones_own(project: Project, models: dict[str, Model]) -> None:
    project.write(test_invoices=INVOICES)
    # The other rows are lent as examples. An answer has 20 tokens; other replies go on to the limit.
    short = ("--puma-samples=2", "--puma-max-tokens=32")
    # Only what the chat model replies is checked.
    run(project, models, *short, "--puma-update-baseline", base=False)
    measures = values(project, "json.schema", "json.only", "json.equal", "total_error")
    schema, only, equal, error = measures["invoices-few_shot_3@smollm2"]
    assert (schema, only, error) == (1, 1, 0)
    assert 0 < equal <= 1
    assert measures["invoices-zero_shot@smollm2"][0] < 0.95
    run(project, models, *short, "--puma-strategy=few_shot_3", base=False)
    assert statuses(project)["invoices-few_shot_3@smollm2"] == ["PASS", "PASS"]
