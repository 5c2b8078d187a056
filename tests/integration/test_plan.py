"""`--puma-plan`: what a run would take, with no weights loaded, against what the run then reports."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pytest_puma.scenarios import TriageJiraScenario, draw
from tests.integration.conftest import INI, Project
from tests.tiny_gguf import SHAPES, Shape, write_gguf

CELLS = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "few_shot_3", "option_scoring"], samples=15, max_tokens=8)
def test_triage(puma):
    pass

@pytest.mark.puma("estimation_tawos", strategies=["self_consistency_3", "option_scoring"], samples=10, max_tokens=8)
def test_points(puma):
    pass
"""


def rows(result: pytest.RunResult) -> dict[str, list[str]]:
    """The columns behind the name of each cell in the table of a plan."""
    lines = (line.split() for line in result.outlines)
    return {line[0]: line[1:] for line in lines if line and ("@" in line[0] or line[0] == "all")}


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_it_counts_the_tokens_that_the_run_reports(pytester: pytest.Pytester, shape: Shape) -> None:
    pytester.makeini(INI)
    pytester.makepyfile(test_all=CELLS)
    model = write_gguf(pytester.path / "tiny.gguf", shape)
    planned = rows(pytester.runpytest_inprocess("--puma-plan", f"--puma-model={model}"))
    pytester.runpytest_inprocess(f"--puma-model={model}").assert_outcomes(passed=5)
    (record,) = (pytester.path / ".puma" / "runs").glob("*/run.json")
    usages = {each["cell"]: each["usage"] for each in json.loads(record.read_text(encoding="utf-8"))["outcomes"]}
    assert len(usages) == 5
    for cell, usage in usages.items():
        assert planned[cell][1:3] == [f"{usage['prompt_tokens']:,}", f"{usage['cached_tokens']:,}"]
    assert planned["all"][1] == f"{sum(usage['prompt_tokens'] for usage in usages.values()):,}"


def test_the_weights_are_not_needed(pytester: pytest.Pytester, gguf: Path) -> None:
    whole = Project(pytester, gguf, 0)
    whole.write(test_all=CELLS)
    with_weights = rows(whole.run("--puma-plan"))
    lost = pytester.path / "tiny.gguf"
    half = gguf.stat().st_size // 2
    lost.write_bytes(gguf.read_bytes()[:half] + bytes(gguf.stat().st_size - half))
    without = Project(pytester, lost, 0)
    planned = rows(without.run("--puma-plan"))
    minutes = 5
    for cell, columns in with_weights.items():
        assert planned[cell][:minutes] == columns[:minutes]
    assert not (pytester.path / ".puma").exists()


def test_the_first_run_teaches_it_the_minutes(alone: Project, pytester: pytest.Pytester) -> None:
    alone.write(conftest="", test_all=CELLS)
    before = alone.run("--puma-plan")
    trial = r"minutes: tiny read [\d,]+ and wrote [\d,]+ tokens a second in a trial of two seconds; at most, .*"
    before.stdout.re_match_lines([trial])
    before.stdout.re_match_lines([r"memory: about [\d,]+ MB with tiny: \d+ MB of weights, \d+ MB of caches and .*"])
    assert all(float(columns[5]) < 1 for columns in rows(before).values())
    alone.run().assert_outcomes(passed=5)
    after = alone.run("--puma-plan")
    after.stdout.re_match_lines([r"minutes: tiny read [\d,]+ and wrote [\d,]+ tokens a second on \d{4}-\d\d-\d\d"])
    # Behind the kept answers.
    assert rows(after).keys() == rows(before).keys()
    assert all(float(columns[6]) < 1 for columns in rows(after).values())
    (pytester.path / ".puma" / "throughput.json").write_text("{", encoding="utf-8")
    alone.run("--puma-plan").stdout.re_match_lines([trial])


@pytest.mark.usefixtures("cold")
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of a process as Linux has it")
def test_the_planned_memory_is_the_peak_of_the_run(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\n")
    pytester.makepyfile(test_all=CELLS)
    planned = pytester.run(sys.executable, "-m", "pytest", "-p", "no:xdist", "--puma-plan")
    (memory,) = (line for line in planned.outlines if line.startswith("memory: about "))
    result = pytester.run(sys.executable, "-m", "pytest", "-p", "no:xdist")
    (record,) = (pytester.path / ".puma" / "runs").glob("*/run.json")
    peak = max(outcome["peak_memory"] for outcome in json.loads(record.read_text())["outcomes"]) / 2**20
    result.stdout.fnmatch_lines([f"throughput: * tokens a second, {peak:,.0f} MB of memory at the peak of its process"])
    assert float(memory.split()[2]) == pytest.approx(peak, rel=0.15)


def test_a_prompt_beyond_the_context_is_reported(alone: Project) -> None:
    alone.write(conftest="", test_all=CELLS)
    result = alone.pytester.runpytest_inprocess("--puma-plan", f"--puma-model={alone.model},n_ctx=256")
    result.stdout.re_match_lines([r"warning: triage_jira-few_shot_3@tiny: \d+ of 15 prompts exceed the context"])
    assert result.ret == pytest.ExitCode.OK


def test_it_has_no_use_for_workers(alone: Project) -> None:
    alone.write(test_all=CELLS)
    result = alone.pytester.runpytest_subprocess("-p", "xdist", "-n2", "--puma-plan", f"--puma-model={alone.model}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--puma-plan: found -n; expected no workers, as nothing runs; leave out -n*"])


def test_what_collection_finds_wrong_is_not_planned(alone: Project) -> None:
    alone.write(test_all=CELLS + "\n\nimport nowhere\n")
    result = alone.run("--puma-plan")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert rows(result) == {}


def test_the_difference_falls_with_the_samples(alone: Project) -> None:
    alone.write(test_all=CELLS)
    result = rows(alone.run("--puma-plan", "-k", "zero_shot", "--puma-samples=30"))["triage_jira-zero_shot@tiny"]
    # A fall of 28 points in which 35 % of 30 answers change: 0.283 is 1.96 * 1.09 + 0.84 standard errors of it, and a
    # few more for the discrete counts.
    assert result[-2:] == ["f1_macro", "0.283"]


def test_a_plan_reports_what_a_run_would_refuse(alone: Project, pytester: pytest.Pytester) -> None:
    template = pytester.path / "prompts" / "triage_jira" / "zero_shot.jinja"
    template.parent.mkdir(parents=True)
    # The first sample, which is rendered at collection, has no fault.
    first = draw(TriageJiraScenario(), 1, seed=42)[0].id
    text = f"{{{{ title }}}} {{% if issue_key not in '{first}' and title %}}{{{{ 1 / 0 }}}}{{% endif %}}"
    template.write_text(text, encoding="utf-8")
    alone.write(conftest="", test_all=CELLS)
    result = alone.run("--puma-plan", "-k", "zero_shot")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    output = str(result.stdout) + str(result.stderr)
    assert "zero_shot.jinja, line 1: division by zero; the variables are: " in output
    assert "INTERNALERROR" not in output
