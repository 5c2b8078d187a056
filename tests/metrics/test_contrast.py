"""The contrast between two cells: which tests belong to it, on which samples, and with which sign."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from scipy.stats import wilcoxon

from pytest_puma.core import BootstrapReplicates, Contrast
from pytest_puma.metrics import contrast, paired_change
from pytest_puma.stats.significance import mcnemar
from tests.factories import Estimation, Triage, predictions, replicates

GOLDS = "ABCD" * 15
RIGHT: list[str | None] = list(GOLDS)


def compared(new: BootstrapReplicates, old: BootstrapReplicates) -> Contrast:
    return contrast("b", "a", new, old, seed=1)


def triage(answers: Sequence[str | None], metric: str = "accuracy", *, size: int = 1) -> BootstrapReplicates:
    """A metric of labels; `size` rows that follow each other share a unit."""
    units = [(str(row // size),) for row in range(len(answers))]
    return replicates(Triage(), predictions(GOLDS[: len(answers)], answers, units=units), metric)


def estimation(answers: Sequence[str | None], metric: str = "mae", *, size: int = 1) -> BootstrapReplicates:
    """A metric of numbers whose gold value is always 3."""
    units = [(str(row // size),) for row in range(len(answers))]
    return replicates(Estimation(), predictions(["3"] * len(answers), answers, units=units), metric)


def test_a_contrast_of_right_and_wrong_answers_has_the_p_value_of_mcnemars_test() -> None:
    """8 of 60 answers became wrong and 2 became right: 112 of 1,024 coin tosses are as lopsided."""
    result = compared(triage([None] * 8 + RIGHT[8:]), triage([*RIGHT[:58], None, None]))

    assert (result.cell, result.against) == ("b", "a")
    assert (result.change.worse, result.change.better) == (8, 2)
    assert (result.test, result.adjusted) == ("mcnemar", result.p)
    assert result.p == pytest.approx(112 / 1024)
    assert set(result.tests) == {"bootstrap", "mcnemar"}
    # The change of -0.1 is 1.95 standard errors from 0; two changes more make it 1.78.
    assert result.tests["bootstrap"] == pytest.approx(0.08, abs=0.02)


def test_effect_sizes_are_above_0_if_the_cell_is_better() -> None:
    better = compared(triage([*RIGHT[:58], None, None]), triage([None] * 8 + RIGHT[8:]))
    worse = compared(triage([None] * 8 + RIGHT[8:]), triage([*RIGHT[:58], None, None]))

    assert (better.rank_biserial, worse.rank_biserial) == pytest.approx((0.6, -0.6)), "(8 - 2) / 10"
    assert (better.cliffs_delta, worse.cliffs_delta) == pytest.approx((0.1, -0.1)), "8 / 60 - 2 / 60"


def test_a_metric_over_classes_has_the_bootstrap_with_mcnemars_test_beside() -> None:
    new, old = triage(["B"] * 6 + RIGHT[6:], "f1_macro"), triage([*RIGHT[:59], "A"], "f1_macro")
    result = compared(new, old)

    assert result.change == paired_change(new, old, quotient=False)
    assert (result.test, result.p) == ("bootstrap", result.tests["bootstrap"])
    assert result.tests["mcnemar"] == mcnemar(result.change.worse, result.change.better)


def test_errors_are_tested_by_their_signs_and_ranks() -> None:
    """Six errors of 24 became greater, each by another number, and none smaller: 2 of 64 signs are as far from 0."""
    result = compared(estimation(["4", "5", "6", "7", "8", "9", *["3"] * 18]), estimation(["3"] * 24))

    assert result.test == "permutation"
    assert set(result.tests) == {"bootstrap", "permutation", "signed_rank"}
    assert result.p == result.tests["permutation"] == pytest.approx(2 / 64, abs=0.005)
    assert (result.rank_biserial, result.cliffs_delta) == (-1, -6 / 24)


def test_parse_failures_are_counted_as_such_and_not_as_wrong_answers() -> None:
    """Seven replies have no answer any more, and one has: that the other answers are wrong is of no account."""
    new, old = ([None] * 7 + ["8"] * 23, ["3"] * 29 + [None])
    result = compared(estimation(new, "parse_failure_rate"), estimation(old, "parse_failure_rate"))

    assert (result.change.worse, result.change.better) == (7, 1)
    assert result.change.value == pytest.approx(6 / 30)
    assert (result.test, result.p) == ("mcnemar", mcnemar(7, 1))


def test_the_tests_of_errors_leave_parse_failures_out() -> None:
    answers = [None, *["8", "5", "3", "2"] * 2, "13", "21", "1"]
    result = compared(estimation(answers), estimation(["3"] * 11 + [None]))

    errors = [5, 2, 0, 1] * 2 + [10, 18]
    assert result.tests["signed_rank"] == pytest.approx(wilcoxon(errors, zero_method="pratt", method="approx").pvalue)
    assert result.rank_biserial == -1
    assert result.cliffs_delta == -8 / 10


def test_the_tests_of_errors_in_groups_leave_parse_failures_out_too() -> None:
    """Twenty groups of two rows: in six of them the error of the parsed answer is greater by 1."""
    worse = [None, "4"] * 6 + ["3"] * 28
    result = compared(estimation(worse, size=2), estimation(["3"] * 40, size=2))

    assert result.tests["permutation"] == pytest.approx(2 / 64, abs=0.005)


def test_rows_that_share_units_are_tested_group_by_group() -> None:
    """Six answers became worse, but of three questions: those are three pieces of evidence."""
    worse = [None] * 6 + RIGHT[6:]
    result, alone = (compared(triage(worse, size=size), triage(RIGHT, size=size)) for size in (2, 1))

    assert alone.test == "mcnemar"
    assert alone.p == pytest.approx(2 / 64)
    assert (result.test, "mcnemar" in result.tests) == ("permutation", False)
    assert result.p == pytest.approx(2 / 8, abs=0.02)
    assert (result.change.worse, result.rank_biserial) == (6, -1)


@pytest.mark.parametrize(("size", "test"), [(6, "permutation"), (7, "bootstrap")])
def test_fewer_than_ten_groups_have_too_few_signs_to_flip(size: int, test: str) -> None:
    result = compared(triage([None] * 60, size=size), triage(RIGHT, size=size))

    assert (result.test, result.p) == (test, result.tests[test])


def test_a_metric_over_classes_has_the_bootstrap_for_groups_too() -> None:
    result = compared(triage([None] * 6 + RIGHT[6:], "f1_macro", size=2), triage(RIGHT, "f1_macro", size=2))

    assert (result.test, set(result.tests)) == ("bootstrap", {"bootstrap", "permutation", "signed_rank"})
