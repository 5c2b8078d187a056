"""Workers that the kernel kills, as it does if memory is short: their cells are lost, and nothing else."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Project

#: Kills the process, without a word, in the middle of the cells whose ids contain one of the DOOMED.
KILLS = """
import os
import signal
import pytest
from pytest_puma.testing import ScriptedBackend

steps = []

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    doomed = any(name in item.name for name in {doomed!r})
    steps[:] = [0] * 3 if doomed else []

class Doomed(ScriptedBackend):
    def decode(self, planned):
        if steps and not steps.pop() and not steps:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().decode(planned)

def pytest_puma_backend(model):
    return Doomed(lambda prompt: "It is broken.\\nAnswer: Major" if "Answer:" in prompt else "Major", parallel=4)
"""
STRATEGIES = ("zero_shot", "one_shot", "few_shot_3", "rcoif", "egi", "contextual_anchoring")
MATRIX = f"""
import pytest

@pytest.mark.puma("triage_jira", strategies={STRATEGIES}, samples=8)
def test_triage(puma):
    pass

def test_ordinary():
    pass
"""
CELLS = 12


@pytest.fixture
def two_models(alone: Project) -> Project:
    """Six cells of two models, and an ordinary test."""
    for name in ("tiny", "other"):
        (alone.pytester.path / f"{name}.gguf").write_bytes(alone.model.read_bytes())
    alone.write(test_matrix=MATRIX)
    return alone


def run(project: Project, doomed: list[str], *arguments: str) -> pytest.RunResult:
    project.write(conftest=KILLS.format(doomed=doomed))
    models = ("--puma-model=tiny.gguf", "--puma-model=other.gguf")
    result = project.pytester.runpytest_subprocess("-p", "xdist", *models, *arguments, timeout=600)
    assert result.ret == 1
    result.stdout.no_fnmatch_line("*INTERNALERROR*")
    return result


def lost(project: Project) -> list[str]:
    """The cells without an outcome, as the record of the run names them."""
    faults = project.record()["faults"]
    assert {fault["when"] for fault in faults} == {"crash"}
    return sorted(fault["cell"] for fault in faults)


def kept(project: Project) -> list[str]:
    """The cells with an outcome, which have all their predictions in the run folder."""
    cells = sorted(project.cell_ids())
    assert [line["cell"] for line in project.predictions()] == [cell for cell in cells for _ in range(8)]
    return cells


@pytest.mark.parametrize(
    ("workers", "doomed"),
    [(1, ["one_shot@tiny", "zero_shot@other"]), (2, ["one_shot@tiny"]), (4, ["one_shot@tiny", "zero_shot@other"])],
)
def test_a_killed_worker_loses_its_cell_alone(two_models: Project, workers: int, doomed: list[str]) -> None:
    result = run(two_models, doomed, "-n", str(workers))

    result.assert_outcomes(passed=CELLS + 1 - len(doomed), failed=len(doomed))
    assert lost(two_models) == sorted(f"triage_jira-{name}" for name in doomed)
    assert len(kept(two_models)) == CELLS - len(doomed)
    assert two_models.record()["problems"] == []
    result.stdout.fnmatch_lines(
        [
            "worker 'gw?' crashed while running '*[[]triage_jira-one_shot@tiny[]]' (ended by SIGKILL)",
            "puma: this cell has no result; the other cells go on",
            "puma: this is how the system ends a process if memory is short; run fewer workers (-n), *",
        ]
    )
    assert all(fault["message"].endswith("(ended by SIGKILL)") for fault in two_models.record()["faults"])


def test_a_model_whose_cells_all_kill_their_worker_leaves_time_for_the_others(two_models: Project) -> None:
    """xdist replaces four workers at most for each requested one."""
    result = run(two_models, ["@tiny"], "-n1")
    result.stdout.fnmatch_lines(["maximum crashed workers reached: 4"])
    assert kept(two_models) == sorted(f"triage_jira-{name}@other" for name in STRATEGIES)
    assert len(lost(two_models)) == 5
    (problem,) = two_models.record()["problems"]
    assert problem.endswith("@tiny] was planned, but no outcome of it arrived")


def test_without_replacements_the_other_workers_go_on(two_models: Project) -> None:
    result = run(two_models, ["zero_shot@tiny"], "-n2", "--max-worker-restart=0")
    result.stdout.fnmatch_lines(["*worker gw? crashed and worker restarting disabled*"])
    assert lost(two_models) == ["triage_jira-zero_shot@tiny"]
    assert kept(two_models) == sorted(f"triage_jira-{name}@other" for name in STRATEGIES)
    assert len(two_models.record()["problems"]) == 5, "those of the model whose worker is gone"


def test_the_only_worker_without_a_replacement_ends_the_run(two_models: Project) -> None:
    run(two_models, ["one_shot@tiny"], "-n1", "--max-worker-restart=0")
    assert (lost(two_models), kept(two_models)) == (["triage_jira-one_shot@tiny"], ["triage_jira-zero_shot@tiny"])


def test_a_killed_worker_does_not_hang_a_run_that_stops_after_failures(two_models: Project) -> None:
    run(two_models, ["zero_shot@"], "-n2", "--maxfail=1")
    assert "triage_jira-zero_shot@tiny" in lost(two_models)


def test_a_cell_that_kills_each_worker_does_not_run_for_ever(two_models: Project) -> None:
    """This scheduling of xdist tries it again, on a limited number of workers."""
    run(two_models, ["zero_shot@tiny"], "-n1", "--dist=loadscope")
    assert set(lost(two_models)) == {"triage_jira-zero_shot@tiny"}


def test_a_cell_whose_body_ends_the_worker_keeps_its_answers(two_models: Project) -> None:
    two_models.write(
        test_matrix=MATRIX.replace("    pass", "    import os; 'egi@tiny' in puma.cell and os._exit(3)", 1)
    )
    result = run(two_models, [], "-n1")
    result.stdout.fnmatch_lines(
        [
            "worker 'gw0' crashed while running '*egi@tiny[]]' (exit status 3)",
            "puma: the answers of this cell were complete and are kept; the other cells go on",
        ]
    )
    assert len(kept(two_models)) == CELLS
