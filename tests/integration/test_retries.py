"""Retries, as their user sees them: alone and with workers, kept, rescored, by an option, and without an effect."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.conftest import ONE_PROCESS, Project
from tests.integration.knowing_model import refused, write_rows

BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "option_scoring"], samples=6{options})
def test_triage(puma):
    pass
"""

#: The model writes its answer byte by byte, and may go wrong at each: about half of its replies are no label.
HESITANT = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend({}, default="Major", confidence=6.8, digest="5a")
"""


def outcome(project: Project, strategy: str = "zero_shot") -> dict[str, Any]:
    return next(each for each in project.record()["outcomes"] if each["strategy"] == strategy)


def test_a_greedy_reply_without_an_answer_is_asked_again_under_a_grammar(project: Project) -> None:
    project.write(
        test_triage=BENCHMARK.format(options=', retries=2, gates=["retry_rate <= 1", "parse_failure_rate <= 0"]')
    )
    project.run().assert_outcomes(passed=2)
    cell, scored = outcome(project), outcome(project, "option_scoring")
    assert cell["measures"]["retry_rate"]["value"] == 1.0, "random weights never write a label by themselves"
    assert scored["measures"]["retry_rate"]["value"] == 0.0
    assert (cell["signature"]["retries"], cell["measures"]["parse_failure_rate"]["value"]) == (2, 0.0)
    lines = [line for line in project.predictions() if line["cell"].startswith("triage_jira-zero_shot")]
    assert {line["tries"] for line in lines} == {2}
    for line in lines:
        first, second = line["turns"]
        assert (first["cited"], second["text"].strip()) == (False, line["answer"])
        assert line["raw"] == [second["text"]]


@ONE_PROCESS
def test_a_run_spec_asks_for_retries_as_a_marker_does(project: Project) -> None:
    spec = "scenario: triage_jira\nadaptation: {strategy: zero_shot}\nsample_size: 6\nretries: 2\n"
    (project.pytester.path / "triage.puma.yaml").write_text(spec, encoding="utf-8")
    project.run().assert_outcomes(passed=1)
    cell = outcome(project)
    assert (cell["signature"]["retries"], cell["measures"]["parse_failure_rate"]["value"]) == (2, 0.0)
    assert {line["tries"] for line in project.predictions()} == {2}


@ONE_PROCESS
def test_a_sampled_reply_is_sampled_again_and_every_attempt_is_kept(project: Project) -> None:
    project.write(conftest=HESITANT, test_triage=BENCHMARK.format(options=", retries=4, temperature=1.0"))
    project.run("-k", "zero_shot").assert_outcomes(passed=1)
    first = outcome(project)
    assert 0 < first["measures"]["retry_rate"]["value"] < 1
    attempts = {line["sample_id"]: line["tries"] for line in project.predictions()}
    assert len({*attempts.values()}) > 1
    project.run("-k", "zero_shot", "--puma-offline", f"--puma-model={project.model}@5a", model=False).assert_outcomes(
        passed=1
    )
    result = project.run("-k", "zero_shot", "--puma-rescore=last", model=False)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*retry_rate*"])


@ONE_PROCESS
def test_an_attempt_depends_on_its_trial_alone(project: Project) -> None:
    project.write(conftest=HESITANT, test_triage=BENCHMARK.format(options=", retries=4, temperature=1.0"))
    project.run("-k", "zero_shot", "--puma-store=off").assert_outcomes(passed=1)
    six = {line["sample_id"]: line["raw"] for line in project.predictions()}
    project.pytester.path.joinpath(".puma").rename(project.pytester.path / "old")
    project.run("-k", "zero_shot", "--puma-store=off", "--puma-samples=3").assert_outcomes(passed=1)
    three = {line["sample_id"]: line["raw"] for line in project.predictions()}
    assert len(three) == 3
    assert three.items() <= six.items()


@ONE_PROCESS
def test_without_retries_nothing_is_named(project: Project) -> None:
    project.write(test_triage=BENCHMARK.format(options=""))
    project.run().assert_outcomes(passed=2)
    assert "retries" not in outcome(project)["signature"]
    assert "retry_rate" not in outcome(project)["measures"]
    assert {line["tries"] for line in project.predictions()} == {1}


def test_the_option_wins_over_the_marker_and_the_marker_over_the_ini_file(alone: Project) -> None:
    marked = BENCHMARK.format(options=", retries=1").replace("test_triage", "test_marked")
    marked = marked.replace('"triage_jira"', '"prioritization_jira"')
    alone.write(conftest="", test_triage=BENCHMARK.format(options=""), test_marked=marked)
    alone.pytester.makeini("[pytest]\npuma_naive_baselines = false\npuma_retries = 2\n")
    alone.run("-k", "zero_shot").assert_outcomes(passed=2, deselected=2)
    stated = {each["scenario"]: each["signature"].get("retries") for each in alone.record()["outcomes"]}
    assert stated == {"triage_jira": 2, "prioritization_jira": 1}
    alone.pytester.path.joinpath(".puma").rename(alone.pytester.path / "old")
    alone.run("-k", "zero_shot", "--puma-retries=0").assert_outcomes(passed=2, deselected=2)
    assert not any("retries" in each["signature"] for each in alone.record()["outcomes"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--puma-retries=-1",), "the command line: retries is -1; expected a number from 0"),
        (("--puma-retries=x",), "*'x'*"),
        (("--puma-rescore=last", "--puma-retries=1"), "--puma-rescore and --puma-retries: the answers are those of *"),
    ],
)
def test_an_option_that_cannot_be_is_a_usage_error(alone: Project, options: tuple[str, ...], sentence: str) -> None:
    alone.write(test_triage=BENCHMARK.format(options=""))
    result = alone.run(*options, model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{sentence}*"])


FREE = """
import pytest
from pytest_puma import CompletionScenario

class Free(CompletionScenario):
    name = "free"
    data = "free.jsonl"

    def instruction(self, item):
        return item["text"]

    def truth(self, item):
        return "x"

@pytest.mark.puma(Free, strategies=["zero_shot"], retries={retries})
def test_free(puma):
    pass
"""


@pytest.mark.parametrize(
    ("retries", "expected"),
    [
        ("1", "retries is 1 at temperature 0, where a retry follows a grammar of the answers: scenario 'free', row"),
        ("-1", "retries is -1; expected a number from 0"),
        ("0.5", "retries is 0.5; expected a whole number"),
    ],
)
def test_retries_that_cannot_be_are_refused_at_collection(alone: Project, retries: str, expected: str) -> None:
    alone.write(test_free=FREE.format(retries=retries))
    write_rows(alone, "free.jsonl", {"text": "a"}, {"text": "b"})
    assert expected in refused(alone)
