"""`repeats=` and `--puma-repeats`, as their user sees them."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from tests.integration.conftest import ONE_PROCESS, Project

BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "option_scoring"], samples=6, temperature=1.0{options})
def test_triage(puma):
    pass
"""

GATED = BENCHMARK.format(options=', repeats=3, gates=["accuracy >= baseline - 0.05"]').replace(', "option_scoring"', "")

#: The scripted model writes its answer byte by byte, and may go wrong at each.
HESITANT = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend({}, default="Major", confidence=7.0)
"""

ALWAYS = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend({{}}, default={answer!r})
"""

REFUSED = (
    "strategy zero_shot: repeats is 5 and temperature is 0, so all repeats of a sample would be the same; "
    "expected a positive temperature, as --puma-temperature 0.7, or 1 repeat"
)


def predictions(project: Project) -> dict[tuple[str, str, int], dict[str, Any]]:
    """By cell, sample and trial; the run folder is gone then."""
    lines = project.predictions()
    shutil.rmtree(project.pytester.path / ".puma")
    return {(line["cell"], line["sample_id"], line["trial"]): line for line in lines}


@pytest.mark.parametrize("kind", ["real", "scripted"])
def test_each_sample_is_asked_several_times(project: Project, kind: str) -> None:
    if kind == "scripted":
        project.write(conftest=HESITANT)
    project.write(test_triage=BENCHMARK.format(options=""))
    project.run("--puma-repeats=3").assert_outcomes(passed=2)
    outcomes = project.record()["outcomes"]
    lines = predictions(project)

    assert {trial for *_, trial in lines} == {0, 1, 2}
    assert [(each["samples"], each["trials"], each["left_out"]) for each in outcomes] == [(6, 18, 0)] * 2
    assert {each["signature"]["repeats"] for each in outcomes} == {3}
    assert {each["measures"]["accuracy"]["n"] for each in outcomes} == {6}, "questions, not trials"
    assert len({tuple(line["raw"]) for (cell, *_), line in lines.items() if "zero_shot" in cell}) > 6
    for (_, sample_id, trial), line in lines.items():
        assert line["units"] == [sample_id, sample_id]
        assert not trial or line["usage"]["prompt_tokens"] - line["usage"]["cached_tokens"] <= 1, "no second prefill"


@ONE_PROCESS
@pytest.mark.parametrize("kind", ["real", "scripted"])
def test_the_first_trial_is_that_of_a_run_without_repeats(project: Project, kind: str) -> None:
    if kind == "scripted":
        project.write(conftest=HESITANT)
    project.write(test_triage=BENCHMARK.format(options="").replace(', "option_scoring"', ""))
    # Otherwise the other trials in the batch may change a text of the real model.
    project.run("--puma-strict", "--puma-store=off", "--puma-repeats=2").assert_outcomes(passed=1)
    several = predictions(project)
    project.run("--puma-strict", "--puma-store=off").assert_outcomes(passed=1)
    single = predictions(project)

    assert {key: line["raw"] for key, line in single.items()} == {key: several[key]["raw"] for key in single}
    assert all(line["units"] == [key[1]] for key, line in single.items())


@ONE_PROCESS
def test_the_same_command_gives_the_same_trials(project: Project) -> None:
    project.write(test_triage=BENCHMARK.format(options=", repeats=2"))
    project.run("--puma-store=off").assert_outcomes(passed=2)
    first = predictions(project)
    project.run("--puma-store=off").assert_outcomes(passed=2)
    assert predictions(project) == first


def test_the_ini_file_may_ask_for_it_and_the_marker_wins(alone: Project) -> None:
    marked = BENCHMARK.format(options=", repeats=3").replace("test_triage", "test_marked")
    marked = marked.replace('"triage_jira"', '"prioritization_jira"')
    alone.write(test_triage=BENCHMARK.format(options=""), test_marked=marked)
    alone.pytester.makeini("[pytest]\npuma_naive_baselines = false\npuma_repeats = 2\n")
    alone.run("-k", "zero_shot").assert_outcomes(passed=2, deselected=2)
    assert {each["scenario"]: each["trials"] for each in alone.record()["outcomes"]} == {
        "triage_jira": 12,
        "prioritization_jira": 18,
    }


