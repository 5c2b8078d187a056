"""Completions as a user writes them, alone and with workers: gates, baselines, perturbations, the plan."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.conftest import ONE_PROCESS, Project
from tests.integration.knowing_model import KNOWING, refused, write_rows

CAPITALS = """
import pytest
from pytest_puma import CompletionScenario

class Capitals(CompletionScenario):
    name = "capitals"
    data = {"test": "capitals.jsonl", "train": "more_capitals.jsonl"}
    group_columns = ("continent",)
    scores = ("exact_match", "f1_words")
    text_fields = ("country",)

    def instruction(self, item):
        return f"Q: What is the capital of {item['country']}?"

    def cue(self, item):
        return "A:"

    def truth(self, item):
        return item["capital"]

@pytest.mark.puma(Capitals, strategies=["zero_shot", "few_shot_2"], gates=[
    "exact_match >= 0.7", "exact_match[continent=Asia] >= 0.5", "f1_words >= baseline - 0.05"])
def test_capitals(puma):
    assert puma["truncation_rate"] == 0
"""

ROWS: list[dict[str, Any]] = [
    {"country": "Italy", "capital": ["Rome", "Roma"], "continent": "Europe"},
    {"country": "Norway", "capital": "Oslo", "continent": "Europe"},
    {"country": "Japan", "capital": "Tokyo", "continent": "Asia"},
    {"country": "India", "capital": "New Delhi", "continent": "Asia"},
]

PERU: dict[str, Any] = {"country": "Peru", "capital": "Lima", "continent": "Europe"}

EXAMPLES: list[dict[str, Any]] = [
    {"country": f"{name}land", "capital": f"{name}ville", "continent": continent}
    for name in ("Ab", "Cd", "Ef")
    for continent in ("Asia", "Europe")
]


@pytest.fixture
def capitals(project: Project) -> Project:
    return with_capitals(project)


@pytest.fixture
def alone_capitals(alone: Project) -> Project:
    return with_capitals(alone)


def with_capitals(project: Project) -> Project:
    project.write(conftest=KNOWING, test_capitals=CAPITALS)
    write_rows(project, "capitals.jsonl", *ROWS, PERU)
    write_rows(project, "more_capitals.jsonl", *EXAMPLES)
    return project


@ONE_PROCESS
def test_completions_are_measured_judged_and_kept(capitals: Project) -> None:
    result = capitals.run("--puma-report=md:run.md")
    result.assert_outcomes(passed=2)
    outcomes = capitals.record()["outcomes"]
    assert len(outcomes) == 2
    for outcome in outcomes:
        assert outcome["measures"]["exact_match"]["value"] == 0.8
        assert outcome["measures"]["exact_match[continent=Asia]"]["value"] == 1
        assert outcome["naive_baselines"] == {}
        assert outcome["confusion"] == {}
    kept = next(each for each in capitals.predictions() if each["fields"]["country"] == "Italy")
    assert (kept["answer"], kept["references"], kept["scores"]["exact_match"]) == ("Rome", ["Rome", "Roma"], 1)
    markdown = (capitals.pytester.path / "run.md").read_text(encoding="utf-8")
    assert "exact_match[continent=Asia]" in markdown


@ONE_PROCESS
def test_flips_are_shown_as_texts_with_the_scores_then_and_now(capitals: Project) -> None:
    # Of `f1_words`, a part of the words can be right.
    test = CAPITALS.replace('("exact_match", "f1_words")', '("f1_words", "exact_match")')
    capitals.write(test_capitals=test)
    capitals.run("--puma-update-baseline", "-k", "zero_shot").assert_outcomes(passed=1)
    capitals.write(conftest=KNOWING.replace("New Delhi", "Old Delhi " + "or so " * 20))
    worse = capitals.run("--puma-flips", "-k", "zero_shot")
    worse.assert_outcomes(failed=1)
    worse.stdout.fnmatch_lines(
        [
            "flips of capitals-zero_shot@*: 1 worse, 0 better",
            "  worse   * (India): gold is New Delhi, was New Delhi, is Old Delhi or so or so*..., score 1.00 to 0.*",
        ]
    )


@pytest.mark.parametrize("better", ["high", "low"])
def test_equal_replies_have_equal_scores_in_a_baseline(alone_capitals: Project, better: str) -> None:
    """A baseline keeps six digits of a score such as 2/3, rounded up, or 4/9, rounded down."""
    metric = f"""
from pytest_puma import metric

