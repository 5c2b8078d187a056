"""Errors of `--puma-rescore`: answers that the run does not have, options that contradict it, an unknown run."""

from __future__ import annotations

import pytest

from tests.integration.benchmark_files import TASKS, TRIAGE, data_of
from tests.integration.conftest import Project
from tests.integration.past_runs import earlier


def test_more_samples_than_the_run_has_are_an_error(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    alone.run(model=False).assert_outcomes(passed=1)
    before = earlier(alone)
    result = alone.run(f"--puma-rescore={before}", "--puma-samples=10", model=False)
    result.assert_outcomes(errors=1)
    message = (
        f"--puma-rescore {before.name}: sample '*' of triage_jira-zero_shot@puma-tiny is not in the run, which has 8 "
        "answers of this cell from the file data/jira_balanced_200.csv; repeat the options of that run, such as "
        "--puma-data or --puma-stop-early, or run the benchmark again without --puma-rescore (1 more have no answer "
        "either)"
    )
    result.stdout.fnmatch_lines([f"*{message}*"])


def test_a_changed_prompt_is_an_error(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    alone.run(model=False).assert_outcomes(passed=1)
    before = earlier(alone)
    folder = alone.pytester.path / "prompts" / "triage_jira"
    folder.mkdir(parents=True)
    (folder / "zero_shot.jinja").write_text(
        "{% block user %}How urgent is {{ title }}?{% endblock %}", encoding="utf-8"
    )
    result = alone.run(f"--puma-rescore={before}", model=False)
    result.assert_outcomes(errors=1)
    message = (
        "the prompt of sample '*' of triage_jira-zero_shot@puma-tiny has changed from '*' to '*'; "
        "run the benchmark again without --puma-rescore (7 more have no answer either)"
    )
    result.stdout.fnmatch_lines([f"*{message}*"])


def test_a_metric_that_needs_more_than_the_run_has_is_an_error(alone: Project) -> None:
    data_of(alone)
    alone.write(test_tasks=TASKS.replace('scores = ("exact_match", "bits_per_byte")', 'scores = ("exact_match",)'))
    alone.run("-k", "capitals", model=False).assert_outcomes(passed=1)
    before = earlier(alone)
    alone.write(test_tasks=TASKS)
    result = alone.run(f"--puma-rescore={before}", "-k", "capitals", model=False)
    result.assert_outcomes(errors=1)
    message = (
        "sample '*' of capitals-zero_shot@puma-tiny makes more requests than in the run (1 there); run the benchmark "
    )
    result.stdout.fnmatch_lines([f"*{message}again without --puma-rescore*"])


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--puma-model=q.gguf", "puma: --puma-rescore and --puma-model: the answers are those of the run; expected *"),
        ("--puma-temperature=1", "puma: --puma-rescore and --puma-temperature: *"),
        ("--puma-determinism=3", "puma: --puma-rescore and --puma-determinism: *"),
        ("--puma-plan", "puma: --puma-rescore and --puma-plan: *"),
    ],
)
def test_options_about_answers_to_come_are_refused(alone: Project, option: str, message: str) -> None:
    alone.write(test_triage=TRIAGE)
    result = alone.run("--puma-rescore=last", option, model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])


@pytest.mark.parametrize("argument", ["last", "20260101T000000-1", "benchmarks"])
def test_a_run_that_does_not_exist_is_a_usage_error(alone: Project, argument: str) -> None:
    result = alone.run(f"--puma-rescore={argument}", model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    message = (
        f"ERROR: puma: --puma-rescore '{argument}': found no predictions.jsonl in a folder of this name; "
        f"RUN '{argument}': *there is no finished run: run a benchmark first"
    )
    result.stderr.fnmatch_lines([message])
