"""`--puma-rescore`, as its user sees it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

from tests.integration.benchmark_files import LABELS, NO_ENGINE, REPEATED, TASKS, TIMED, TRIAGE, data_of
from tests.integration.conftest import ONE_PROCESS, Project
from tests.integration.past_runs import earlier, lines_of, measures_of

#: A scenario, to which a metric and another parser come after the run.
OWN = """
import pytest
from pytest_puma import metric
from pytest_puma.scenarios import TriageJiraScenario

@metric()
def short(sample, prediction):
    return len(prediction.text) < 10

class Own(TriageJiraScenario):
    name = "own"
    template_folder = "triage_jira"
    {changes}

@pytest.mark.puma(Own, strategies=["zero_shot"], samples=8)
def test_triage(puma):
    pass
"""

CHANGES = """scores = (short,)

    def parse_response(self, response):
        return "Critical"
"""

NO_MODEL = """
def pytest_puma_backend(model):
    raise AssertionError("a model is opened")
"""


@pytest.mark.parametrize("benchmarks", [LABELS, REPEATED, TASKS], ids=["labels", "repeats", "choices_and_texts"])
def test_a_rescored_run_is_the_run_itself(project: Project, benchmarks: str) -> None:
    data_of(project)
    project.write(test_benchmarks=benchmarks)
    project.run("--puma-max-tokens=8").assert_outcomes(passed=len(project.cell_ids()))
    before = earlier(project)

    result = project.run(f"--puma-rescore={before}", model=False)

    result.assert_outcomes(passed=len(project.cell_ids()))
    assert lines_of(project.folder) == lines_of(before)
    assert measures_of(project.folder) == measures_of(before)
    assert project.record()["rescored_from"] == before.name


@ONE_PROCESS
def test_plain_text_prompts_are_those_of_the_run(project: Project) -> None:
    data_of(project)
    project.write(test_benchmarks=TASKS)
    project.run(f"--puma-model=base={project.model},chat=off", model=False).assert_outcomes(passed=5)
    before = earlier(project)
    project.run(f"--puma-rescore={before}", model=False).assert_outcomes(passed=5)
    assert lines_of(project.folder) == lines_of(before)


def test_a_rescored_run_can_be_rescored(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    alone.run(model=False).assert_outcomes(passed=1)
    first = earlier(alone)
    alone.run(f"--puma-rescore={first}", model=False).assert_outcomes(passed=1)
    second = earlier(alone)
    alone.run(f"--puma-rescore={second / 'run.json'}", model=False).assert_outcomes(passed=1)
    assert lines_of(alone.folder) == lines_of(first)


def test_the_run_is_named_as_in_the_list_of_runs(project: Project) -> None:
    project.write(test_triage=TRIAGE)
    project.run(model=False).assert_outcomes(passed=1)
    first = project.folder
    project.run(model=False).assert_outcomes(passed=1)
    (second,) = set(first.parent.iterdir()) - {first}
    for argument in ("1", "last~1"):
        project.run(f"--puma-rescore={argument}", model=False).assert_outcomes(passed=1)
        (rescored,) = set(first.parent.iterdir()) - {first, second}
        assert json.loads((rescored / "run.json").read_text(encoding="utf-8"))["rescored_from"] == first.name
        shutil.rmtree(rescored)


def test_the_run_is_named_by_its_folder_or_is_the_last_one(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    alone.run(model=False).assert_outcomes(passed=1)
    name = alone.folder.name
    for argument in (name, "last"):
        result = alone.run(f"--puma-rescore={argument}", model=False)
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(
            [
                "puma: rescored from the run *: 1 of its 1 cells; no model is loaded",
                "rescored from: the answers of the run *",
            ]
        )
    runs = sorted((alone.pytester.path / ".puma" / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    records = [json.loads((run / "run.json").read_text(encoding="utf-8")) for run in runs]
    assert [record["rescored_from"] for record in records] == [None, name, runs[1].name]


@pytest.mark.usefixtures("cold")
def test_no_model_is_opened_and_llama_cpp_is_not_imported(project: Project) -> None:
    weights = project.pytester.path / "gone.gguf"
    shutil.copy(project.model, weights)
    project.write(test_triage=TRIAGE.replace("accuracy >= 0.1", "accuracy >= 0"))
    replace(project, workers=0).run(f"--puma-model={weights}", model=False).assert_outcomes(passed=1)
    weights.unlink()
    project.write(conftest=NO_ENGINE)

    # One worker: each process takes seconds to start cold.
    result = project.pytester.runpytest_subprocess("--puma-rescore=last", *(["-n1"] if project.workers else []))

    result.assert_outcomes(passed=1)
    assert result.ret == 0


def test_metrics_parsers_and_gates_are_those_of_today(alone: Project) -> None:
    alone.write(test_triage=OWN.format(changes=""))
    alone.run(model=False).assert_outcomes(passed=1)
    before = earlier(alone)
    alone.write(test_triage=OWN.format(changes=CHANGES), conftest=NO_MODEL)
    gates = ("--puma-gate=short >= 0.5", "--puma-gate=accuracy >= 0.9")

    result = alone.run(f"--puma-rescore={before}", *gates, model=False)

    result.assert_outcomes(failed=1)
    (outcome,) = alone.record()["outcomes"]
    assert outcome["measures"]["short"]["value"] == 1.0
    assert {line["answer"] for line in alone.predictions()} == {"Critical"}
    assert {each["gate"]["metric"]: each["status"] for each in outcome["verdicts"]} == {
        "accuracy": "FAIL",
        "short": "PASS",
    }


def test_timed_gates_are_not_run(alone: Project) -> None:
    alone.write(test_triage=TIMED)
    alone.run(model=False).assert_outcomes(failed=1)
    before = earlier(alone)
    result = alone.run(f"--puma-rescore={before}", model=False)
    result.assert_outcomes(passed=1)
    (outcome,) = alone.record()["outcomes"]
    reason = f"latency_mean is that of the run {before.name}: nothing is timed when its answers are read"
    assert [(each["status"], each["reason"]) for each in outcome["verdicts"][1:]] == [("NOT RUN", reason)]
    assert "latency_mean" not in outcome["measures"]
    assert not any(outcome["speed"].values())


def test_answers_of_an_interrupted_run_can_be_rescored(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    alone.run(model=False).assert_outcomes(passed=1)
    before = earlier(alone)
    (before / "run.json").unlink()
    alone.run(f"--puma-rescore={before}", model=False).assert_outcomes(passed=1)


def test_a_rescored_run_makes_a_baseline_and_is_compared_with_one(alone: Project) -> None:
    gates = "--puma-gate=accuracy >= baseline - 0.02"
    alone.write(test_triage=TRIAGE)
    alone.run(gates, "--puma-samples=50", model=False).assert_outcomes(passed=1)
    before = earlier(alone)
    alone.run(f"--puma-rescore={before}", "--puma-update-baseline", model=False).assert_outcomes(passed=1)
    earlier(alone)
    result = alone.run(f"--puma-rescore={before}", gates, "--puma-compare=baseline", "--puma-flips", model=False)
    result.assert_outcomes(passed=1)
    (outcome,) = alone.record()["outcomes"]
    verdict = outcome["verdicts"][-1]
    assert (verdict["gate"]["other"], verdict["status"]) == ("baseline", "PASS")
    assert "changed since" not in verdict["reason"]
