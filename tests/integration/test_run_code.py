"""`--puma-run-code`: metrics that run programs of the model."""

from __future__ import annotations

import json

import pytest

from pytest_puma.sandbox.confinement import landlock_version
from tests.docs.code_blocks import read_blocks
from tests.docs.reference import ROOT
from tests.integration.conftest import Project
from tests.sandbox import foreign
from tests.scenarios.benchmarks.sample_requests import json_lines
from tests.scenarios.benchmarks.test_humaneval import ROWS as FUNCTIONS
from tests.scenarios.benchmarks.test_multipl_e import row as multipl_e

CONFTEST = """
from pytest_puma import metric
from pytest_puma.core import Program
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend(lambda text: "Minor")

@metric(needs={"sandbox"})
def minor(sample, prediction):
    ran = yield Program(text=f"answer = {prediction.text!r}; print(answer); assert answer == 'Minor'")
    return ran.passed

def pytest_puma_metrics():
    return [minor]
"""
BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=4, metrics=["minor"], gates=["minor >= 0.5"])
def test_triage(puma):
    assert puma["minor"] == 1
"""
confined = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")


def write(project: Project) -> None:
    project.write(conftest=CONFTEST, test_triage=BENCHMARK)


def test_without_the_option_a_metric_that_runs_programs_is_a_collection_error(project: Project) -> None:
    write(project)
    result = project.run()
    result.stdout.fnmatch_lines(
        ["*triage_jira: metric 'minor' runs programs that the model wrote; expected --puma-run-code*"]
    )
    result.assert_outcomes(errors=1)


@confined
def test_programs_run_in_the_sandbox(project: Project) -> None:
    write(project)
    result = project.run("--puma-run-code=sandbox", "--puma-report=json:out.json")
    result.assert_outcomes(passed=1)
    (outcome,) = json.loads((project.pytester.path / "out.json").read_text(encoding="utf-8"))["outcomes"]
    assert outcome["signature"]["sandbox"]["confinement"] == "landlock"


def test_each_report_repeats_that_programs_ran_unconfined(project: Project) -> None:
    write(project)
    result = project.run("--puma-run-code=unconfined", "--puma-report=md:out.md")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*programs that the model wrote ran unconfined*(--puma-run-code=unconfined)*"])
    assert "ran unconfined" in (project.pytester.path / "out.md").read_text(encoding="utf-8")


def test_a_path_behind_the_option_is_no_mode(project: Project) -> None:
    write(project)
    result = project.run("--puma-run-code", "test_triage.py")
    result.stderr.fnmatch_lines(["*--puma-run-code: found 'test_triage.py'; expected one of off, sandbox, unconfined*"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


HUMANEVAL = """
import pytest

@pytest.mark.puma("humaneval", strategies=["zero_shot"], samples=2, repeats=2, GATES)
def test_code(puma):
    print(sorted(puma.measures))
"""
WRITES = """
from pytest_puma.testing import ScriptedBackend

def answer(prompt):
    return "```python\\n" + prompt.rpartition("Write code only.\\n\\n")[2] + "\\n    return a + b"

def pytest_puma_backend(model):
    return ScriptedBackend(answer)
"""


def write_functions(project: Project, gates: str) -> None:
    json_lines(project.pytester.path / "HumanEval.jsonl", FUNCTIONS)
    project.write(conftest=WRITES, test_code=HUMANEVAL.replace("GATES", f"gates={gates}"))


@confined
def test_humaneval_runs_its_tests_with_the_option(project: Project) -> None:
    write_functions(project, '["pass_at_2 >= 0.5", "pass_at_2 <= 0.5", "pass_all_1 >= 0.5", "timeout_rate <= 0"]')
    options = ("--puma-data=humaneval=HumanEval.jsonl", "--puma-temperature=0.5", "--puma-run-code=sandbox")
    result = project.run(*options)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["humaneval *tests_passed *0.5*"])


def test_humaneval_runs_nothing_without_it(project: Project) -> None:
    write_functions(project, '["defines_function >= 0"]')
    options = ("--puma-data=humaneval=HumanEval.jsonl", "--puma-temperature=0.5")
    project.run(*options).assert_outcomes(passed=1)
    result = project.run(*options, "--puma-gate=humaneval: tests_passed >= 0.5")
    result.stdout.fnmatch_lines(
        ["*metric 'tests_passed' runs programs that the model wrote; expected --puma-run-code*"]
    )


def test_fewer_repeats_than_k_are_a_collection_error(project: Project) -> None:
    write_functions(project, '["pass_at_3 >= 0.5"]')
    result = project.run("--puma-data=humaneval=HumanEval.jsonl", "--puma-temperature=0.5")
    expected = "*metric 'pass_at_3' needs 3 trials of each sample, and there are 2; expected --puma-repeats 3 or more*"
    result.stdout.fnmatch_lines([expected])


@confined
def test_a_cell_whose_language_cannot_be_run_is_skipped_before_the_model_answers(project: Project) -> None:
    rows = [multipl_e("pl", tests=f"use Test::Nowhere;\n{foreign.TESTS['pl']}")]
    json_lines(project.pytester.path / "rows.jsonl", rows)
    benchmark = HUMANEVAL.replace("humaneval", "multipl_e").replace("repeats=2, GATES", 'gates=["tests_passed >= 0.5"]')
    silent = WRITES.replace("def answer(prompt):", "def answer(prompt):\n    raise AssertionError(prompt)")
    project.write(conftest=silent, test_code=benchmark.replace("samples=2, ", ""))
    result = project.run("--puma-data=multipl_e=rows.jsonl", "--puma-run-code=sandbox", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*multipl_e-zero_shot@*: the sandbox cannot run an empty program with*"])


#: A chat model wraps its program in a fence, though it is asked for code only.
FENCED = """
from pytest_puma.testing import ScriptedBackend

REPLY = "Sure:\\n\\n```python\\ndef double(x):\\n    return 2 * x\\n```\\n\\nIt doubles x."

def pytest_puma_backend(model):
    return ScriptedBackend(lambda text: REPLY)
"""
DOUBLES = """
import pytest
from doubles import Doubles

class Raw(Doubles):
    name = "raw"

    def post_process(self, text, sample):
        return text

@pytest.mark.puma(SCENARIO, strategies=["zero_shot"], samples="all", gates=["tests_passed >= 0.5"])
def test_doubles(puma):
    pass
"""


def write_doubles(project: Project, scenario: str) -> None:
    """The scenario of the page, whose program the model writes in a fence."""
    page = (ROOT / "docs" / "running-code.md").read_text(encoding="utf-8")
    (doubles,) = (block.text for block in read_blocks(page) if block.text.startswith("# doubles.py"))
    tasks = ({"task": f"Write double(x), {n}.", "tests": [f"assert double({n}) == {2 * n}"]} for n in range(5))
    json_lines(project.pytester.path / "doubles.jsonl", tasks)
    project.write(conftest=FENCED, doubles=doubles, test_doubles=DOUBLES.replace("SCENARIO", scenario))


@confined
def test_the_scenario_of_the_page_takes_a_program_out_of_its_fence(project: Project) -> None:
    write_doubles(project, "Doubles")
    result = project.run("--puma-run-code=sandbox")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*Markdown*")


@confined
def test_programs_in_a_fence_are_remarked(project: Project) -> None:
    write_doubles(project, "Raw")
    result = project.run("--puma-run-code=sandbox")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*warning: raw-zero_shot@*: 5 of 5 programs end with a SyntaxError, as their replies have Markdown fences; *"]
    )
