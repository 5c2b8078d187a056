"""Paired tests between cells, adjusted for their number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import wilcoxon

from pytest_puma.analysis.contrasts import compare, not_compared
from pytest_puma.core import BootstrapReplicates, Outcome
from pytest_puma.metrics import contrast, paired_change
from pytest_puma.stats import holm, mcnemar
from tests.factories import LABELS, Estimation, Triage, computed_outcome, predictions, replicates

RANDOM = np.random.default_rng(5)
GOLDS = RANDOM.choice(list(LABELS), 60).tolist()


def answers_at(rate: float) -> list[str | None]:
    """Answers that are right at about this rate."""
    return [gold if RANDOM.random() < rate else RANDOM.choice(list(LABELS)) for gold in GOLDS]


def outcome(cell_id: str, answers: Sequence[str | None]) -> Outcome:
    return computed_outcome(
        cell_id, Triage(), predictions(GOLDS, answers), metrics=("f1_macro",), signature={"seed": 3}
    )


CELLS = [
    outcome("triage-zero_shot@m", answers_at(0.7)),
    outcome("triage-few_shot_3@m", answers_at(0.3)),
    outcome("triage-egi@m", answers_at(0.6)),
    outcome("triage-zero_shot@n", answers_at(0.9)),
]


def test_each_cell_is_held_against_the_first_along_the_axis() -> None:
    pairs = [(each.cell, each.against) for each in compare(CELLS, ["strategy", "model"])]

    assert pairs == [
        ("triage-few_shot_3@m", "triage-zero_shot@m"),
        ("triage-egi@m", "triage-zero_shot@m"),
        ("triage-zero_shot@n", "triage-zero_shot@m"),
    ]


def test_p_values_are_adjusted_for_all_contrasts_of_the_table() -> None:
    contrasts = compare(CELLS, ["strategy", "model"])

    assert [each.adjusted for each in contrasts] == holm([each.p for each in contrasts])
    assert contrasts[2].adjusted == pytest.approx(3 * contrasts[2].p)


def test_a_contrast_of_labels_is_the_change_with_mcnemars_test_beside() -> None:
    first, second = (each.replicates["f1_macro"] for each in CELLS[:2])
    result = contrast("b", "a", second, first, seed=1)

    assert result.change == paired_change(second, first, quotient=False)
    assert (result.test, result.p) == ("bootstrap", result.tests["bootstrap"])
    assert result.tests["mcnemar"] == mcnemar(result.change.worse, result.change.better)
    turned = result.change.worse + result.change.better
    assert result.rank_biserial == pytest.approx((result.change.better - result.change.worse) / turned)
    assert np.sign(result.rank_biserial) == np.sign(result.cliffs_delta) == np.sign(result.change.value)


def test_the_tests_of_errors_leave_parse_failures_out() -> None:
    golds = ["3"] * 12
    answers = [None, *["8", "5", "3", "2"] * 2, "13", "21", "1"]
    new, old = (replicates(Estimation(), predictions(golds, each), "mae") for each in (answers, ["3"] * 12))

    result = contrast("b", "a", new, old, seed=1)

    errors = [5, 2, 0, 1] * 2 + [10, 18, 2]
    assert result.test == "permutation"
    assert result.tests["signed_rank"] == pytest.approx(wilcoxon(errors, zero_method="pratt", method="approx").pvalue)
    assert result.change.value > 0, "a greater error"
    assert (result.rank_biserial, np.sign(result.cliffs_delta)) == (-1, -1)


def in_groups(answers: Sequence[str | None], size: int) -> BootstrapReplicates:
    """The accuracy of answers; `size` rows that follow each other share a unit."""
    units = [(str(row // size),) for row in range(len(answers))]
    return replicates(Triage(), predictions(GOLDS[: len(answers)], answers, units=units), "accuracy")


def test_rows_that_share_units_are_tested_group_by_group() -> None:
    """Six answers became worse, but of three questions: those are three pieces of evidence."""
    right = list(GOLDS)
    worse = [None] * 6 + right[6:]

    result = contrast("b", "a", in_groups(worse, 2), in_groups(right, 2), seed=1)
    alone = contrast("b", "a", in_groups(worse, 1), in_groups(right, 1), seed=1)

    assert alone.test == "mcnemar"
    assert alone.p == pytest.approx(2 / 64)
    assert (result.test, "mcnemar" in result.tests) == ("permutation", False)
    assert result.p == pytest.approx(2 / 8, abs=0.02)
    assert (result.change.worse, result.rank_biserial) == (6, -1)


def test_too_few_groups_have_no_signs_to_flip() -> None:
    result = contrast("b", "a", in_groups([None] * 60, 10), in_groups(GOLDS, 10), seed=1)

    assert result.test == "bootstrap"


def test_cells_with_other_samples_are_not_compared() -> None:
    other = outcome("triage-rcoif@m", answers_at(0.5))
    fewer = replicates(Triage(), predictions(GOLDS[:20], answers_at(0.5)[:20]), "f1_macro")

    assert compare([CELLS[0], replace(other, replicates={"f1_macro": fewer})], ["strategy"]) == ()


def test_a_cell_that_is_left_out_of_a_comparison_is_named() -> None:
    other = outcome("triage-rcoif@m", answers_at(0.5))
    fewer = replicates(Triage(), predictions(GOLDS[:20], answers_at(0.5)[:20]), "f1_macro")
    cells = [*CELLS, replace(other, replicates={"f1_macro": fewer})]

    assert not_compared(CELLS, ["strategy"]) == ()
    (sentence,) = not_compared(cells, ["strategy"])
    assert sentence.startswith("triage-rcoif@m is not compared with triage-zero_shot@m: it has other samples, or")


def test_only_the_requested_axes_are_compared() -> None:
    assert compare(CELLS, []) == ()
    assert compare(CELLS, ["baseline"]) == ()
