"""Trivial programs beside the models: in the table, and in gates."""

from __future__ import annotations

import pytest

from tests.integration.conftest import TRIAGE, Project


def gated(*gates: str, samples: int = 40) -> str:
    return TRIAGE.replace("samples=8", f"samples={samples}, gates={list(gates)!r}")


def test_the_table_shows_what_trivial_programs_score(scripted: Project) -> None:
    scripted.pytester.makeini("[pytest]")
    scripted.write(test_triage=gated())
    result = scripted.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "triage_jira *zero_shot *tiny *40 *f1_macro *0.* *0% *",
            "triage_jira *naive.majority *40 *f1_macro *0.1 *",
            "triage_jira *naive.guess *40 *f1_macro *0.* *",
            "triage_jira *naive.tfidf *40 *f1_macro *0.* *",
        ]
    )
    (outcome,) = scripted.record()["outcomes"]
    assert {name: list(measures) for name, measures in outcome["naive_baselines"].items()} == {
        "majority": ["f1_macro"],
        "guess": ["f1_macro"],
        "tfidf": ["f1_macro"],
    }


def test_a_project_may_do_without(alone: Project) -> None:
    alone.pytester.makeini("[pytest]\npuma_naive_baselines = false")
    alone.write(test_triage=gated("accuracy >= 0"))
    result = alone.run()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*naive.*")


def test_a_model_that_says_one_label_loses_against_a_bag_of_words(alone: Project) -> None:
    alone.write(test_triage=gated("f1_macro >= naive.tfidf", "f1_macro >= naive.majority !point", samples=200))
    result = alone.run()
    assert result.ret == 1
    lines = "f1_macro is lower by 0.* against naive.tfidf, which misses >= naive.tfidf"
    result.stdout.fnmatch_lines([f"*{lines} (* answers are wrong where it is right, *"])
    majority = alone.record()["outcomes"][0]["verdicts"][1]
    assert majority["status"] == "PASS"
    assert majority["reason"].startswith("f1_macro is the same [")


def test_where_there_is_too_little_to_learn_from_the_gate_is_not_run(alone: Project) -> None:
    alone.write(test_triage=gated("f1_macro >= naive.tfidf", samples=8))
    result = alone.run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["not run: triage_jira-zero_shot@tiny: naive.tfidf has too few samples *"])


@pytest.mark.parametrize("name", ["naive.mean", "naive.tfid"])
def test_an_unknown_program_is_a_collection_error(alone: Project, name: str) -> None:
    alone.write(test_triage=gated(f"f1_macro >= {name}"))
    result = alone.run()
    assert result.ret == 2
    values = "naive.majority, naive.guess, naive.tfidf"
    result.stdout.fnmatch_lines([f"*triage_jira has no {name}; there are: {values}"])
