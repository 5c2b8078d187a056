"""pytest-xdist for real: who runs what, and that suites without benchmarks do not notice us."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.integration.conftest import TRIAGE, Project

#: A backend that notes in a file which process loads which model.
NOTED = """
import os
from pathlib import Path
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    with (Path(__file__).parent / "loads.txt").open("a") as stream:
        stream.write(f"{model.name} {os.environ.get('PYTEST_XDIST_WORKER')}\\n")
    return ScriptedBackend({}, default="Minor")
"""
#: What the list of devices looks like on a larger machine; the third GPU is full.
TWO_GPUS = """
import pytest_puma.engine.native
from pytest_puma.engine.machine import Gpu

pytest_puma.engine.native.gpus = lambda: (Gpu("one", 80 * 10**9), Gpu("two", 80 * 10**9), Gpu("three", 10**6))
"""
MATRIX = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "rcoif", "few_shot_3"], samples=4)
def test_triage(puma):
    pass

@pytest.mark.puma("estimation_tawos", strategies=["zero_shot", "rcoif"], samples=4)
def test_points(puma):
    pass

@pytest.mark.parametrize("number", range(6))
def test_ordinary(number):
    pass
"""
DIES = """
import os
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "one_shot", "few_shot_3"], samples=4)
def test_triage(puma):
    if {dies_of!r} in puma.cell:
        os._exit(3)

def test_ordinary():
    pass
"""
ORDINARY = """
import pytest

@pytest.mark.parametrize("number", range(6))
def test_ordinary(number):
    pass
"""


#: What a run with workers says apart from percentages, seconds and who ran what; a line of ours would be among it.
NOTEWORTHY = re.compile(r"PASSED .*|^(?:created|scheduling|\d+ workers|puma).*")


@pytest.fixture
def two_models(alone: Project) -> Project:
    """A matrix of five cells and two models, beside ordinary tests."""
    (alone.pytester.path / "other.gguf").write_bytes(alone.model.read_bytes())
    alone.write(conftest=NOTED, test_matrix=MATRIX)
    return alone


def loads(project: Project) -> Counter[str]:
    """Loads of each model by each worker."""
    return Counter((project.pytester.path / "loads.txt").read_text(encoding="utf-8").split("\n")[:-1])


def run(project: Project, *arguments: str) -> pytest.RunResult:
    # Without `-p xdist`: then xdist may come behind us, and its hooks before ours.
    return project.pytester.runpytest_subprocess(*arguments)


def test_each_model_is_loaded_once(two_models: Project) -> None:
    result = run(two_models, "-n2", f"--puma-model={two_models.model}", "--puma-model=other.gguf")
    result.assert_outcomes(passed=16)
    assert sorted(line.split()[0] for line in loads(two_models).elements()) == ["other", "tiny"]


def test_the_cells_of_one_model_stay_on_one_of_many_workers(two_models: Project) -> None:
    run(two_models, "-n3", "--puma-model=other.gguf").assert_outcomes(passed=11)
    assert list(loads(two_models).values()) == [1]


@pytest.mark.parametrize("dist", ["load", "worksteal", "loadfile", "each"])
def test_a_scheduling_that_is_asked_for_is_left_to_xdist(two_models: Project, dist: str) -> None:
    result = run(two_models, "-n2", "-v", f"--dist={dist}", "--puma-model=other.gguf")
    result.assert_outcomes(passed=22 if dist == "each" else 11)
    names = {"load": "Load", "worksteal": "WorkStealing", "loadfile": "LoadFile", "each": "Each"}
    result.stdout.fnmatch_lines([f"scheduling tests via {names[dist]}Scheduling"])
    result.stdout.fnmatch_lines([f"puma: 2 workers as requested, --dist {dist}"])


def test_a_suite_without_benchmarks_is_scheduled_by_xdist_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_ordinary=ORDINARY)
    outputs = []
    for ours in ((), ("-p", "no:puma")):
        result = pytester.runpytest_subprocess("-n2", "-v", *ours)
        result.assert_outcomes(passed=6)
        outputs.append(sorted(match[0] for line in result.outlines if (match := NOTEWORTHY.search(line))))
    assert outputs[0] == outputs[1]
    assert "scheduling tests via LoadScheduling" in outputs[0]


@pytest.mark.parametrize("argument", ["--puma-samples=4", "benchmarks", "benchmarks/test_triage.py::test_triage"])
def test_auto_is_one_worker_for_benchmarks_on_a_cpu(alone: Project, argument: str) -> None:
    alone.pytester.makepyfile(**{"benchmarks/test_triage": TRIAGE})
    result = run(alone, "-nauto", argument)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["puma: 1 worker with all cores; more processes would share them and load the model again", "*1 worker *"]
    )


