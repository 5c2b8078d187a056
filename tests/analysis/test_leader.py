"""The best cell of a scenario, with a lead that is corrected for the choice."""

from __future__ import annotations

from pytest_puma.analysis.contrasts import leaders
from tests.analysis.test_contrasts import GOLDS, answers_at, outcome
from tests.factories import Triage, predictions, replicates, revised

BEST, WORSE = outcome("triage-zero_shot@n", GOLDS), outcome("triage-egi@m", answers_at(0.2))


def test_the_best_cell_is_named_and_its_lead_is_sure_over_much_worse_ones() -> None:
    (sentence,) = leaders([WORSE, BEST])
    assert sentence.startswith("best of 2 cells of triage: zero_shot@n, f1_macro 1, ")
    assert sentence.endswith("its lead is sure over all others")


def test_a_lead_that_may_be_chance_is_not_sure() -> None:
    almost = [*GOLDS[:-1], None]
    (sentence,) = leaders([BEST, outcome("triage-one_shot@m", almost), WORSE])
    assert sentence.endswith("if corrected for the choice; its lead is not sure over one_shot@m")


def test_one_cell_and_cells_of_other_samples_have_no_best_one() -> None:
    fewer = replicates(Triage(), predictions(GOLDS[:20], GOLDS[:20]), "f1_macro")
    assert leaders([BEST]) == ()
    assert leaders([WORSE, revised(BEST, replicates={"f1_macro": fewer})]) == ()
