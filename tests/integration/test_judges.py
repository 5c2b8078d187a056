"""`--puma-judge`: a second model is asked about each reply."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.integration.conftest import ONE_PROCESS, Project
from tests.integration.judging import CONFTEST, lines, newest, run, value, write
from tests.integration.knowing_model import refused
from tests.report.page.page import Page
from tests.servers.stub import Stub, answer, serving

#: A plan asks no server.
UNASKED = "http://127.0.0.1:9/v1"


def test_a_judge_is_loaded_once_beside_the_model_and_its_verdicts_are_gated(project: Project) -> None:
    write(project, "judge.calm >= 0.9")
    result = run(project, "kind")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["judged by the weights kind: judge.calm"])
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
    result = run(project, "kind")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["kept answers: all 12 of 2 cells, from run *"])
    result.stdout.no_fnmatch_line("kept answers of judges: *")
    assert set(lines(project, "asked.txt")) == {"kind"}
    (project.pytester.path / "asked.txt").unlink()
    result = run(project, "kind", options=("--puma-report=md:r.md", "--puma-report=html:r.html"))
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["kept answers of judges: all 24 of 2 cells, from run *"])
    for report in ("r.md", "r.html"):
        text = (project.pytester.path / report).read_text(encoding="utf-8")
        assert "kept answers of judges: all 24 of 2 cells, from run " in text
    cells = Page(text).index["cells"]
    assert all("; of the judge: all 12 answers kept from run " in cell["kept"] for cell in cells)
    assert [outcome["kept_of_judges"]["kept"] for outcome in newest(project)] == [12, 12]
    assert not (project.pytester.path / "asked.txt").exists()


@ONE_PROCESS
def test_kept_verdicts_of_one_of_two_judges_are_a_part(project: Project) -> None:
    write(project, "judge.calm >= 0.1")
    run(project, "kind").assert_outcomes(passed=2)
    run(project, "kind", "strict").stdout.fnmatch_lines(["kept answers of judges: 24 of 48 in 2 cells, from run *"])


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
def test_a_run_spec_names_judges_as_a_marker_does(project: Project) -> None:
    project.write(conftest=CONFTEST)
    spec = (project.pytester.path / "calm.puma.yaml").write_text
    text = "scenario: triage_jira\nadaptation: {strategy: zero_shot}\nsample_size: 6\ngates: judge.calm >= 0.9\n"
    spec(text, encoding="utf-8")
    assert "metric 'judge.calm' asks a judge, and none is named; expected --puma-judge MODEL" in refused(project)
    spec(f"{text}judge: [strict={project.model}, kind={project.model}]\n", encoding="utf-8")
    assert run(project).ret == pytest.ExitCode.TESTS_FAILED
    (outcome,) = newest(project)
    assert [engine["weights_sha256"] for engine in outcome["signature"]["judge"]] == ["strict", "kind"]
    run(project, "kind").assert_outcomes(passed=1)
    spec(f"{text}judge: nobody.gguf\n", encoding="utf-8")
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


@ONE_PROCESS
def test_verdicts_of_a_server_that_state_no_answer_fail_the_gate(project: Project) -> None:
    write(project, "judge.calm >= 0")
    with serving(Stub(reply=lambda _: answer("Yes and no, I would say."))) as stub:
        judge = f"--puma-judge=server:far={stub.url},model=tiny"
        result = project.run(f"--puma-model=tested={project.model}", judge, model=False)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*but 100% of the judge's verdicts are unreadable (at most 5% may be)*"])
    assert {value(outcome, "judge.calm.unreadable_rate") for outcome in newest(project)} == {1.0}


@ONE_PROCESS
def test_the_plan_forecasts_the_verdicts_minutes_and_memory_of_judges(project: Project) -> None:
    write(project, "judge.calm >= 0.9")
    project.write(conftest=CONFTEST.replace("def pytest_puma_backend", "def unused"))
    options = ("--puma-plan", f"--puma-judge=kind={project.model}", f"--puma-judge=server:far={UNASKED},model=m")
    result = project.run(*options)
    result.stdout.re_match_lines(
        [
            r"minutes: kind read [\d,]+ and wrote [\d,]+ tokens a second in a trial of two seconds; at most, .*",
            r"judge: kind will judge 2 of 2 cells by judge.calm: 12 verdicts; at most \d+\.\d minutes",
            r"judge: far will judge 2 of 2 cells by judge.calm: 12 verdicts; its minutes are unknown",
            r"memory: about \d+ MB with tiny and kind beside it: \d+ MB of weights and \d+ MB of caches .* more; .*",
        ]
    )
    first, beside = (int(line.split()[2]) for line in result.outlines if line.startswith("memory: about "))
    assert beside > first


@ONE_PROCESS
def test_a_plan_takes_kept_verdicts_and_needs_no_cache_for_them(project: Project) -> None:
    write(project, "judge.calm >= 0")
    real = CONFTEST.replace("def pytest_puma_backend", "def unused")
    project.write(conftest=real.replace('calm?")', 'calm?", reasons=0)'))
    options = ("-k", "zero_shot", f"--puma-judge=kind={project.model}")
    for caches in ("[1-9]*", "0"):
        result = project.run("--puma-plan", *options)
        result.stdout.fnmatch_lines(
            [
                "judge: kind will judge 1 of 1 cells by judge.calm: 6 verdicts; at most 0.0 minutes",
                f"memory: * and kind beside it: * MB of weights and {caches} MB of caches and buffers more; *",
            ]
        )
        project.run(*options).assert_outcomes(passed=1, deselected=1)


@ONE_PROCESS
def test_a_model_is_freed_before_a_judge_that_does_not_fit_beside_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=0))
    noting = """
class Noting(ScriptedBackend):
    def close(self):
        with open("opened.txt", "a") as file:
            print("closed", self.signature["weights_sha256"], file=file)
"""
    write(project, "judge.calm >= 0.9")
    project.write(conftest=CONFTEST.replace("return ScriptedBackend(", "return Noting(") + noting)
    run(project, "kind").assert_outcomes(passed=2)
    assert lines(project, "opened.txt")[:3] == ["tested", "closed 5a", "kind"]
    assert lines(project, "opened.txt").count("kind") == 1
    assert [value(outcome, "judge.calm") for outcome in newest(project)] == [1.0, 1.0]
