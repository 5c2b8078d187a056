"""A server as a model: the whole run, with the stub of `tests.servers` in place of a server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.conftest import ONE_PROCESS, Project
from tests.servers.stub import Fault, Stub, answer, serving

KEY = "sk-very-secret-4711"
BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "option_scoring"], samples=6, gates=["accuracy >= 0"])
def test_triage(puma):
    pass
"""


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving(Stub()) as stub:
        yield stub


def model(stub: Stub, *settings: str) -> str:
    return ",".join([f"--puma-model=server:tiny={stub.url}", "model=tiny", *settings])


def newest(project: Project) -> Path:
    return max((project.pytester.path / ".puma" / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)


def test_a_server_answers_and_every_number_is_marked(project: Project, stub: Stub) -> None:
    project.write(test_triage=BENCHMARK)
    reports = [f"--puma-report={name}" for name in ("md:r.md", "csv:r.csv", "html:r.html", "junit-props")]
    reports.append("--junit-xml=r.xml")
    result = project.run(model(stub), *reports, model=False)
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines_random(
        [
            "*it needs 'score', which tiny cannot do; expected another strategy or model*",
            "*accuracy * 0.*[*]*",
            "[*] *; weights not verified (f1_macro of triage_jira-zero_shot@tiny and 1 more)",
            f"warning: tiny: the answers are those of the server {stub.url}; its weights are not verified",
        ]
    )
    assert len(stub.asked) == 6
    (outcome,) = project.record()["outcomes"]
    assert all(measure["note"].endswith("weights not verified") for measure in outcome["measures"].values())
    engine = outcome["signature"]["engine"]
    assert (engine["server"], engine["server_model"], engine["weights"]) == (stub.url, "tiny", "not verified")
    for report in ("r.md", "r.csv", "r.html", "r.xml"):
        assert "weights not verified" in (project.pytester.path / report).read_text(encoding="utf-8")


@ONE_PROCESS
def test_a_baseline_of_a_server_is_marked_in_each_sentence_about_it(project: Project, stub: Stub) -> None:
    gates = '"no_regression", "no_drift", "accuracy >= baseline - 0.1"'
    project.write(test_triage=BENCHMARK.replace('"accuracy >= 0"', gates))
    project.run(model(stub), "--puma-update-baseline", model=False).assert_outcomes(passed=1, skipped=1)
    (project.pytester.path / ".puma").rename(project.pytester.path / "old")
    stub.reply = lambda _: answer("Trivial")
    project.run(model(stub), model=False)
    (outcome,) = project.record()["outcomes"]
    assert len(outcome["verdicts"]) == 3
    for verdict in outcome["verdicts"]:
        assert "(weights not verified)" in verdict["reason"], verdict


@ONE_PROCESS
def test_the_key_and_the_headers_are_in_no_file(project: Project, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    project.write(test_triage=BENCHMARK)
    stub.faults.extend([Fault(status=429, body={"error": {"message": f"slow down, {KEY}"}}), None, None])
    options = (model(stub, "key=MY_KEY"), "--puma-report=html:r.html", "--puma-report=json:r.json", "--showlocals")
    shown = project.run(*options, model=False).stdout.str()
    stub.faults.append(Fault(status=401, body={"error": {"message": f"no such key: {KEY}"}}))
    failed = project.run(*options, "--puma-store=fresh", "--junit-xml=junit.xml", "--full-trace", model=False)
    failed.assert_outcomes(errors=1, skipped=1)
    failed.stdout.fnmatch_lines(["*HTTP status 401: no such key: ...*"])
    assert all(headers["Authorization"] == f"Bearer {KEY}" for headers in stub.headers)
    files = [path for path in project.pytester.path.rglob("*") if path.is_file() and "junit" not in path.name]
    assert any(path.name == "responses.sqlite" for path in files)
    for text in (shown, failed.stdout.str(), *(path.read_bytes().decode(errors="replace") for path in files)):
        assert KEY not in text
        assert "Authorization" not in text


@ONE_PROCESS
def test_a_key_in_the_argument_is_refused_and_not_shown(project: Project, stub: Stub) -> None:
    project.write(test_triage=BENCHMARK)
    for arguments in ([f"key={KEY}"], ["key=NOT_SET_ANYWHERE"]):
        result = project.run(model(stub, *arguments), model=False)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert KEY not in result.stdout.str() + result.stderr.str()
    assert not stub.headers


@ONE_PROCESS
def test_a_server_that_dies_and_comes_back_resumes(project: Project) -> None:
    project.write(test_triage=BENCHMARK)
    first, second = Stub(), Stub()
    with serving(first) as stub:
        port = int(stub.url.split(":")[2].split("/")[0])
        stub.faults.extend([None, None, None, Fault(status=418, body={"error": "I am going"})])
        argument = model(stub, "parallel=1")
        project.run(argument, model=False).assert_outcomes(errors=1, skipped=1)
    with serving(second, port):
        result = project.run(argument, model=False)
        result.assert_outcomes(passed=1, skipped=1)
    assert (len(first.asked), len(second.asked)) == (4, 3)
    result.stdout.fnmatch_lines(["kept answers: 3 of 6 in 1 cell, from run *"])
    (outcome,) = json.loads((newest(project) / "run.json").read_text(encoding="utf-8"))["outcomes"]
    assert outcome["measures"]["accuracy"]["n"] == 6


@ONE_PROCESS
def test_tokens_that_a_server_does_not_count_are_never_zero(project: Project, stub: Stub) -> None:
    project.write(test_triage=BENCHMARK.replace("accuracy >= 0", "tokens_decoded_mean <= 9"))
    stub.reply = lambda _: answer("Major", usage=None)
    for said in ("the server does not count them", "what gave the kept answers did not count them"):
        project.run(model(stub), model=False).stdout.fnmatch_lines([f"*tokens_decoded_mean are unknown: {said}*"])
        (outcome,) = json.loads((newest(project) / "run.json").read_text(encoding="utf-8"))["outcomes"]
        assert "tokens_decoded_mean" not in outcome["measures"]
    assert len(stub.asked) == 6


@ONE_PROCESS
def test_kept_answers_are_those_of_the_served_model(project: Project, stub: Stub) -> None:
    project.write(test_triage=BENCHMARK)
    for _ in range(2):
        project.run(model(stub), model=False).assert_outcomes(passed=1, skipped=1)
    assert len(stub.asked) == 6
    offline = project.run("--puma-offline", model(stub, "key=NEVER_SET"), "-k", "zero_shot", model=False)
    offline.assert_outcomes(passed=1, deselected=1)
    stub.pages["/v1/models"] = {"data": [{"id": "tiny", "owned_by": "somebody", "root": "another-file"}]}
    project.run(model(stub), model=False).assert_outcomes(passed=1, skipped=1)
    assert len(stub.asked) == 12


@ONE_PROCESS
@pytest.mark.parametrize("option", ["--puma-strict", "--puma-determinism=2"])
def test_options_of_the_engine_are_refused(project: Project, stub: Stub, option: str) -> None:
    project.write(test_triage=BENCHMARK)
    result = project.run(model(stub), option, model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    name = option.partition("=")[0]
    result.stderr.fnmatch_lines([f"*{name}: tiny is a server, which batches requests in its own way*"])
