"""Cells whose samples are perturbed."""

from __future__ import annotations

import re

from pytest_puma.analysis.naive_baselines import NaiveBaselines
from pytest_puma.perturbations import Perturbation
from pytest_puma.scenarios import (
    TriageJiraScenario,
)
from tests.factories import cell, evaluated


def _echo(prompt: str) -> str:
    return "Minor" if "IT" in prompt.split() else "Major"


def test_a_perturbed_cell_asks_about_other_texts_and_is_measured_on_the_same_samples() -> None:
    plain, loud = (
        evaluated(cell(perturbation=name, compared_metrics=("f1_macro",)), _echo) for name in (None, "case_upper")
    )
    assert (plain.cell, loud.cell) == ("triage_jira-zero_shot@script", "triage_jira-zero_shot+case_upper@script")
    assert (plain.name.perturbation, loud.name.perturbation) == (None, "case_upper")
    assert (plain.execution.signature["perturbation"], loud.execution.signature["perturbation"]) == (None, "case_upper")
    facts = [[(each.sample_id, each.gold, each.units) for each in outcome.predictions] for outcome in (plain, loud)]
    assert facts[0] == facts[1]
    assert "Minor" not in {each.answer for each in plain.predictions}
    assert "Minor" in {each.answer for each in loud.predictions}
    assert plain.judgement.replicates["f1_macro"].samples == loud.judgement.replicates["f1_macro"].samples
    assert loud.judgement.replicates["f1_macro"].answers == tuple(each.answer for each in loud.predictions)


def test_examples_are_not_perturbed() -> None:
    prompts: list[str] = []

    def script(prompt: str) -> str:
        prompts.append(prompt)
        return "Major"

    evaluated(cell(strategy="one_shot", samples=2, perturbation="case_upper"), script)
    for prompt in prompts:
        examples, issue = prompt.rsplit("<issue>", 1)
        assert (
            issue.partition("</issue>")[0].isupper() is False
        )  # the words `Title` and `Description` are the template's
        assert re.search(r"[a-z]{3}", re.sub("Title|Description", "", issue.partition("</issue>")[0])) is None
        assert re.search(r"[a-z]{3}", examples.rsplit("<issue>", 1)[1])


def test_labels_are_listed_in_another_order_and_scored_as_they_were() -> None:
    outcome = evaluated(cell(strategy="option_scoring", samples=4, perturbation="label_order"))
    assert outcome["accuracy"] == 1 / 4
    assert all(list(each.probabilities or ()) == TriageJiraScenario().valid_labels() for each in outcome.predictions)
    prompts = [outcome.prompts(each)[-1][-1].content for each in outcome.predictions]
    assert not any("Critical, Major, Minor or Trivial" in prompt for prompt in prompts)


def test_perturbed_cells_have_no_naive_baselines() -> None:
    baselines = [
        evaluated(cell(perturbation=name), naive_baselines=NaiveBaselines()).tables.naive_baselines
        for name in (None, "case_upper")
    ]
    assert [bool(each) for each in baselines] == [True, False]


def test_an_own_perturbation_changes_the_prompts() -> None:
    own = Perturbation(name="shouted", change=lambda text, _: f"{text} IT")
    outcome = evaluated(cell(perturbation=own), _echo)
    assert {each.answer for each in outcome.predictions} == {"Minor"}
