"""The best cell of a scenario, with a lead that is corrected for the choice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pytest_puma.analysis.contrasts import leaders
from pytest_puma.core import Speed
from tests.analysis.test_contrasts import GOLDS, answers_at, outcome
from tests.factories import LABELS, Estimation, Triage, computed_outcome, measure, predictions, replicates, revised

BEST, WORSE = outcome("triage-zero_shot@n", GOLDS), outcome("triage-egi@m", answers_at(0.2))


def test_the_best_cell_is_named_and_its_lead_is_sure_over_much_worse_ones() -> None:
    (sentence,) = leaders([WORSE, BEST])
    assert sentence.startswith("best of 2 cells of triage: zero_shot@n, f1_macro 1, ")
    assert " ahead of egi@m; its lead is sure over all others (p " in sentence


def test_what_the_best_cell_costs_is_stated_as_far_as_it_was_measured() -> None:
    speed = Speed(prefill_tokens=600, prefill_seconds=2.0, decode_tokens=30, decode_seconds=3.0)
    (_, costs) = leaders([WORSE, revised(BEST, speed=speed, peak_memory=404 << 20)], {"n": 98 << 20})
    assert costs == (
        "zero_shot@n: read 300 and wrote 10 tokens a second, 98 MB of weights, 404 MB of memory at the peak"
    )
    (_, costs) = leaders([WORSE, revised(BEST, speed=replace(speed, decode_seconds=0.0))])
    assert costs == "zero_shot@n: read 300 tokens a second"


@pytest.mark.parametrize("answer", [None, "Major"])
def test_of_cells_with_equal_values_none_is_the_best(answer: str | None) -> None:
    cells = [outcome(cell, [answer] * len(GOLDS)) for cell in ("triage-egi@m", "triage-egi@n", "triage-egi@o")]
    speed = Speed(prefill_tokens=600, prefill_seconds=2.0)
    (sentence,) = leaders([revised(cell, speed=speed) for cell in cells])
    assert sentence == f"best of 3 cells of triage: none, as all have f1_macro {cells[0]['f1_macro']:.3g}"


def test_a_program_without_a_model_that_is_ahead_of_the_best_cell_is_named() -> None:
    programs = {name: {"f1_macro": measure("f1_macro", value)} for name, value in (("guess", 0.2), ("tfidf", 0.9))}
    cells = [outcome(cell, answers_at(0.4)) for cell in ("triage-egi@m", "triage-egi@n")]
    assert leaders([revised(cell, naive_baselines=programs) for cell in cells])[1:] == (
        "naive.tfidf, a program without a model, is ahead of all of them: f1_macro 0.9",
    )
    assert len(leaders([revised(BEST, naive_baselines=programs), WORSE])) == 1


def test_the_lead_is_that_over_the_second_best_cell_and_positive_for_errors() -> None:
    golds = [str(number) for number in range(1, 31)]
    off = {model: [str(int(gold) + error) for gold in golds] for model, error in (("m", 3), ("n", 1), ("o", 2))}
    cells = [
        computed_outcome(
            f"estimation-egi@{model}", Estimation(), predictions(golds, answers), metric="mae", signature={"seed": 3}
        )
        for model, answers in off.items()
    ]
    (sentence,) = leaders(cells)
    assert sentence.startswith("best of 3 cells of estimation: egi@n, mae 1, ")
    assert "; 1 [1, 1] ahead of egi@o; its lead is sure over all others" in sentence


def test_of_equal_cells_few_are_surely_the_best() -> None:
    random = np.random.default_rng(3)
    sure = 0
    for _ in range(100):
        golds = random.choice(list(LABELS), 60).tolist()
        rights = random.random((3, 60)) < 0.6
        cells = [
            computed_outcome(
                f"triage-egi@{model}",
                Triage(),
                predictions(golds, [gold if is_right else None for gold, is_right in zip(golds, right, strict=True)]),
                signature={"seed": 3},
            )
            for model, right in zip("mno", rights.tolist(), strict=True)
        ]
        (sentence,) = leaders(cells)
        sure += "sure over all others" in sentence
    assert sure <= 5


def test_a_lead_that_may_be_chance_is_not_sure() -> None:
    almost = [*GOLDS[:-1], None]
    (sentence,) = leaders([BEST, outcome("triage-one_shot@m", almost), WORSE])
    assert "if corrected for the choice; " in sentence
    assert "ahead of one_shot@m; its lead is not sure over one_shot@m (p " in sentence


def test_one_cell_and_cells_of_other_samples_have_no_best_one() -> None:
    fewer = replicates(Triage(), predictions(GOLDS[:20], GOLDS[:20]), "f1_macro")
    assert leaders([BEST]) == ()
    assert leaders([WORSE, revised(BEST, replicates={"f1_macro": fewer})]) == ()
