"""`--puma-judge`: a second model is asked about each reply."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.conftest import ONE_PROCESS, Project
from tests.integration.knowing_model import refused, write_rows
from tests.servers.stub import Stub, answer, serving

#: The model says "Major", or "Critical" about an outage; judges have a temper by name. Each start and each computed
#: reply is a line of a file.
CONFTEST = """
import os
from pytest_puma import rubric
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    def note(file, text):
        with open(file, "a") as lines:
            print(text, file=lines)

    def answer(prompt):
        note("asked.txt", model.name)
        if "Lines that begin with >" not in prompt:
            return "Major"
        if model.name == "moody":
            return "no" if "> Major" in prompt and "crash" in prompt.lower() else "yes"
        return {"kind": "yes", "strict": "no"}[model.name]

    note("opened.txt", model.name)
    return ScriptedBackend(answer, digest="5a" if model.name == "tested" else model.name)

def pytest_puma_metrics():
    return [rubric("calm", "Is the reply calm?"), rubric("brief", "Is the reply brief?")]
"""
BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "few_shot_3"], samples=6, gates=GATES, JUDGE)
def test_triage(puma):
    pass
"""


def write(project: Project, *gates: str, judge: str = "") -> None:
    body = BENCHMARK.replace("GATES", repr([*gates])).replace(", JUDGE", f", judge={judge!r}" if judge else "")
    project.write(conftest=CONFTEST, test_triage=body)


def run(project: Project, *judges: str, options: tuple[str, ...] = ()) -> pytest.RunResult:
    named = [f"--puma-judge={judge}={project.model}" for judge in judges]
    return project.run(f"--puma-model=tested={project.model}", *named, *options, model=False)


def lines(project: Project, name: str) -> list[str]:
    return (project.pytester.path / name).read_text(encoding="utf-8").splitlines()