def test_auto_is_a_worker_for_each_gpu_and_they_share_the_cells_of_a_model(two_models: Project) -> None:
    two_models.write(conftest=NOTED + TWO_GPUS)
    result = run(two_models, "-nauto", "--puma-model=other.gguf")
    result.assert_outcomes(passed=11)
    result.stdout.fnmatch_lines(["puma: 2 workers, one for each GPU that the model fits on"])
    assert sorted(loads(two_models).elements()) == ["other gw0", "other gw1"]


def test_a_model_that_names_its_gpus_has_one_worker(two_models: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_XDIST_AUTO_NUM_WORKERS", raising=False)
    two_models.write(conftest=NOTED + TWO_GPUS)
    run(two_models, "-nauto", "--puma-model=other.gguf,split=layer").assert_outcomes(passed=11)
    assert sorted(loads(two_models).elements()) == ["other gw0"]


def test_auto_means_what_it_always_meant_for_other_suites(alone: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_XDIST_AUTO_NUM_WORKERS", raising=False)
    alone.write(conftest="", test_ordinary=ORDINARY, test_triage=TRIAGE)
    for arguments in ((), ("test_ordinary.py", "test_triage.py")):
        outputs = [created(run(alone, "-nauto", *arguments, *ours)) for ours in ((), ("-p", "no:puma"))]
        assert outputs[0] == outputs[1] != ""


def test_what_the_environment_says_of_auto_is_obeyed(alone: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "3")
    alone.write(test_triage=TRIAGE)
    assert "3 workers" in created(run(alone, "-nauto", "--puma-samples=4"))


def test_a_wrong_option_is_a_usage_error_with_auto_as_well(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    result = run(alone, "-nauto", "--puma-model=nowhere.gguf")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*nowhere.gguf*no such file*"])


def test_a_cell_that_takes_its_worker_down_fails_once_and_the_others_run(two_models: Project) -> None:
    """Also where both workers are gone at the same time."""
    two_models.write(test_matrix=DIES.format(dies_of="zero_shot@"))
    result = two_models.pytester.runpytest_subprocess(
        "-n2", f"--puma-model={two_models.model}", "--puma-model=other.gguf", timeout=300
    )
    result.assert_outcomes(passed=5, failed=2)
    result.stdout.fnmatch_lines_random(
        [
            f"worker 'gw?' crashed while running '*triage_jira-zero_shot@{model}?' (exit status 3)"
            for model in ("tiny", "other")
        ]
    )
    result.stdout.no_fnmatch_line("*INTERNALERROR*")


@pytest.mark.parametrize(
    ("workers", "models", "dies_of"),
    [("auto", ["tiny", "other"], "zero_shot@tiny"), ("1", ["tiny"], "one_shot@tiny")],
)
def test_the_only_worker_may_crash_and_its_replacement_goes_on(
    two_models: Project, workers: str, models: list[str], dies_of: str
) -> None:
    two_models.write(test_matrix=DIES.format(dies_of=dies_of))
    (two_models.pytester.path / "tiny.gguf").write_bytes(two_models.model.read_bytes())
    named = [f"--puma-model={name}.gguf" for name in models]
    result = two_models.pytester.runpytest_subprocess("-n", workers, *named, timeout=300)
    result.assert_outcomes(passed=3 * len(models), failed=1)
    result.stdout.fnmatch_lines([f"worker 'gw0' crashed while running '*triage_jira-{dies_of}?' (exit status 3)"])
    # What was computed before the body ended its process is kept.
    assert len(two_models.record()["outcomes"]) == 3 * len(models)


def test_a_replacement_that_collects_other_tests_ends_the_run(alone: Project) -> None:
    crashed = alone.pytester.path / "crashed"
    dies = DIES.format(dies_of="zero_shot").replace("os._exit(3)", f"open({str(crashed)!r}, 'w').close(); os._exit(3)")
    alone.write(test_dies=f"{dies}\nif os.path.exists({str(crashed)!r}):\n    def test_new():\n        pass\n")
    result = alone.pytester.runpytest_subprocess("-n1", f"--puma-model={alone.model}", timeout=300)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*puma: gw1 replaces a worker that crashed, but collected other tests than that one: *::test_new; *",
            "*few_shot_3@tiny? was planned, but no outcome of it arrived",
        ]
    )
    result.stdout.no_fnmatch_line("*INTERNALERROR*")


def created(result: pytest.RunResult) -> str:
    """The line that says how many workers there are."""
    return next((line for line in result.outlines if re.search(r"\d+ workers? \[|\d+/\d+ workers?|created:", line)), "")
