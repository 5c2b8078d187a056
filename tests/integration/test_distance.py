"""How far variants are from their plain model: metrics, gates, and why they are not measured."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from math import exp
from typing import Any

import pytest

from tests.integration.conftest import ONE_PROCESS, Project
from tests.integration.varying import run_grid, write_files
from tests.tiny_gguf import LLAMA_NO_BOS, write_gguf

#: The variant loud-1 answers as the plain model does, loud-2 otherwise.
SCRIPTS = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    same = lambda prompt: "Major"
    other = {"loud-1": same, "loud-2": lambda prompt: "Minor"}
    return ScriptedBackend(same, confidence=5.0, digest="5a", variants=other)
"""
GATES = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "option_scoring"], samples=8, gates=["kl <= 0.05"])
def test_triage(puma):
    pass
"""
#: By name and digest, as no file is read.
OFFLINE = "--puma-model=q@5a,steer=loud.gguf:0/1/2"


@pytest.fixture
def varied(project: Project) -> Project:
    project.write(conftest=SCRIPTS)
    project = write_files(project)
    project.write(test_it=GATES)
    return project


def measured(project: Project) -> dict[str, dict[str, Any]]:
    """The measures of each cell of the last run that are about the distance."""
    last = max((project.pytester.path / ".puma" / "runs").iterdir())
    cells = json.loads((last / "run.json").read_text())["outcomes"]
    names = ("kl", "kl.p99", "same_top")
    return {
        cell["cell"]: {name: cell["measures"][name]["value"] for name in names if name in cell["measures"]}
        for cell in cells
    }


def test_a_gate_limits_the_distance_of_each_variant(varied: Project) -> None:
    result = run_grid(varied)
    result.assert_outcomes(passed=4, failed=2)
    result.stdout.fnmatch_lines(["kl 1.22 [[]1.22, 1.22[]] n=8 is over 0.05"])
    cells = measured(varied)
    # At 4 of 6 places another of the 257 tokens is the best one; all others are equal, also one that a list lacks.
    exact = 4 / 6 * 5 * (exp(5) - 1) / (exp(5) + 256)
    for strategy in ("zero_shot", "option_scoring"):
        cell = f"triage_jira-{strategy}@q"
        assert cells[cell] == {}
        assert cells[f"{cell}+loud-1"] == {"kl": 0.0}
        assert cells[f"{cell}+loud-2"] == {"kl": pytest.approx(exact, rel=1e-5)}


@ONE_PROCESS
def test_all_metrics_of_the_distance(varied: Project) -> None:
    varied.write(test_it=GATES.replace('gates=["kl <= 0.05"]', 'metrics=["kl", "kl.p99", "same_top"]'))
    # The plain model runs first, whatever the order of the list.
    varied.run("--puma-model=q.gguf,steer=loud.gguf:2/0", model=False).assert_outcomes(passed=4)
    values = measured(varied)["triage_jira-zero_shot@q+loud-2"]
    assert values["kl"] == pytest.approx(4 / 6 * values["kl.p99"], rel=0.01)
    assert values["same_top"] == pytest.approx(2 / 6)


@ONE_PROCESS
def test_a_gate_on_the_distance_rests_in_a_run_of_plain_models(varied: Project) -> None:
    varied.run("--puma-model=q.gguf", model=False).assert_outcomes(passed=2)


@ONE_PROCESS
@pytest.mark.parametrize(("gate", "failed"), [("kl <= 0.05", 0), ("kl <= 0.05 !fail", 2)])
def test_without_the_plain_model_it_is_not_measured(varied: Project, gate: str, failed: int) -> None:
    varied.write(test_it=GATES.replace("kl <= 0.05", gate))
    result = varied.run("--puma-model=q.gguf,steer=loud.gguf:1", model=False)
    result.stdout.fnmatch_lines(["*kl is not measured: q did not run before it: add 0 to the list, as in steer=*"])
    result.assert_outcomes(passed=2 - failed, failed=failed)


@ONE_PROCESS
def test_a_distance_is_not_compared_with_the_plain_model(varied: Project) -> None:
    varied.write(test_it=GATES.replace("kl <= 0.05", "kl <= plain + 0.05"))
    result = run_grid(varied)
    result.stdout.fnmatch_lines(["*kl is a distance from the plain model already; expected a number*"])


def test_the_distance_of_a_real_model_is_read_offline_and_rescored(project: Project) -> None:
    varied = write_files(project)
    varied.write(test_it=GATES.replace("0.05", "100"))
    run_grid(varied).assert_outcomes(passed=6)
    cells = measured(varied)
    assert [cells[f"triage_jira-zero_shot@q+loud-{strength}"]["kl"] > 0 for strength in (1, 2)] == [True, True]
    run_grid(varied, "--puma-offline").assert_outcomes(passed=6)
    assert measured(varied) == cells
    varied.run("--puma-rescore=last", model=False).assert_outcomes(passed=6)
    assert measured(varied) == cells


@ONE_PROCESS
def test_answers_that_were_kept_without_it_have_no_distance(varied: Project) -> None:
    varied.write(test_it=GATES.replace('gates=["kl <= 0.05"]', "gates=[]"))
    run_grid(varied).assert_outcomes(passed=6)
    varied.write(test_it=GATES)
    result = varied.run("--puma-offline", OFFLINE, model=False)
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["*kl is not measured: --puma-offline: *8 of 8 answers are not kept*"])
    varied.write(test_it=GATES.replace("0.05", "0.05 !fail"))
    varied.run("--puma-offline", OFFLINE, model=False).assert_outcomes(passed=2, failed=4)
    varied.write(test_it=GATES)
    result = varied.run("--puma-rescore=last", model=False)
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["*kl is not measured: the run * did not measure it*"])


@ONE_PROCESS
def test_a_comparison_of_variants_shows_the_distance(varied: Project) -> None:
    varied.write(test_it=GATES.replace('gates=["kl <= 0.05"]', "gates=[]"))
    result = run_grid(varied, "--puma-compare=variant", "--puma-report=md:run.md", "--puma-report=html:run.html")
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(
        ["scenario *variant *still wrong *kl *same top", "triage_jira *loud-1 * 0 *1.00", "* loud-2 * 1.22 *0.333"]
    )
    page, report = ((varied.pytester.path / name).read_text() for name in ("run.html", "run.md"))
    assert re.search(r"\| still wrong +\| kl +\| same top +\|", report)
    assert ">same top<" in page
    # The plain model keeps its metrics, and no report shows other ones for it.
    assert measured(varied)["triage_jira-zero_shot@q"] == {}


def test_a_coarser_quantisation_is_farther_away(project: Project) -> None:
    write_gguf(project.pytester.path / "q.gguf", replace(LLAMA_NO_BOS, seed=200))
    project.write(test_it=GATES.replace("0.05", "100").replace('"zero_shot", ', ""))
    project.run("--puma-model=q.gguf,quant=Q4_0/Q8_0/none,gpu_layers=0", model=False).assert_outcomes(passed=3)
    cells = measured(project)
    q8, q4 = (cells[f"triage_jira-option_scoring@q+{kind}"]["kl"] for kind in ("Q8_0", "Q4_0"))
    assert 0 < q8 < q4
