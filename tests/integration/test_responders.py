"""The hook `pytest_puma_responder`: what answers in place of a model, and the judge of its answers."""

from __future__ import annotations

import json

from tests.integration.conftest import Project

#: A responder that knows no engine: it repeats the last word of each prompt, and scores nothing.
REMOTE = """
from pytest_puma import metric
from pytest_puma.core import Identity, Message, Prompt, Provenance, Response, Score, Speed, ask
from pytest_puma.testing import Engine, ScriptedBackend

class Remote:
    capabilities = frozenset({"generate"})
    backend, kept, speed = None, 0, Speed()
    identity = Identity(weights="unknown", signature={"server": "remote"})

    def begin(self, cell, signature):
        self.signature, self.open, self.tickets = signature, {}, 0

    def submit_all(self, requests, origins=(), *, beside=()):
        first = self.tickets
        self.tickets += len(requests)
        new = range(first, self.tickets)
        self.open |= {ticket: Response(text="Major") for ticket in new}
        with open("asked.txt", "a") as file:
            file.write("x" * len(requests))
        return list(new)

    def step(self):
        ready, self.open = self.open, {}
        return ready

    def provenance(self):
        return Provenance(signature={**self.signature, "engine": dict(self.identity.signature)})

    def reset(self):
        self.open = {}

    close = reset

def pytest_puma_responder(model, role):
    if role == "model":
        return Remote()
    return Engine(ScriptedBackend(lambda text: "yes", digest="5a"))

@metric
def is_short(sample, prediction):
    prompt = Prompt(messages=(Message(role="user", content=f"Short? {prediction.text}"),))
    response = yield from ask(Score(prompt=prompt, continuations=("yes", "no")))
    return response.logprobs[0] > response.logprobs[1]

def pytest_puma_metrics():
    return [is_short]
"""
BENCHMARK = """
import pytest
STRATEGIES = ["zero_shot", "option_scoring"]

@pytest.mark.puma("triage_jira", strategies=STRATEGIES, samples=4, metrics=["is_short"], gates=GATES)
def test_triage(puma):
    pass
"""


def test_a_responder_of_a_plugin_answers_and_another_one_judges(project: Project) -> None:
    project.write(conftest=REMOTE, test_triage=BENCHMARK.replace("GATES", '["is_short >= 0.2"]'))
    result = project.run()
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["* puma: not run *", "not run: *it needs 'score', which * cannot do; expected *"])
    result.stdout.fnmatch_lines(["*weights not verified*"])
    (outcome,) = project.record()["outcomes"]
    assert outcome["measures"]["is_short"]["value"] == 1.0
    assert outcome["signature"]["engine"] == {"server": "remote", "weights": "not verified"}
    assert outcome["signature"]["judge"]["backend"] == "scripted"


def test_the_answers_of_any_responder_with_an_identity_are_kept(project: Project) -> None:
    project.write(conftest=REMOTE, test_triage=BENCHMARK.replace("GATES", "[]"))
    for _ in range(2):
        project.run().assert_outcomes(passed=1, skipped=1)
    assert (project.pytester.path / "asked.txt").read_text() == "xxxx"
    newest = max((project.pytester.path / ".puma" / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    (outcome,) = json.loads((newest / "run.json").read_text(encoding="utf-8"))["outcomes"]
    assert (outcome["kept"]["kept"], outcome["kept"]["responses"]) == (4, 4)


def test_a_judge_that_fails_loses_no_answer_of_the_model(project: Project) -> None:
    broken = REMOTE.replace('lambda text: "yes"', "lambda text: 1 / 0")
    project.write(conftest=broken, test_triage=BENCHMARK.replace("GATES", "[]"))
    project.run().assert_outcomes(errors=1, skipped=1)
    assert [line["answer"] for line in project.predictions()] == ["Major"] * 4
    project.write(conftest=REMOTE)
    project.run("--puma-rescore=last", model=False).assert_outcomes(passed=1)


def test_what_a_responder_cannot_measure_is_no_number(project: Project) -> None:
    unmeasured = 'unmeasured={"tokens": "are unknown: the server sends no usage"}'
    project.write(
        conftest=REMOTE.replace("Provenance(signature", f"Provenance({unmeasured}, signature"),
        test_triage=BENCHMARK.replace("GATES", '["tokens_decoded_mean <= 9"]'),
    )
    result = project.run()
    result.stdout.fnmatch_lines(["*tokens_decoded_mean are unknown: the server sends no usage*"])
    assert "tokens_decoded_mean" not in project.record()["outcomes"][0]["measures"]


def test_warnings_about_a_judge_are_shown(project: Project) -> None:
    judge = REMOTE.replace('return Engine(ScriptedBackend(lambda text: "yes", digest="5a"))', "return Doubtful()")
    doubtful = """
class Doubtful(Remote):
    capabilities = frozenset({"generate", "score"})

    def submit_all(self, requests, origins=(), *, beside=()):
        tickets = super().submit_all(requests)
        self.open = {ticket: Response(logprobs=(-0.1, -2.0), finish="scored") for ticket in tickets}
        return tickets

    def provenance(self):
        return Provenance(signature={}, warnings=("it was slow",))
"""
    project.write(conftest=judge + doubtful, test_triage=BENCHMARK.replace("GATES", "[]"))
    result = project.run()
    result.stdout.fnmatch_lines(["*warning: *the judge: it was slow*"])