def newest(project: Project) -> list[dict[str, Any]]:
    folder = max((project.pytester.path / ".puma" / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    outcomes: list[dict[str, Any]] = json.loads((folder / "run.json").read_text(encoding="utf-8"))["outcomes"]
    return outcomes


def value(outcome: dict[str, Any], metric: str) -> Any:
    return outcome["measures"][metric]["value"]


def test_a_judge_is_loaded_once_beside_the_model_and_its_verdicts_are_gated(project: Project) -> None:
    write(project, "judge.calm >= 0.9")
    run(project, "kind").assert_outcomes(passed=2)
    assert sorted(lines(project, "opened.txt")) == ["kind", "tested"]
    first, second = newest(project)
    for outcome in (first, second):
        assert value(outcome, "judge.calm") == 1.0
        assert outcome["signature"]["judge"] == {"backend": "scripted", "weights_sha256": "kind"}
        assert list(outcome["signature"]["rubrics"]) == ["judge.calm"]


def test_another_rubric_generates_nothing_with_the_model(project: Project) -> None:
    write(project, "judge.calm >= 0.9")
    run(project, "kind").assert_outcomes(passed=2)
    (project.pytester.path / "asked.txt").unlink()
    write(project, "judge.brief >= 0.9")
    run(project, "kind").assert_outcomes(passed=2)
    assert set(lines(project, "asked.txt")) == {"kind"}
    (project.pytester.path / "asked.txt").unlink()
    run(project, "kind").assert_outcomes(passed=2)
    assert not (project.pytester.path / "asked.txt").exists()


def test_kept_verdicts_are_read_offline(project: Project) -> None:
    write(project, "judge.calm >= 0.9")
    run(project, "kind").assert_outcomes(passed=2)
    (project.pytester.path / "opened.txt").unlink()
    offline = ("--puma-offline", "--puma-model=tested", "--puma-judge=kind")
    project.run(*offline, model=False).assert_outcomes(passed=2)
    assert not (project.pytester.path / "opened.txt").exists()
    assert [value(outcome, "judge.calm") for outcome in newest(project)] == [1.0, 1.0]


@ONE_PROCESS
def test_the_majority_of_several_judges_counts(project: Project) -> None:
    write(project, "judge.calm >= 0.1")
    run(project, "kind", "strict", "moody").assert_outcomes(passed=2)
    first, _ = newest(project)
    moody = 1 - sum("crash" in str(line["fields"]).lower() for line in project.predictions()[:6]) / 6
    assert value(first, "judge.calm") == pytest.approx(moody)
    assert value(first, "judge.calm.judges_agreement") == pytest.approx(1 / 3)
    assert [engine["weights_sha256"] for engine in first["signature"]["judge"]] == ["kind", "strict", "moody"]


@ONE_PROCESS
def test_a_metric_that_asks_a_judge_is_refused_without_one(project: Project) -> None:
    write(project, "judge.calm >= 0.9")
    text = refused(project)
    assert "triage_jira-zero_shot@" in text
    assert "metric 'judge.calm' asks a judge, and none is named; expected --puma-judge MODEL, the ini key" in text


@ONE_PROCESS
def test_the_marker_and_the_ini_file_name_judges_too(project: Project) -> None:
    write(project, "judge.calm >= 0.9", judge=f"strict={project.model}")
    assert run(project).ret == pytest.ExitCode.TESTS_FAILED
    run(project, "kind").assert_outcomes(passed=2)
    write(project, "judge.calm >= 0.9")
    project.pytester.makeini(f"[pytest]\npuma_naive_baselines = false\npuma_judge = kind={project.model}\n")
    run(project).assert_outcomes(passed=2)
    write(project, "judge.calm >= 0.9", judge="nobody.gguf")
    assert "the judge 'nobody.gguf': no such file" in refused(project)


@ONE_PROCESS
def test_a_wrong_judge_on_the_command_line_is_a_usage_error(project: Project) -> None:
    write(project, "judge.calm >= 0.9")
    result = project.run("--puma-judge=nobody.gguf")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*the judge 'nobody.gguf': no such file*"])


@ONE_PROCESS
def test_a_judge_that_is_the_model_under_test_is_a_warning(project: Project) -> None:
    write(project, "judge.calm >= 0.9")
    project.write(conftest=CONFTEST.replace('digest="5a" if model.name == "tested" else model.name', 'digest="5a"'))
    result = run(project, "kind")
    result.stdout.fnmatch_lines(["*warning: *the judge is the model under test: it may prefer its own replies*"])


@ONE_PROCESS
def test_another_judge_is_a_part_in_which_a_baseline_differs(project: Project) -> None:
    write(project, "judge.calm >= baseline - 0.1")
    run(project, "kind", options=("--puma-update-baseline",)).assert_outcomes(passed=2)
    result = run(project, "strict")
    result.stdout.fnmatch_lines(["*the judge*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


LETTERS = """
import pytest
from pytest_puma import CompletionScenario

class Letters(CompletionScenario):
    name = "letters"
    data = "letters.jsonl"
    key = "id"

    def instruction(self, item):
        return item["complaint"]

    def truth(self, item):
        return None

    scores = ("judge.calm",)

@pytest.mark.puma(Letters, strategies=["zero_shot"], samples=8, gates=["judge.calm >= 0.1"])
def test_letters(puma):
    pass
"""


def letters(project: Project, *labels: str) -> None:
    """People call a reply about a crash calm; the moody judge does not."""
    rows = [
        {
            "id": str(n),
            "complaint": f"A {'crash' if n % 2 else 'typo'} {n}",
            "human_reply": "Major",
            "human_label": label,
        }
        for n, label in enumerate(labels)
    ]
    write_rows(project, "letters.jsonl", *rows)
    project.write(conftest=CONFTEST, test_letters=LETTERS)


@ONE_PROCESS
def test_the_agreement_with_people_is_shown_with_its_interval_and_counts(project: Project) -> None:
    letters(project, "yes", "yes", "yes", "no", "yes", "no", "yes", "")
    result = run(project, "moody")
    line = "*judge.calm.agreement of letters-zero_shot@tested: kappa 0.696* with 7 labels; people-judge: yes-yes 4, "
    result.stdout.fnmatch_lines([f"{line}yes-no 1, no-no 2*"])
    result.stdout.no_fnmatch_line("*never compared with people*")
    (outcome,) = newest(project)
    assert outcome["measures"]["judge.calm.agreement"]["n"] == 7


@ONE_PROCESS
def test_a_gate_on_a_judge_without_labels_is_remarked_or_refused(project: Project) -> None:
    letters(project, *[""] * 8)
    result = run(project, "kind")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*warning: *judge.calm: this judge was never compared with people; label some*"])
    project.pytester.makeini("[pytest]\npuma_naive_baselines = false\npuma_judge_agreement = required\n")
    assert "a gate limits judge.calm, and no sample has a label of people, which the ini key puma_judge_agreement" in (
        refused(project, f"--puma-judge=kind={project.model}")
    )


@ONE_PROCESS
def test_too_many_unreadable_verdicts_fail_a_gate_whatever_its_value(project: Project) -> None:
    letters(project, *[""] * 8)
    short = 'context_limit=1200 if model.name == "kind" else 10**6, digest='
    project.write(conftest=CONFTEST.replace("digest=", short))
    rows = [{"id": str(n), "complaint": "help " * (1 if n else 200)} for n in range(8)]
    write_rows(project, "letters.jsonl", *rows)
    result = run(project, "kind")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*but 12% of the judge's verdicts are unreadable (at most 5% may be)*"])


@ONE_PROCESS
def test_a_server_judges_by_writing_its_verdict(project: Project) -> None:
    def reply(body: Any) -> Any:
        return answer("No, it is not." if "Answer with one of" in body["messages"][-1]["content"] else "It is short.")

    write(project, "judge.calm <= 0.1")
    with serving(Stub(reply=reply)) as stub:
        result = project.run(
            f"--puma-model=tested={project.model}", f"--puma-judge=server:far={stub.url},model=tiny", model=False
        )
        result.assert_outcomes(passed=2)
        assert len(stub.asked) == 24, "reasons and a verdict for each of six replies of two cells"
    first, _ = newest(project)
    assert (value(first, "judge.calm"), value(first, "judge.calm.unreadable_rate")) == (0.0, 0.0)
    assert first["signature"]["judge"]["server_model"] == "tiny"
