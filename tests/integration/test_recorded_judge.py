"""`--puma-judge recorded:NAME=FILE`: verdicts that somebody else gave."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.conftest import ONE_PROCESS, Project
from tests.integration.judging import CONFTEST, newest, run, value, write

JUDGE = "--puma-judge=recorded:people=verdicts.jsonl"


def recorded(project: Project, **changes: Any) -> None:
    """Run once with a judge that is kind, and write verdicts about its replies: two of six are not calm."""
    write(project, "judge.calm >= 0.1")
    run(project, "kind").assert_outcomes(passed=2)
    replies = sorted({(line["sample_id"], line["raw"][-1]) for line in project.predictions()})
    assert len(replies) == 6, "those of both cells"
    lines = [
        {"metric": "judge.calm", "id": sample, "reply": reply, "verdict": "no" if row < 2 else "yes"} | changes
        for row, (sample, reply) in enumerate(replies)
    ]
    (project.pytester.path / "verdicts.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")


@ONE_PROCESS
def test_recorded_verdicts_judge_the_replies_that_they_are_about(project: Project) -> None:
    recorded(project)
    result = run(project, options=(JUDGE,))
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["judged by verdicts.jsonl: judge.calm"])
    first, second = newest(project)
    assert value(first, "judge.calm") == value(second, "judge.calm") == pytest.approx(2 / 3)
    assert list(first["signature"]["judge"]) == ["answers", "answers_sha256"]


@ONE_PROCESS
def test_a_reply_without_a_verdict_is_an_error_of_its_test(project: Project) -> None:
    recorded(project)
    project.write(conftest=CONFTEST.replace('return "Major"', 'return "Minor"'))
    result = run(project, options=(JUDGE, "--puma-store=fresh"))
    result.assert_outcomes(errors=2)
    problem = "no verdict of judge.calm about the reply 'Minor' to sample * (and 5 more); line * is about another reply"
    result.stdout.fnmatch_lines([f"*recorded:people=verdicts.jsonl: {problem}; expected a line*"])


@ONE_PROCESS
def test_a_fault_of_the_file_is_reported_before_anything_runs(project: Project) -> None:
    recorded(project, verdict=5)
    (project.pytester.path / "opened.txt").unlink()
    result = run(project, options=(JUDGE,))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    problem = "recorded:people=verdicts.jsonl: line 1: has the verdict 5; expected a text, null, or a list of them"
    result.stderr.fnmatch_lines([f"*ERROR: puma: the judge {problem}*"])
    assert not (project.pytester.path / "opened.txt").exists()


@ONE_PROCESS
def test_a_plan_forecasts_the_judges_of_recorded_answers(project: Project) -> None:
    recorded(project)
    answers = {line["sample_id"]: {"id": line["sample_id"], "text": line["raw"][-1]} for line in project.predictions()}
    (project.pytester.path / "answers.jsonl").write_text("\n".join(map(json.dumps, answers.values())), encoding="utf-8")
    project.write(conftest=CONFTEST.replace("def pytest_puma_backend", "def unused"))
    options = ("--puma-plan", "--puma-store=fresh", "--puma-model=recorded:bot=answers.jsonl", JUDGE)
    result = project.run(*options, f"--puma-judge=kind={project.model}", model=False)
    result.stdout.re_match_lines(
        [
            "nothing is computed for 2 of 2 cells: their answers are read",
            r"judge: people will judge 2 of 2 cells by judge.calm: 12 verdicts; its minutes are unknown",
            r"judge: kind will judge 2 of 2 cells by judge.calm: 12 verdicts; at most \d+\.\d minutes",
            r"memory: about [\d,]+ MB with kind: \d+ MB of weights, \d+ MB of caches and buffers, [\d,]+ MB of .*",
        ]
    )
    result.stdout.no_fnmatch_line("*cache MB*")
    result = project.run(*options, model=False)
    result.stdout.fnmatch_lines(
        ["judge: people will judge 2 of 2 cells by judge.calm: an unknown number of verdicts; *"]
    )