@metric(better="{better}")
def thirds(sample, prediction):
    return 4 / 9 if sample.fields["country"] == "Italy" else 2 / 3
"""
    gate = "thirds >= baseline" if better == "high" else "thirds <= baseline"
    test = CAPITALS.replace('("exact_match", "f1_words")', '(thirds, "exact_match")')
    test = test.replace("f1_words >= baseline - 0.05", f'{gate}", "no_regression')
    alone_capitals.write(test_capitals=metric + test)
    alone_capitals.run("--puma-update-baseline", "-k", "zero_shot").assert_outcomes(passed=1)
    result = alone_capitals.run("--puma-flips", "--puma-compare=baseline", "-k", "zero_shot")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["flips: no answer of this run is better or worse than in a baseline"])
    result.stdout.re_match_lines([r".* the baseline +thirds +\+0 +\[0, 0\] +0 +0 +permutation +1.000"])


def test_a_miss_shows_all_truths_and_the_reply(capitals: Project) -> None:
    write_rows(capitals, "capitals.jsonl", *ROWS, PERU | {"capital": ["Lima", "Ciudad de los Reyes"]})
    result = capitals.run("--puma-gate=exact_match >= 0.9", "-k", "zero_shot")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["the worst 1 of 1 misses:", "*: answered Cusco, gold is Lima | Ciudad de los Reyes"])


@ONE_PROCESS
def test_completions_can_be_perturbed(capitals: Project) -> None:
    result = capitals.run("--puma-perturb=case_upper", "-k", "zero_shot", "--puma-gate=exact_match >= 0.7")
    result.assert_outcomes(passed=2)


def test_the_plan_has_what_scores_with_bounds_can_detect(alone_capitals: Project) -> None:
    plan = alone_capitals.run("--puma-plan")
    plan.stdout.fnmatch_lines(["*capitals-few_shot_2@* 5 * exact_match *-", "power: f1_words >= baseline - 0.05: *"])


def test_a_truth_that_begins_with_the_cue_is_a_collection_error(alone_capitals: Project) -> None:
    write_rows(alone_capitals, "capitals.jsonl", *ROWS, PERU | {"capital": "A: Lima"})
    assert "its truth 'A: Lima' begins with the cue 'A:', with which the reply already begins" in refused(
        alone_capitals
    )


def test_a_truth_with_white_space_around_it_is_a_collection_warning(alone_capitals: Project) -> None:
    write_rows(alone_capitals, "capitals.jsonl", *ROWS, PERU | {"capital": ["Lima ", "Lima"]})
    result = alone_capitals.run("-k", "zero_shot", "-W", "default")
    found = "the truth 'Lima ' of row * has white space around it, which replies lose, so that exact_match is always 0"
    remedy = "there (1 of 5 rows); return it stripped from truth(item)"
    result.stdout.fnmatch_lines([f"*UserWarning: puma: scenario 'capitals': {found} {remedy}"])
    write_rows(alone_capitals, "capitals.jsonl", *ROWS, PERU)
    assert "white space" not in alone_capitals.run("-k", "zero_shot").stdout.str()


def test_an_example_that_is_evaluated_is_a_collection_error(alone_capitals: Project) -> None:
    write_rows(alone_capitals, "more_capitals.jsonl", *ROWS)
    message = refused(alone_capitals)
    assert "it is evaluated and is an example in the prompts too; remove it from the split 'train'" in message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"f1_words")', '"f1_wrds")'), "*scores has 'f1_wrds'; did you mean 'f1_words'? *"),
        (('"continent",', '"region",'), "*region*"),
        (("item['country']", "item['land']"), "*Capitals.instruction failed with KeyError('land'); *"),
        (("[continent=Asia]", "[region=Asia]"), "*capitals has no group column 'region'; there are: continent*"),
    ],
)
def test_an_unknown_name_is_a_collection_error(change: tuple[str, str], message: str, alone_capitals: Project) -> None:
    alone_capitals.write(test_capitals=CAPITALS.replace(*change))
    result = alone_capitals.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([message])


def test_an_unknown_subject_or_split_is_a_collection_error(alone_capitals: Project) -> None:
    assert "Africa" in refused(alone_capitals, "--puma-subject=Africa")
    alone_capitals.write(test_capitals=CAPITALS.replace('name = "capitals"', 'name = "capitals"\n    split = "valid"'))
    assert "no split 'valid' in data; there are: test, train" in refused(alone_capitals)
