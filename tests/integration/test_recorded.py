"""`--puma-model recorded:NAME=FILE`, as its user sees it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import INI, Project

TRIAGE = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=8, gates=["accuracy >= 0.9"])
def test_triage(puma):
    pass
"""

NO_ENGINE = """
import sys

def pytest_sessionfinish(session):
    loaded = [name for name in ("llama_cpp", "pytest_puma.engine.native") if name in sys.modules]
    assert not loaded, loaded
"""


def write_answers(project: Project, *more: dict[str, Any]) -> None:
    """The gold label of each sample of `TRIAGE`, taken from a run, whose folder is gone then."""
    import shutil

    project.run(model=False).assert_outcomes(failed=1)
    lines = [{"id": line["sample_id"], "text": line["gold"]} for line in project.predictions()]
    content = "".join(f"{json.dumps(line)}\n" for line in [*lines, *more])
    (project.pytester.path / "answers.jsonl").write_text(content, encoding="utf-8")
    shutil.rmtree(project.pytester.path / ".puma")


def test_recorded_answers_are_compared_with_those_of_a_model(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    write_answers(alone)
    models = ("--puma-model=recorded:gpt4=answers.jsonl", f"--puma-model={alone.model}")

    result = alone.run(*models, "--puma-compare=model", "--puma-report=md:report.md", model=False)

    result.assert_outcomes(passed=1, failed=1)
    assert alone.cell_ids() == ["triage_jira-zero_shot@gpt4", "triage_jira-zero_shot@tiny"]
    record = alone.record()
    assert [each["measures"]["accuracy"]["value"] for each in record["outcomes"]] == [1.0, 0.25]
    assert {(each["cell"], each["against"]) for each in record["contrasts"]} == {
        ("triage_jira-zero_shot@tiny", "triage_jira-zero_shot@gpt4")
    }
    assert "gpt4" in (alone.pytester.path / "report.md").read_text(encoding="utf-8")


def test_answers_that_are_not_used_are_said_in_the_report(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    write_answers(alone, {"id": "T-1", "text": "Major"})
    result = alone.run("--puma-model=recorded:gpt4=answers.jsonl", model=False)
    result.assert_outcomes(passed=1)
    sentence = "1 of the 9 answers in answers.jsonl are not used: line 9 ('T-1')"
    result.stdout.fnmatch_lines([f"warning: triage_jira-zero_shot@gpt4: {sentence}"])
    (outcome,) = alone.record()["outcomes"]
    assert f"triage_jira-zero_shot@gpt4: {sentence}" in outcome["warnings"]


def test_a_sample_without_an_answer_is_an_error_of_its_test(scripted: Project) -> None:
    scripted.write(test_triage=TRIAGE)
    write_answers(scripted)
    result = scripted.run("--puma-model=recorded:gpt4=answers.jsonl", "--puma-samples=9", model=False)
    result.assert_outcomes(errors=1)
    problem = "sample '*' of triage_jira-zero_shot@gpt4 has no answer; expected a line with its id or its prompt"
    result.stdout.fnmatch_lines([f"*recorded:gpt4=answers.jsonl: {problem}*"])


def test_a_fault_of_the_file_is_reported_before_anything_runs(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    (alone.pytester.path / "answers.jsonl").write_text('{"id": "a", "text": 5}\n', encoding="utf-8")
    result = alone.run("--puma-model=recorded:gpt4=answers.jsonl", model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    problem = (
        "recorded:gpt4=answers.jsonl: line 1: text has a number; expected a text, or a list with one for each trial"
    )
    result.stderr.fnmatch_lines([f"ERROR: puma: --puma-model {problem} of the sample"])


def test_the_ini_file_may_name_a_file_of_answers(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    write_answers(alone)
    alone.pytester.makeini(f"{INI}puma_models =\n    recorded:gpt4=answers.jsonl\n")
    alone.run(model=False).assert_outcomes(passed=1)
    assert alone.cell_ids() == ["triage_jira-zero_shot@gpt4"]


@pytest.mark.usefixtures("cold")
def test_recorded_answers_need_no_llama_cpp(scripted: Project) -> None:
    scripted.write(test_triage=TRIAGE)
    write_answers(replace(scripted, workers=0))
    scripted.write(conftest=NO_ENGINE)
    settings = ("--puma-strict", "--puma-threads=1")
    # Each process takes seconds to start cold: one worker, and with it the settings alone.
    for options in ((*settings, "-n1"),) if scripted.workers else (("-n0",), (*settings, "-n0")):
        arguments = ("--puma-model=recorded:gpt4=answers.jsonl", *options)
        result = scripted.pytester.runpytest_subprocess(*arguments)
        result.assert_outcomes(passed=1)
        assert result.ret == 0


def test_a_run_on_recorded_answers_can_be_rescored_and_made_a_baseline(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    write_answers(alone)
    gates = ("--puma-gate=accuracy >= baseline - 0.02", "--puma-gate=tokens_decoded_mean <= 5")
    argument = "--puma-model=recorded:gpt4=answers.jsonl"
    alone.run(argument, "--puma-update-baseline", model=False).assert_outcomes(passed=1)
    (alone.pytester.path / "answers.jsonl").unlink()
    alone.run("--puma-rescore=last", *gates, model=False).assert_outcomes(passed=1)
    newest = max((alone.pytester.path / ".puma" / "runs").iterdir(), key=_changed)
    (outcome,) = json.loads((newest / "run.json").read_text(encoding="utf-8"))["outcomes"]
    verdicts = {each["gate"]["metric"]: (each["status"], each["reason"]) for each in outcome["verdicts"][1:]}
    assert verdicts["accuracy"][0] == "PASS"
    assert "changed since" not in verdicts["accuracy"][1]
    reason = "tokens_decoded_mean is unknown: a file of answers has no numbers of tokens"
    assert verdicts["tokens_decoded_mean"] == ("NOT RUN", reason)


def test_other_answers_are_named_as_a_change_of_the_model(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    write_answers(alone)
    argument = "--puma-model=recorded:gpt4=answers.jsonl"
    alone.run(argument, "--puma-update-baseline", model=False).assert_outcomes(passed=1)
    file = alone.pytester.path / "answers.jsonl"
    file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    result = alone.run(argument, "--puma-gate=accuracy >= baseline + 0.5", model=False)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*accuracy stayed the same*; changed since: the model*"])


def test_determinism_is_checked_for_models_alone(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    write_answers(alone)
    models = ("--puma-model=recorded:gpt4=answers.jsonl", f"--puma-model={alone.model}")
    alone.run(*models, "--puma-determinism=2", model=False).assert_outcomes(passed=1, failed=1)
    checked = {each["model"]: each["determinism"] for each in alone.record()["outcomes"]}
    assert checked["gpt4"] is None
    assert checked["tiny"]["samples"] == 2


def test_a_plan_leaves_recorded_answers_out(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    write_answers(alone)
    models = ("--puma-model=recorded:gpt4=answers.jsonl", f"--puma-model={alone.model}")
    result = alone.run(*models, "--puma-plan", model=False)
    assert result.ret == 0
    output = result.stdout.str()
    assert "tiny" in output
    assert "gpt4" not in output.partition("puma: plan")[2]


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns
