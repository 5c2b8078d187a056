"""Cells that end as soon as their gates are decided."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from pytest_puma.analysis import early_stopping
from pytest_puma.core import Outcome
from pytest_puma.evaluation.cell import Cell
from pytest_puma.scenarios import EstimationTawosScenario
from tests import factories
from tests.factories import entry, evaluated, predictions


def run(chosen: Cell, **options: Any) -> Outcome:
    """A model with one answer, which is right for a quarter of the samples and always readable."""
    return evaluated(chosen, stop_early=True, **options)


def cell(*gates: str, samples: int = 50, **fields: Any) -> Cell:
    return factories.cell(samples=samples, gates=gates, **fields)


@pytest.mark.parametrize(
    ("samples", "looks"),
    [(20, ()), (24, (21,)), (50, (23, 43)), (200, (20, 30, 50, 90, 170)), (1000, (100, 150, 250, 450, 850))],
)
def test_looks_are_planned_and_never_at_fewer_than_20_samples(samples: int, looks: tuple[int, ...]) -> None:
    assert early_stopping.EarlyStopping.looks(samples) == looks


@pytest.mark.parametrize(
    "information",
    # Of a mean with n samples about the population, and about the mean of all samples.
    [[*early_stopping.SHARES, 1.0], [1 / share - 1 for share in reversed(early_stopping.SHARES)]],
)
def test_the_intervals_of_all_looks_hold_together_in_95_of_100_runs(information: list[float]) -> None:
    shares = np.array(information)
    looks = multivariate_normal(
        cov=np.sqrt(np.minimum.outer(shares, shares) / np.maximum.outer(shares, shares)), seed=1
    )
    reach = np.full(len(shares), norm.ppf((1 + early_stopping.LEVEL) / 2))

    held = looks.cdf(reach, lower_limit=-reach)

    assert held == pytest.approx(0.95, abs=0.002)


def test_a_cell_whose_gates_are_clearly_kept_ends_at_the_first_look() -> None:
    outcome = run(cell("accuracy <= 0.9", "f1_macro <= 0.9"))

    assert (len(outcome.predictions), outcome.execution.left_out) == (23, 27)
    assert [verdict.status for verdict in outcome.judgement.verdicts] == ["PASS", "PASS"]
    assert outcome.measures["accuracy"].n == 23
    assert outcome.execution.signature["samples"] == 50


def test_a_cell_whose_gate_is_clearly_missed_ends_too() -> None:
    outcome = run(cell("accuracy >= 0.8"))

    assert outcome.execution.left_out == 27
    assert outcome.failed[0].status == "FAIL"


def test_the_samples_are_the_first_ones_of_all() -> None:
    whole = evaluated(cell())
    early = run(cell("accuracy <= 0.9"))

    assert [each.sample_id for each in early.predictions] == [each.sample_id for each in whole.predictions[:23]]


@pytest.mark.parametrize(
    ("gates", "why"),
    [
        ((), "there is nothing to decide"),
        (("accuracy >= 0.25",), "too near"),
        (("accuracy <= 0.9", "accuracy >= 0.25"), "one of two is open"),
        (("kappa_quadratic <= 0.99",), "no mean"),
        (("accuracy <= naive.tfidf + 0.9",), "naive baselines learn from all samples"),
        (("accuracy >= baseline - 0.9",), "there is no baseline"),
        (("latency_p99 <= 5",), "no such metric"),
    ],
)
def test_a_cell_runs_in_full_where(gates: tuple[str, ...], why: str) -> None:
    assert run(cell(*gates)).execution.left_out == 0, why


def test_cells_that_others_are_compared_with_run_in_full() -> None:
    cross_cell_gates = ("few_shot_3.accuracy >= zero_shot.accuracy",)

    assert run(cell("accuracy <= 0.9", cross_cell_gates=cross_cell_gates)).execution.left_out == 0


def test_no_answer_may_fail_is_decided_by_the_samples_that_are_left() -> None:
    """43 parsed answers of 50 leave 7, of which 3 hardly fail; 23 leave too many."""
    assert run(cell("parse_failure_rate <= 0.05")).execution.left_out == 7
    # About the population, 43 samples are less certain.
    assert run(cell("parse_failure_rate <= 0.05 !warn")).execution.left_out == 0


def stopping(chosen: Cell) -> early_stopping.EarlyStopping:
    return early_stopping.EarlyStopping(scenario=chosen.scenario, gates=chosen.gates, seed=1)


@pytest.mark.parametrize(
    ("exact", "off", "decided"),
    # Twenty exact answers have an interval of no width, whatever the next ones are.
    [(20, 0, False), (161, 9, False), (20, 30, True)],
)
def test_a_mean_error_is_not_decided_while_hardly_an_answer_is_off(exact: int, off: int, decided: bool) -> None:  # noqa: FBT001
    points = EstimationTawosScenario()
    answered = predictions(["3"] * (exact + off), ["3"] * exact + ["5"] * off)
    kept = replace(cell("mae <= 50", samples=200), scenario=points)

    assert stopping(kept).decided(answered, 200) == decided


def test_a_mean_over_classes_is_not_decided_while_a_class_is_rare() -> None:
    golds = ["Critical", *["Major", "Minor", "Trivial"] * 10]
    answered = predictions(golds, golds)
    kept = cell("f1_macro >= 0.1", samples=200)

    assert not stopping(kept).decided(answered, 200)
    often = predictions(golds * 5, golds * 5)
    assert stopping(kept).decided(often, 200)


def test_a_change_since_the_baseline_is_decided_on_the_samples_that_both_have() -> None:
    before = evaluated(cell(samples=200), "nothing to read")

    better = run(cell("accuracy >= baseline", samples=200), baseline=entry(before))
    (verdict,) = better.judgement.verdicts

    assert better.execution.left_out >= 100
    assert verdict.status == "PASS"
    assert verdict.change is not None
    assert verdict.change.n == len(better.predictions)


def test_without_the_option_all_samples_are_asked() -> None:
    outcome = evaluated(cell("accuracy <= 0.9"))

    assert (len(outcome.predictions), outcome.execution.left_out) == (50, 0)


def test_intervals_of_a_cell_with_looks_are_wider() -> None:
    early, whole = run(cell("accuracy >= 0.25")), run(cell())

    assert early.measures["accuracy"].low < whole.measures["accuracy"].low
    assert early.measures["f1_macro"].high > whole.measures["f1_macro"].high


def test_progress_ends_where_the_cell_does() -> None:
    reports: list[tuple[int, int]] = []

    run(cell("accuracy <= 0.9"), progress=lambda answered, samples: reports.append((answered, samples)))

    assert reports[-1] == (23, 23)
    assert all(samples == 50 for _, samples in reports[:-1])


def test_the_determinism_check_repeats_only_samples_that_were_asked() -> None:
    outcome = run(cell("accuracy <= 0.9"), determinism=30)

    assert outcome.execution.determinism is not None
    assert outcome.execution.determinism.samples == 23