def test_repeats_at_temperature_0_are_an_error_of_the_collection(alone: Project) -> None:
    alone.write(test_triage=BENCHMARK.format(options=", repeats=5").replace("temperature=1.0", "temperature=0"))
    result = alone.run()
    assert result.ret != pytest.ExitCode.OK
    result.stdout.fnmatch_lines([f"*puma: test_triage.py::test_triage: {REFUSED}*"])


@pytest.mark.parametrize(
    ("option", "sentence"),
    [("--puma-repeats=0", "the command line: repeats is 0; expected a number from 1"), ("--puma-repeats=x", "*'x'*")],
)
def test_what_is_no_number_of_repeats_is_refused(alone: Project, option: str, sentence: str) -> None:
    alone.write(test_triage=BENCHMARK.format(options=""))
    result = alone.run(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{sentence}*"])


def test_a_plan_counts_trials(alone: Project) -> None:
    alone.write(conftest="", test_triage=BENCHMARK.format(options=", repeats=4"))
    result = alone.run("--puma-plan")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.re_match_lines([r"cell +n +trials +prompt tokens", r"triage_jira-zero_shot@tiny +6 +24 "])
    alone.run("--puma-plan", "--puma-repeats=1").stdout.re_match_lines([r"cell +n +prompt tokens"])


def test_a_baseline_of_trials_is_compared_trial_by_trial(alone: Project) -> None:
    alone.write(test_triage=GATED, conftest=ALWAYS.format(answer="Major"))
    alone.run("--puma-update-baseline").assert_outcomes(passed=1)
    alone.run().assert_outcomes(passed=1)

    alone.write(conftest=ALWAYS.format(answer="Minor"))
    result = alone.run("--puma-flips")
    result.stdout.re_match_lines([r"flips of triage_jira-zero_shot@tiny: \d+ worse, \d+ better"])
    result.stdout.re_match_lines([r"  worse   [A-Z]+-\d+ #1 \(.*\): gold is Major, was Major, is Minor"])
    result.stdout.re_match_lines([r"  worse   [A-Z]+-\d+ #3 \(.*\): gold is Major, was Major, is Minor"])


def test_a_baseline_of_other_repeats_says_so(alone: Project) -> None:
    alone.write(test_triage=GATED)
    alone.run("--puma-update-baseline").assert_outcomes(passed=1)
    result = alone.run("--puma-repeats=2", "--puma-gate=accuracy >= baseline + 0.5")
    result.stdout.fnmatch_lines(["*on the 12 trials that both have*; changed since: the repeats*"])


def test_early_stopping_and_the_check_of_determinism_count_samples(alone: Project) -> None:
    alone.write(test_triage=BENCHMARK.format(options=', repeats=2, gates=["accuracy <= 0.95"]').replace("=6", "=50"))
    result = alone.run("--puma-stop-early", "--puma-determinism=3", "-k", "zero_shot")
    result.stdout.fnmatch_lines(
        [
            "determinism: triage_jira-zero_shot@tiny: 0 of 3 texts and 0 of 3 answers change when run alone",
            "stopped early: 1 of 1 cells; 27 of 50 samples were not needed;*",
        ]
    )


def test_a_run_spec_repeats_too(alone: Project) -> None:
    spec = "scenario: triage_jira\nadaptation: {strategy: zero_shot}\ninference: {temperature: 1}\nsample_size: 3\n"
    (alone.pytester.path / "triage.puma.yaml").write_text(f"{spec}repeat: 2\n", encoding="utf-8")
    alone.run().assert_outcomes(passed=1)
    assert [each["trials"] for each in alone.record()["outcomes"]] == [6]


def test_trials_have_a_column_in_pandas(alone: Project) -> None:
    alone.write(test_triage=BENCHMARK.format(options=", repeats=2"))
    alone.run().assert_outcomes(passed=2)
    from pytest_puma import load_run

    frame = load_run(alone.pytester.path).predictions
    assert frame.groupby("cell")["trial"].value_counts().to_list() == [6, 6, 6, 6]
