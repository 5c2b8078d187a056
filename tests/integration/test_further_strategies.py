"""Strategies that compare or budget replies, and those that choose examples, on a real model with random weights."""

from __future__ import annotations

from statistics import fmean

from tests.integration.conftest import ONE_PROCESS, Project

CELLS = """
import pytest

@pytest.mark.puma("triage_jira", strategies={strategies}, samples=6, max_tokens=8)
def test_triage(puma):
    pass
"""

QUIZ = """
import pytest

@pytest.mark.puma("commonsense_mini", strategies=["guided_50"], samples=3)
def test_quiz(puma):
    pass
"""


def written(project: Project, *strategies: str) -> Project:
    project.write(test_all=CELLS.format(strategies=list(strategies)))
    return project


@ONE_PROCESS
def test_the_best_reply_is_cited_and_all_are_kept(project: Project) -> None:
    written(project, "best_of_3").run().assert_outcomes(passed=1)
    first = project.predictions()
    for prediction in first:
        means = [fmean(turn["logprobs"]) for turn in prediction["turns"]]
        assert len({*means}) == 3
        assert [turn.get("cited", True) for turn in prediction["turns"]] == [mean == max(means) for mean in means]
    earlier = project.folder
    project.run(f"--puma-rescore={earlier}", model=False).assert_outcomes(passed=1)
    earlier.rename(project.pytester.path / "earlier")
    assert [prediction["raw"] for prediction in project.predictions()] == [prediction["raw"] for prediction in first]


def test_a_plan_counts_the_tokens_of_all_replies(alone: Project) -> None:
    planned = written(alone, "zero_shot", "best_of_3").run("--puma-plan")
    planned.stdout.fnmatch_lines(["*-zero_shot@* 48 *", "*-best_of_3@* 144 *"])


def test_a_plan_shows_that_examples_of_each_sample_are_not_shared(alone: Project) -> None:
    planned = written(alone, "few_shot_3", "few_shot_similar_3").run("--puma-plan")
    lines = [line.split() for line in planned.outlines if line.startswith("triage_jira-few")]
    (shared, cached), (own, rest) = ([int(number.replace(",", "")) for number in line[2:4]] for line in lines)
    assert rest < cached / 2
    assert own - rest > 2 * (shared - cached)


@ONE_PROCESS
def test_guided_replies_are_kept_and_a_weight_of_nothing_changes_none(project: Project) -> None:
    written(project, "zero_shot", "guided_0", "guided_300").run("--puma-strict").assert_outcomes(passed=3)
    replies: dict[str, list[str]] = {}
    for prediction in project.predictions():
        replies.setdefault(prediction["cell"], []).append(prediction["raw"])
    plain, none, strong = (
        replies[f"triage_jira-{strategy}@tiny"] for strategy in ("zero_shot", "guided_0", "guided_300")
    )
    assert plain == none != strong
    project.run("--puma-strict", "--puma-offline").assert_outcomes(passed=3)


def test_a_plan_counts_the_tokens_of_both_prompts(alone: Project) -> None:
    planned = written(alone, "zero_shot", "guided_50").run("--puma-plan")
    lines = [line.split() for line in planned.outlines if line.startswith("triage_jira-")]
    (plain, _), (both, shared) = ([int(number.replace(",", "")) for number in line[2:4]] for line in lines)
    assert plain < both < 2 * plain
    # The second prompt is the same for all samples.
    assert shared > both / 2


def test_a_scenario_without_a_second_prompt_learns_which_file_to_write(alone: Project) -> None:
    alone.write(test_quiz=QUIZ)
    result = alone.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*no template guided_50.jinja or guided.jinja *; create *guided.jinja, with a block against*"]
    )
