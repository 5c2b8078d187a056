"""`rpc=` on a cluster: a server that is lost costs a worker, and the cell runs again where a server is."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pytest_puma.engine.native.rpc import is_built_in
from tests.integration.conftest import INI
from tests.integration.untimed import untimed
from tests.rpc_server import ROOT, RpcServer

pytest.importorskip("distributed")
WITH = pytest.mark.skipif(not is_built_in(), reason="this llama.cpp is built without RPC: CMAKE_ARGS=-DGGML_RPC=on")
pytestmark = pytest.mark.usefixtures("cold")
LOCAL = "--puma-cluster=local:1"

BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["doubted"], samples=6, max_tokens=6)
def test_triage(puma):
    pass
"""
#: Asks twice; between both, what the variable SHOT names happens to the server, once.
DOUBTED = """
import os
import signal
from pathlib import Path
from pytest_puma import Answer, Strategy, ask
from tests.rpc_server import RpcServer

def doubted(task):
    first = yield from ask(task.generate(task.prompt()))
    shot = os.environ.pop("SHOT", "") if first.usage.prompt_tokens else ""  # no rehearsal
    if shot:
        address, pid = Path("server").read_text().split()
        os.kill(int(pid), signal.SIGSTOP if shot == "freeze" else signal.SIGKILL)
    if shot == "restart":
        Path("server").write_text(f"{address} {RpcServer(address).pid}")
    second = yield from ask(task.generate(task.prompt()))
    return Answer(value=task.read(second), responses=(first, second))

def pytest_puma_strategies():
    return [Strategy(name="doubted", converse=doubted, templates=("zero_shot",))]
"""


class Runs:
    """Runs of one project on a cluster, whose worker has an RPC server."""

    def __init__(self, pytester: pytest.Pytester, model: Path) -> None:
        self._pytester, self._model = pytester, model
        pytester.makeini(INI)
        pytester.makepyfile(test_all=BENCHMARK, conftest=DOUBTED)

    def run(self, address: str, *options: str) -> pytest.RunResult:
        """Run with a server."""
        return self._pytester.runpytest_subprocess(
            f"--puma-model={self._model},rpc={address}",
            "--puma-report=json:report.json",
            *options,
            timeout=300,
        )

    @property
    def engine(self) -> dict[str, str]:
        """The signature of the engine of the last run."""
        (outcome,) = untimed(self._pytester.path / "report.json")
        engine: dict[str, str] = outcome["signature"]["engine"]
        return engine


@pytest.fixture
def runs(pytester: pytest.Pytester, gguf: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    monkeypatch.setenv("PYTHONPATH", ROOT, prepend=os.pathsep)
    return Runs(pytester, gguf)


@pytest.fixture
def server(pytester: pytest.Pytester) -> Iterator[str]:
    """The address of a server; the file of this name has its process, too."""
    server, file = RpcServer(), pytester.path / "server"
    file.write_text(f"{server.address} {server.pid}")
    yield server.address
    server.close()
    with suppress(ProcessLookupError):
        os.kill(int(file.read_text().split()[1]), signal.SIGKILL)


@pytest.mark.skipif(is_built_in(), reason="this llama.cpp is built with RPC")
def test_a_library_without_rpc_is_an_error_of_the_cell_that_names_the_flag(runs: Runs) -> None:
    result = runs.run("127.0.0.1:50052", LOCAL)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*found rpc=127.0.0.1:50052, and this llama.cpp is built without RPC; *-DGGML_RPC=on*"]
    )


@WITH
def test_a_run_over_a_server_is_described_by_what_the_server_offers(runs: Runs, server: str) -> None:
    result = runs.run(server, "--puma-cluster=local:2", "-n", "auto")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["puma: 1 worker; the cluster has 2"])
    engine = runs.engine
    assert engine["rpc"].startswith("1 device: RPC, ")
    assert (engine["gpu"], engine["devices"]) == ("True", "")
    other = RpcServer()
    runs.run(other.address, LOCAL).stdout.fnmatch_lines(["kept answers: all 12 of 1 cell, from run *"])
    other.close()
    runs.run("10.0.0.3:1", "--puma-offline").assert_outcomes(passed=1)


@WITH
def test_a_server_that_is_lost_and_comes_back_costs_what_its_worker_computed(
    runs: Runs, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOT", "restart")
    result = runs.run(server, LOCAL)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["warning: *the engine on the worker tcp://127.0.0.1:* is lost: *; the cell ran again"])


@WITH
@pytest.mark.parametrize(("shot", "problem"), [("kill", "no server there (*)"), ("freeze", "no answer within 20 s")])
def test_a_server_that_stays_away_is_an_error_of_the_cell(
    runs: Runs, server: str, monkeypatch: pytest.MonkeyPatch, shot: str, problem: str
) -> None:
    monkeypatch.setenv("SHOT", shot)
    result = runs.run(server, LOCAL, "-o", "puma_step_seconds=15")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*rpc={server}: {problem}; expected*"])
