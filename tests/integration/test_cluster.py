"""`--puma-cluster`: the engines are on workers of Dask, and everything else is as in one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import INI
from tests.integration.untimed import untimed
from tests.prediction_lines import prediction_lines

pytest.importorskip("distributed")
pytestmark = pytest.mark.usefixtures("cold")

BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "self_consistency_3"], samples=6, max_tokens=9)
def test_triage(puma):
    pass

@pytest.mark.puma("estimation_tawos", strategies=["option_scoring"], samples=6, gates=["mae <= 1000"])
def test_points(puma):
    pass
"""
#: Leaves a file where a process of the run has imported llama.cpp.
WATCHED = """
import sys
from pathlib import Path

def pytest_sessionfinish():
    if "llama_cpp" in sys.modules:
        Path("llama_cpp").touch()
"""


class Runs:
    """Runs of one project, each with its JSON report."""

    def __init__(self, pytester: pytest.Pytester, model: Path) -> None:
        self._pytester, self._model = pytester, model
        pytester.makeini(INI)
        pytester.makepyfile(test_all=BENCHMARK, conftest=WATCHED)

    def run(self, *options: str) -> pytest.RunResult:
        return self._pytester.runpytest_subprocess(
            f"--puma-model={self._model}", "--puma-report=json:report.json", *options, timeout=500
        )

    def record(self) -> list[dict[str, Any]]:
        """The outcomes of the last run, which has ended well."""
        return untimed(self._pytester.path / "report.json")

    def predictions(self) -> list[dict[str, Any]]:
        """The predictions of the last run, without their times."""
        folder = max((self._pytester.path / ".puma" / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)
        return sorted(
            prediction_lines(folder / "predictions.jsonl"), key=lambda line: (line["cell"], line["sample_id"])
        )

    def has_imported_llama(self) -> bool:
        return (self._pytester.path / "llama_cpp").exists()


@pytest.fixture
def runs(pytester: pytest.Pytester, gguf: Path) -> Runs:
    return Runs(pytester, gguf)


def test_a_cluster_gives_the_numbers_of_one_process_and_both_find_the_answers_of_the_other(runs: Runs) -> None:
    away, here = "puma_store_path=away.sqlite", "puma_store_path=here.sqlite"
    result = runs.run("--puma-cluster=local:2", "-o", away)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["puma: computed on 2 workers of a cluster (1 machine)"])
    assert not runs.has_imported_llama()
    record, predictions = runs.record(), runs.predictions()
    runs.run("-o", here).assert_outcomes(passed=3)
    assert runs.has_imported_llama()
    assert runs.record() == record
    assert runs.predictions() == predictions
    kept = "kept answers: all 30 of 3 cells, from run *"
    runs.run("-o", away).stdout.fnmatch_lines([kept])
    runs.run("-o", here, "--puma-cluster=local:1").stdout.fnmatch_lines([kept])
    offline = runs.run("-o", away, "--puma-offline")
    offline.assert_outcomes(passed=3)
    assert [outcome["signature"] for outcome in runs.record()] == [outcome["signature"] for outcome in record]


def test_two_processes_share_the_cells_of_a_model(runs: Runs) -> None:
    runs.run("-p", "no:xdist").assert_outcomes(passed=3)
    record, predictions = runs.record(), runs.predictions()
    result = runs.run("--puma-cluster=local:2", "-n", "auto", "--puma-store=fresh")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["puma: 2 workers; the cluster has 2"])
    assert runs.record() == record
    assert runs.predictions() == predictions


OWN_VARIANT = """
from pytest_puma import Variant, quant

def pytest_puma_variants(model):
    return [Variant.of(quant("Q8_0"), name="small")]
"""


def test_own_variants_are_refused(runs: Runs, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(conftest=OWN_VARIANT)
    result = runs.run("--puma-cluster=local:1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*hook pytest_puma_variants: it returns variants of tiny, and a cluster has none*"])


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            ["--puma-cluster=local:0"],
            "*--puma-cluster: found 'local:0'; expected local:N with N workers*",
        ),
        (["--puma-cluster=head:8786", "--puma-plan"], "*--puma-cluster and --puma-plan: the model computes on other*"),
        (
            ["--puma-cluster=head:8786", "-o", "puma_energy=true"],
            "*--puma-cluster and ini key puma_energy: the counters*",
        ),
        (["--puma-cluster=head:8786", "--puma-offline"], "*--puma-cluster and --puma-offline: *"),
        (
            ["--puma-cluster=local:1", "-o", "puma_step_seconds=0"],
            "*ini key puma_step_seconds is 0.0; expected a number*",
        ),
    ],
)
def test_what_cannot_be_is_an_error_of_the_command_line(runs: Runs, options: list[str], line: str) -> None:
    result = runs.run(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([line])
