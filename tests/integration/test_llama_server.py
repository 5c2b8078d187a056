"""llama.cpp's own server as a model: the texts are those of the engine on the same file, whatever happens between."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_puma.platform.bundled import bundled_folder
from tests.integration.conftest import Project
from tests.integration.knowing_model import write_rows
from tests.servers.llama import LlamaServer, proxied
from tests.servers.stub import Fault, Stub

TINY = bundled_folder("models") / "puma-tiny.gguf"
BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "zero_shot_cot"], samples=10)
def test_triage(puma):
    pass
"""

CUED = """
import pytest
from pytest_puma import CompletionScenario

class Severities(CompletionScenario):
    name = "severities"
    data = {"test": "severities.jsonl"}

    def instruction(self, item):
        return f"How severe is it? {item['text']}"

    def cue(self, item):
        return "Answer:"

    def truth(self, item):
        return item["severity"]

@pytest.mark.puma(Severities, strategies=["zero_shot"], samples=4)
def test_cued(puma):
    pass
"""
ROWS = [{"text": f"The {name} is slow.", "severity": "Minor"} for name in ("login", "export", "search", "menu")]
RUBRIC = """
from pytest_puma import rubric
from pytest_puma.judges import VerdictScale

#: Words that the bundled model writes.
SCALE = VerdictScale({"en": ("Minor", "Major")}, (1.0, 0.0))

def pytest_puma_metrics():
    return [rubric("calm", "Is it Minor or Major?", scale=SCALE, expected=True, reasons=8)]
"""
JUDGED = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=4, gates=["judge.calm >= 0"])
def test_judged(puma):
    pass
"""


@pytest.fixture(scope="module")
def llama() -> Iterator[LlamaServer]:
    server = LlamaServer(TINY)
    yield server
    server.kill()


@pytest.fixture
def proxy(llama: LlamaServer) -> Iterator[Stub]:
    with proxied(llama) as stub:
        yield stub


@pytest.fixture
def bench(pytester: pytest.Pytester) -> Project:
    pytester.makeini("[pytest]\npuma_naive_baselines = false\n")
    pytester.makepyfile(test_triage=BENCHMARK)
    return Project(pytester, TINY, 0)


def texts(project: Project, model: str) -> dict[tuple[str, str], Any]:
    return {
        (line["cell"].partition("@")[0], line["sample_id"]): line["raw"]
        for line in project.predictions()
        if line["cell"].endswith(f"@{model}")
    }


def served(stub: Stub, parallel: int = 4) -> str:
    return f"--puma-model=server:remote={stub.url},model={TINY},parallel={parallel}"


def check_texts(project: Project) -> None:
    """All texts are equal: the smallest lead of a token is twice the difference between the builds of llama.cpp."""
    local, remote = texts(project, "local"), texts(project, "remote")
    assert len(local) == 20
    assert remote == local


def test_the_greedy_texts_are_those_of_the_engine(bench: Project, proxy: Stub) -> None:
    bench.run(f"--puma-model=local={TINY},strict=on", served(proxy), model=False).assert_outcomes(passed=4)
    check_texts(bench)


def test_a_cue_is_continued(bench: Project, proxy: Stub) -> None:
    bench.write(test_triage=CUED)
    write_rows(bench, "severities.jsonl", *ROWS)
    bench.run(f"--puma-model=local={TINY},strict=on", served(proxy), model=False).assert_outcomes(passed=2)
    local, remote = texts(bench, "local"), texts(bench, "remote")
    assert any(local.values())
    assert remote == local


def test_a_server_judges_by_the_probabilities_of_its_tokens(bench: Project, proxy: Stub) -> None:
    bench.write(conftest=RUBRIC, test_triage=JUDGED)
    judge = served(proxy).replace("--puma-model", "--puma-judge")
    bench.run(f"--puma-model=local={TINY}", judge, model=False).assert_outcomes(passed=1)
    (outcome,) = bench.record()["outcomes"]
    assert outcome["signature"]["judge"]["weights"] == "not verified"
    assert outcome["measures"]["judge.calm.unreadable_rate"]["value"] == 0
    calm = outcome["measures"]["judge.calm"]
    assert 0 < calm["value"] < 1
    assert calm["note"].endswith("the weights of the judge are not verified")
    assert "not verified" not in outcome["measures"]["accuracy"]["note"]


def test_faults_on_the_way_lose_nothing_and_are_said(bench: Project, proxy: Stub, llama: LlamaServer) -> None:
    proxy.faults.extend(
        [
            Fault(status=429, headers={"Retry-After": "0"}, body={"error": {"message": "slow down"}}),
            Fault(status=500, body="no JSON"),
            Fault(hangs_up=True),
            Fault(body={"choices": []}, cut=True),
            None,
            Fault(status=503, body={"error": {"message": "Loading model"}}),
        ]
    )
    reply, once = proxy.reply, threading.Lock()

    def dies(body: dict[str, Any]) -> Any:
        if len(proxy.asked) >= 16 and once.acquire(blocking=False):
            llama.kill()
            lost = reply(body)
            llama.start()
            return lost
        return reply(body)

    proxy.reply = dies
    result = bench.run(f"--puma-model=local={TINY},strict=on", served(proxy), model=False)
    result.assert_outcomes(passed=4)
    assert once.locked()
    check_texts(bench)
    shown = result.stdout.str()
    assert shown.count("had to be sent again") == 2
    for said in ("429: slow down (1)", "500: no JSON (1)", "the connection ended in the middle of an answer (1)"):
        assert said in shown
