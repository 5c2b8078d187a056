"""StoreShare answers, as the user of a benchmark sees them."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.integration.benchmark_files import LABELS, NO_ENGINE, TASKS, TIMED, TRIAGE, data_of
from tests.integration.conftest import INI, ONE_PROCESS, Project
from tests.prediction_lines import prediction_lines

#: A scripted model whose answers are kept, and which names its computed prompts.
KEPT = """
from pathlib import Path
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    def answer(prompt):
        with Path("computed.txt").open("a") as stream:
            stream.write("x")
        return "Critical" if "login" in prompt else "Major"

    return ScriptedBackend(answer, digest="5a")
"""


def newest(project: Project) -> dict[str, Any]:
    """`run.json` of the last of several runs."""
    path = max((project.pytester.path / ".puma" / "runs").glob("*/run.json"), key=lambda path: path.stat().st_mtime_ns)
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


def lines_of(run: dict[str, Any], project: Project) -> list[dict[str, Any]]:
    """The predictions of a run, without what depends on the clock."""
    path = project.pytester.path / ".puma" / "runs" / run["id"] / "predictions.jsonl"
    return sorted(prediction_lines(path), key=lambda each: (each["cell"], each["sample_id"], each["trial"]))


def kept_of(run: dict[str, Any]) -> dict[str, Any]:
    return {each["strategy"] + (each["perturbation"] or ""): each["kept"] for each in run["outcomes"]}


def rows(project: Project, query: str = "SELECT count(*) FROM response") -> Any:
    connection = sqlite3.connect(project.pytester.path / ".puma" / "responses.sqlite")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize("benchmarks", [LABELS, TASKS], ids=["labels", "choices_and_texts"])
def test_a_second_run_computes_nothing_and_answers_the_same(project: Project, benchmarks: str) -> None:
    data_of(project)
    project.write(test_benchmarks=benchmarks)
    first = project.run("--puma-max-tokens=8")
    cells = len(project.cell_ids())
    first.assert_outcomes(passed=cells)
    assert "kept answers" not in first.stdout.str()
    before = newest(project)

    second = project.run("--puma-max-tokens=8", "--puma-report=md:report.md")

    second.assert_outcomes(passed=cells)
    after = newest(project)
    (answers,) = rows(project)[0]
    line = f"kept answers: all {answers} of {cells} cells, from run {before['id']}"
    second.stdout.fnmatch_lines([line])
    assert line in (project.pytester.path / "report.md").read_text(encoding="utf-8").replace("`", "").replace("\\", "")
    assert {each["together"] for each in kept_of(after).values()} == {True}
    assert not any(each["speed"]["prefill_tokens"] for each in after["outcomes"])
    assert lines_of(after, project) == lines_of(before, project)


def test_any_number_of_workers_resumes_any_other(project: Project) -> None:
    project.write(conftest=KEPT, test_triage=LABELS)
    Project(project.pytester, project.model, 2 - project.workers).run().assert_outcomes(passed=10)
    computed = project.pytester.path / "computed.txt"
    computed.write_text("")
    result = project.run()
    result.assert_outcomes(passed=10)
    assert computed.read_text() == ""
    result.stdout.fnmatch_lines(["kept answers: all * of 10 cells, from run *"])


@ONE_PROCESS
def test_more_samples_are_a_mixture_that_every_report_tells(project: Project) -> None:
    project.write(conftest=KEPT, test_triage=TRIAGE)
    project.run("--puma-samples=8")
    result = project.run("--puma-samples=12", "--puma-report=md:report.md")
    name = newest(project)["outcomes"][0]["kept"]["runs"][0]
    sentence = f"8 of 12 answers kept from run {name}; the rest computed without them"
    result.stdout.fnmatch_lines(
        [f"warning: triage_jira-zero_shot@tiny: {sentence}", f"kept answers: 8 of 12 in 1 cell, from run {name}"]
    )
    assert "8 of 12 answers kept" in (project.pytester.path / "report.md").read_text(encoding="utf-8")
    assert (project.pytester.path / "computed.txt").read_text() == "x" * (8 + 4)


@ONE_PROCESS
def test_a_timed_gate_on_kept_answers_is_not_run(project: Project) -> None:
    project.write(conftest=KEPT, test_triage=TIMED)
    project.run().assert_outcomes(failed=1)
    result = project.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*latency_mean*-*NOT RUN*", "not run: *latency_mean is not measured: some answers*"])
    project.run("--puma-store=fresh").assert_outcomes(failed=1)


@ONE_PROCESS
def test_without_a_store_there_is_no_file(project: Project) -> None:
    project.write(conftest=KEPT, test_triage=TRIAGE)
    project.pytester.makeini(INI + "puma_store = off\n")
    project.run().assert_outcomes(passed=1)
    assert not (project.pytester.path / ".puma" / "responses.sqlite").exists()
    project.run("--puma-store=mix").assert_outcomes(passed=1)
    assert rows(project) == [(8,)]


@ONE_PROCESS
def test_the_file_may_lie_elsewhere(project: Project) -> None:
    project.write(conftest=KEPT, test_triage=TRIAGE)
    project.pytester.makeini(INI + "puma_store_path = answers/kept.sqlite\n")
    project.run().assert_outcomes(passed=1)
    assert (project.pytester.path / "answers" / "kept.sqlite").exists()
    assert not (project.pytester.path / ".puma" / "responses.sqlite").exists()


@pytest.mark.usefixtures("cold")
def test_offline_needs_no_model_and_no_llama_cpp(project: Project, tmp_path: Path) -> None:
    model = Path(shutil.copy(project.model, tmp_path / "gone.gguf"))
    project.write(test_triage=LABELS.replace('"few_shot_3", "egi", "self_consistency_3", ', ""))
    one_process = Project(project.pytester, model, 0)
    one_process.run("--puma-max-tokens=8").assert_outcomes(passed=4)
    before = newest(project)
    model.unlink()
    arguments = ("--puma-offline", "--puma-max-tokens=8", "--puma-gate=accuracy >= 0.99")

    def check(result: pytest.RunResult) -> None:
        # The gates of perturbed cells are those of their own.
        result.assert_outcomes(failed=2, passed=2)
        result.stdout.fnmatch_lines(["kept answers: all * of 4 cells*"])
        assert lines_of(newest(project), project) == lines_of(before, project)

    for name in () if project.workers else ("gone.gguf", str(model)):
        check(one_process.run(f"--puma-model={name}", *arguments, model=False))
    project.write(conftest=NO_ENGINE)
    # One worker: each process takes seconds to start cold.
    workers = "-n1" if project.workers else "-pno:xdist"
    check(project.pytester.runpytest_subprocess("--puma-model=gone", *arguments, workers))


@ONE_PROCESS
def test_offline_tells_what_is_missing_and_why(project: Project) -> None:
    project.write(conftest=KEPT, test_triage=TRIAGE)
    project.run("--puma-samples=8").assert_outcomes(passed=1)
    result = project.run("--puma-model=tiny", "--puma-offline", "--puma-samples=12", model=False)
    result.assert_outcomes(errors=1)
    problem = "4 of 12 answers are not kept: the number of samples was 8 and is 12; run it without --puma-offline"
    result.stdout.fnmatch_lines([f"*--puma-offline: triage_jira-zero_shot@tiny: {problem}"])
    unknown = project.run("--puma-model=q", "--puma-offline", model=False)
    unknown.stderr.fnmatch_lines(["*--puma-model 'q': no answers of q are kept (there are answers of tiny)*"])


@ONE_PROCESS
def test_offline_knows_a_file_that_answered_under_another_name(project: Project) -> None:
    project.write(test_triage=TRIAGE)
    first = project.run(f"--puma-model=first={project.model}", model=False)
    again = project.run(f"--puma-model=second={project.model}", "--puma-offline", model=False)
    assert again.parseoutcomes() == first.parseoutcomes()
    again.stdout.fnmatch_lines(["kept answers: all 8 of 1 cell*"])


def test_what_the_samples_of_flips_need_is_read_from_the_store(project: Project) -> None:
    folder = project.pytester.mkdir("benchmarks")
    (folder / "test_triage.py").write_text(TRIAGE, encoding="utf-8")
    project.write(conftest=KEPT)
    project.run("benchmarks", "--puma-update-baseline").assert_outcomes(passed=1)
    project.write(conftest=KEPT.replace('"Critical" if "login" in prompt else "Major"', '"Minor"').replace("5a", "5b"))
    project.run("benchmarks", "--puma-flips")
    computed = project.pytester.path / "computed.txt"
    computed.write_text("")
    project.run("benchmarks", "--puma-only-flips")
    assert computed.read_text() == ""


@ONE_PROCESS
def test_a_baseline_of_kept_answers_is_that_of_the_answers(project: Project) -> None:
    folder = project.pytester.mkdir("benchmarks")
    (folder / "test_triage.py").write_text(TRIAGE, encoding="utf-8")
    project.write(conftest=KEPT)
    made = []
    for _ in range(2):
        project.run("benchmarks", "--puma-update-baseline").assert_outcomes(passed=1)
        made.append({path.name: path.read_bytes() for path in (folder / "baselines").iterdir()})
    assert made[0] == made[1]
    assert b'"kept"' not in made[0]["triage_jira.json"]


@ONE_PROCESS
def test_a_new_baseline_notes_that_its_answers_were_kept(project: Project) -> None:
    folder = project.pytester.mkdir("benchmarks")
    (folder / "test_triage.py").write_text(TRIAGE, encoding="utf-8")
    project.write(conftest=KEPT)
    project.run("benchmarks").assert_outcomes(passed=1)
    name = newest(project)["id"]
    project.run("benchmarks", "--puma-update-baseline").assert_outcomes(passed=1)
    (head,) = json.loads((folder / "baselines" / "triage_jira.json").read_text(encoding="utf-8"))["cells"].values()
    assert head["kept"] == f"all 8 answers kept from run {name}"


def test_a_stopped_cell_goes_on_in_a_full_run(alone: Project) -> None:
    alone.write(conftest=KEPT, test_triage=TRIAGE.replace("samples=8", "samples=100"))
    alone.run("--puma-stop-early").assert_outcomes(passed=1)
    (stopped,) = rows(alone)[0]
    assert stopped < 100
    alone.run().assert_outcomes(passed=1)
    assert rows(alone) == [(100,)]
    alone.run("--puma-stop-early").assert_outcomes(passed=1)
    assert (alone.pytester.path / "computed.txt").read_text() == "x" * 100


@pytest.mark.parametrize(
    ("arguments", "ini", "problem"),
    [
        (["--puma-store=mixed"], "", "--puma-store: found 'mixed'; expected one of mix, fresh, off"),
        ([], "puma_store = on", "ini key puma_store: found 'on'; expected one of mix, fresh, off"),
        ([], "puma_store_mb = 0", "puma_store_mb is 0; expected a whole number of megabytes, at least 1"),
        ([], "puma_store_mb = x", "ini key puma_store_mb: *expected int"),
        (["--puma-offline", "--puma-store=off"], "", "--puma-offline and --puma-store=off: *"),
        (["--puma-rescore=last", "--puma-offline"], "", "--puma-rescore and --puma-offline: *"),
    ],
)
@ONE_PROCESS
def test_a_wrong_option_is_refused(project: Project, arguments: list[str], ini: str, problem: str) -> None:
    project.write(test_triage=TRIAGE)
    project.pytester.makeini(f"{INI}{ini}\n")
    result = project.run(*arguments, model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: puma: {problem}"])
