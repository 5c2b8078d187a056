"""`--puma-compare`, as its user sees it."""

from __future__ import annotations

import json

import pytest

from pytest_puma.stats.significance import holm
from tests.integration.conftest import ONE_PROCESS, Project

COMPARED = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "few_shot_3"], samples=20)
def test_triage(puma):
    pass
"""

#: Wrong at three examples for every issue, and else right for a quarter of them.
SCRIPTED = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend(lambda prompt: "Major" if prompt.count("Title:") == 1 else "nothing")
"""


def test_the_second_strategy_is_held_against_the_first(project: Project) -> None:
    project.write(test_compared=COMPARED, conftest=SCRIPTED)
    result = project.run("--puma-compare=strategy", "--puma-report=json:run.json", "--puma-report=md:run.md")

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*= puma: comparison =*", "triage_jira-few_shot_3@* zero_shot *f1_macro*bootstrap*"])
    folder = project.pytester.path
    (contrast,) = json.loads((folder / "run.json").read_text(encoding="utf-8"))["contrasts"]
    assert contrast["cell"].startswith("triage_jira-few_shot_3@")
    assert contrast["change"]["worse"] == 5
    assert contrast["tests"]["mcnemar"] == pytest.approx(2 / 32)
    assert contrast["rank_biserial"] == -1, "all that changed became worse"
    assert contrast["change"]["value"] < 0
    assert contrast["adjusted"] == contrast["p"] == contrast["tests"][contrast["test"]]
    assert "#### comparison" in (folder / "run.md").read_text(encoding="utf-8")


@ONE_PROCESS
def test_the_best_cell_is_named_with_the_lead_that_is_sure(project: Project) -> None:
    project.write(test_it=COMPARED, conftest=SCRIPTED)
    result = project.run("--puma-compare=strategy")
    result.stdout.fnmatch_lines(
        ["best of 2 cells of triage_jira: zero_shot@tiny, f1_macro 0.1, * if corrected for the choice; * ahead of *"]
    )
    assert "best of" not in project.run("--puma-compare=baseline").stdout.str()


@ONE_PROCESS
def test_what_a_gate_limits_is_compared_too(project: Project) -> None:
    project.write(test_compared=COMPARED, conftest=SCRIPTED)
    result = project.run("--puma-compare=strategy", "--puma-gate=accuracy >= 0.1 !warn", "--puma-gate=no_regression")

    result.stdout.fnmatch_lines(["triage_jira-few_shot_3@* f1_macro*bootstrap*", "*accuracy*mcnemar*"])
    contrasts = project.record()["contrasts"]
    assert [each["change"]["metric"] for each in contrasts] == ["f1_macro", "accuracy"]
    assert [each["adjusted"] for each in contrasts] == holm([each["p"] for each in contrasts])


def test_a_baseline_is_compared_where_that_is_asked_for(alone: Project) -> None:
    alone.write(test_compared=COMPARED, conftest=SCRIPTED.replace('"nothing"', '"Major"'))
    alone.run("--puma-update-baseline").assert_outcomes(passed=2)
    alone.write(conftest=SCRIPTED)
    result = alone.run("--puma-compare=baseline")

    result.stdout.fnmatch_lines(["triage_jira-few_shot_3@* the baseline *"])
    assert "comparison" not in alone.run().stdout.str()


def test_a_baseline_of_other_samples_compares_nothing(alone: Project) -> None:
    few = COMPARED.replace("samples=20", "samples=4")
    alone.write(test_compared=few.replace("]", "], gates=['accuracy >= baseline']"), conftest=SCRIPTED)
    alone.run("--puma-update-baseline").assert_outcomes(passed=2)
    result = alone.run("--puma-compare=baseline", "--puma-seed=7")

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "*few_shot_3*",
            "*accuracy *NO BASELINE *>= baseline",
            "nothing to compare by baseline: no cell of this run has a baseline of the same samples;*",
        ]
    )


def test_a_change_that_no_answer_gives_is_a_dash(alone: Project) -> None:
    test = COMPARED.replace("triage_jira", "estimation_tawos")
    alone.write(test_compared=test, conftest=SCRIPTED.replace('"Major" if prompt.count("Title:") == 1 else ', ""))
    result = alone.run("--puma-compare=strategy")

    result.stdout.re_match_lines([r"estimation_tawos-few_shot_3@\S+ +zero_shot +mae +- +0 +0 "])
    assert "nan" not in result.stdout.str()


def test_an_unknown_axis_is_refused(alone: Project) -> None:
    alone.write(test_compared=COMPARED)
    result = alone.run("--puma-compare=models")

    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["ERROR: puma: --puma-compare 'models': expected one of baseline, strategy, model, variant, last, run:RUN"]
    )


def test_where_there_is_nothing_to_compare_the_summary_says_what_is_needed(alone: Project) -> None:
    alone.write(test_compared=COMPARED.replace(', "few_shot_3"', ""), conftest=SCRIPTED)
    result = alone.run("--puma-compare=strategy,model,baseline")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "*= puma: comparison =*",
            "nothing to compare by baseline: no cell * has a baseline *; --puma-update-baseline makes one",
            "nothing to compare by strategy: this run has no two strategies *",
            "nothing to compare by model: this run has no two models *",
        ]
    )
