"""Two runs compared without their scenarios: metrics of a project, and each task type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Generation, Metric, Outcome, Pool, metric
from pytest_puma.planning.registry import Registry
from pytest_puma.planning.scores import used_scores
from pytest_puma.runs.comparison import Values
from pytest_puma.scenarios import TriageJiraScenario
from tests.factories import cell, entry, evaluated, revised
from tests.runs.comparisons import by_length, runs
from tests.runs.runs import triaged


@metric(better="low", unit="characters", bounds=None)
def reply_length(sample: object, prediction: object) -> float:  # noqa: ARG001 - of one signature
    return float(len(prediction.text))  # type: ignore[attr-defined]


def first_share(predictions: Sequence[object]) -> float:
    return sum(each.answer == "Major" for each in predictions) / len(predictions)  # type: ignore[attr-defined]


class Measured(TriageJiraScenario):
    name = "measured"
    template_folder = "triage_jira"

    def metrics(self) -> dict[str, Metric]:
        return {"first_share": Metric(name="first_share", score=first_share, per="cell")}


def measured(answer: str | Callable[[str], str], *scores: Metric, gate: str) -> Outcome:
    return triaged(answer, scenario=Measured(), scores=scores, gates=(gate,), samples=30)


def test_a_metric_of_the_project_is_tested_by_its_stored_scores(tmp_path: Path) -> None:
    gate = "reply_length <= 100"
    (cell,) = runs(
        tmp_path, [measured("Major", reply_length, gate=gate)], [measured(by_length, reply_length, gate=gate)]
    ).cells
    contrast = cell.contrasts[1]
    assert (contrast.change.metric, contrast.test, contrast.change.n) == ("reply_length", "permutation", 30)
    assert contrast.change.old == 5
    assert not cell.untested


def test_a_metric_of_a_whole_cell_has_values_without_a_test(tmp_path: Path) -> None:
    gate = "first_share >= 0"
    (cell,) = runs(tmp_path, [measured("Major", gate=gate)], [measured("Minor", gate=gate)]).cells
    assert cell.untested == (Values(metric="first_share", old=1.0, new=0.0),)
    assert cell.why == "only its scenario can compute it"
    assert [each.change.metric for each in cell.contrasts] == ["f1_macro"]


def test_a_pool_of_the_project_has_values_without_a_test(tmp_path: Path) -> None:
    pooled = Metric(
        name="ratio", score=lambda _, __: (1.0, 2.0), pool=Pool(width=2, combine=lambda sums: sums[:, 0] / sums[:, 1])
    )
    gate = "ratio >= 0"
    (cell,) = runs(tmp_path, [measured("Major", pooled, gate=gate)], [measured("Minor", pooled, gate=gate)]).cells
    assert [each.metric for each in cell.untested] == ["ratio"]


def answered(
    name: str, strategy: str, metrics: Sequence[str], answer: str | Callable[[str], str], **fields: Any
) -> Outcome:
    """A cell of a known scenario, with the scores that it declares."""
    registry = Registry()
    scenario = registry.known_scenario(name, where="here")()
    scores = used_scores(scenario, registry, metrics)
    options = {name: fields.pop(name) for name in ("baseline",) if name in fields}
    made = cell(
        scenario,
        strategy,
        scores=scores,
        gates=[f"{metric} >= baseline - 1 !point" for metric in metrics],
        compared_metrics=tuple(dict.fromkeys((scenario.primary_metric(), *metrics))),
        **fields,
    )
    outcome = evaluated(made, answer, **options)
    return revised(outcome, node_id=f"test_t.py::test_t[{outcome.cell}]")


def moody(prompt: str) -> str:
    question = prompt.rpartition("\x03")[2]
    return ("3", "Major", "B", "5 of them", "Minor", "8")[len(question) % 6]


@pytest.mark.parametrize(
    ("name", "strategy", "metrics", "fields"),
    [
        ("triage_jira", "option_scoring", ("brier", "ece", "accuracy"), {}),
        ("triage_jira", "zero_shot", ("accuracy",), {"repeats": 2, "generation": Generation(temperature=0.5)}),
        ("prioritization_jira", "zero_shot", ("accuracy",), {}),
        ("estimation_tawos", "zero_shot", ("rmse",), {}),
        ("commonsense_mini", "zero_shot", ("accuracy_chars",), {}),
        ("commonsense_mini", "cloze_scoring", ("accuracy_chars",), {}),
        ("translate_mini", "zero_shot", ("bleu", "chrf", "exact_match.loose"), {}),
    ],
)
def test_each_kind_of_task_has_the_numbers_of_a_gate_without_its_scenario(
    tmp_path: Path, name: str, strategy: str, metrics: Sequence[str], fields: dict[str, Any]
) -> None:
    old = answered(name, strategy, metrics, "3", **fields)
    new = answered(name, strategy, metrics, moody, baseline=entry(old), **fields)
    assert new.judgement.contrasts
    (same,) = runs(tmp_path / "same", [new], [new]).cells
    assert same.same
    (compared,) = runs(tmp_path / "other", [old], [new]).cells
    assert (compared.why, compared.untested) == ("", ())
    assert [replace(each, against="", adjusted=0.0) for each in compared.contrasts] == [
        replace(each, against="", adjusted=0.0) for each in new.judgement.contrasts
    ]
    assert [each.sample_id for each in compared.flips] == [each.sample_id for each in new.judgement.flips]
    by_gate = [verdict.change for verdict in new.judgement.verdicts if verdict.change is not None]
    by_metric = {each.change.metric: each.change for each in compared.contrasts}
    assert [by_metric[change.metric] for change in by_gate] == by_gate
