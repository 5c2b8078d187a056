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
