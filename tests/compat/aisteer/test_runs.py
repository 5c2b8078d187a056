"""A use case in runs of pytest: gates, kept answers, workers, its own export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.compat.aisteer import places
from tests.integration.conftest import INI, Project

TEST = """
import pytest
from pytest_puma.compat.aisteer import MCQAAccuracy, MCQAPositionalBias
from places import ROWS, PlacesQuiz

quiz = PlacesQuiz(ROWS, [MCQAAccuracy(), MCQAPositionalBias()], num_orders=6)

@pytest.mark.puma(quiz, gates=["MCQAAccuracy.question_mean >= 0.9", "MCQAPositionalBias.mean <= 0.3"])
def test_places(puma):
    quiz.export(quiz.profiles(puma), ".")
"""
#: It knows that bread is baked; to other questions it answers A.
ANSWERS = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    def answer(prompt):
        return next((line[0] for line in prompt.splitlines() if line[3:] == "bread"), "A")
    return ScriptedBackend(answer, digest="9" * 64)
"""


@pytest.fixture
def project(pytester: pytest.Pytester, gguf: Path) -> Project:
    pytester.makeini(INI)
    project = Project(pytester, gguf, 0)
    project.write(places=Path(places.__file__).read_text(encoding="utf-8"), test_places=TEST, conftest=ANSWERS)
    return project


def test_gates_limit_its_metrics_and_export_has_the_generations(project: Project) -> None:
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*MCQAAccuracy.question_mean *FAIL*>= 0.9*", "*MCQAPositionalBias.mean *PASS*"])
    (run,) = json.loads((project.pytester.path / "profiles.json").read_text(encoding="utf-8"))["tiny"]
    assert len(run["generations"]) == 18
    measures = project.record()["outcomes"][0]["measures"]
    assert run["evaluations"]["MCQAAccuracy"]["trial_mean"] == measures["MCQAAccuracy.trial_mean"]["value"]


def test_its_answers_are_kept_and_judged_by_other_gates(project: Project) -> None:
    project.run()
    project.write(test_places=TEST.replace(">= 0.9", ">= 0.1"))
    result = project.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*all 18 of 1 cell*"])


def test_a_baseline_of_its_metrics_is_kept(project: Project) -> None:
    project.write(test_places=TEST.replace("question_mean >= 0.9", "trial_mean >= baseline - 0.1"))
    project.run("--puma-update-baseline").assert_outcomes(passed=1)
    project.run().stdout.fnmatch_lines(["*MCQAAccuracy.trial_mean *0.444* PASS*", "*>= baseline - 0.1*"])


def test_workers_measure_the_same(project: Project) -> None:
    result = Project(project.pytester, project.model, 2).run("--puma-gate=MCQAAccuracy.trial_mean >= 0.3")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*MCQAAccuracy.trial_mean *PASS*"])


def test_a_key_that_no_metric_has_is_a_collection_error(project: Project) -> None:
    result = project.run("--puma-gate=MCQAAccuracy.mean >= 0.3")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*MCQAAccuracy.mean*"])
