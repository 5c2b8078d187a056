"""Paired tests between cells, adjusted for their number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from pytest_puma.analysis.contrasts import contrasts_of, not_compared
from pytest_puma.core import Outcome
from pytest_puma.stats.significance import holm
from tests.factories import LABELS, Triage, computed_outcome, predictions, replicates, revised

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
    pairs = [(each.cell, each.against) for each in contrasts_of(CELLS, ["strategy", "model"])]

    assert pairs == [
        ("triage-few_shot_3@m", "triage-zero_shot@m"),
        ("triage-egi@m", "triage-zero_shot@m"),
        ("triage-zero_shot@n", "triage-zero_shot@m"),
    ]


def test_p_values_are_adjusted_for_all_contrasts_of_the_table() -> None:
    contrasts = contrasts_of(CELLS, ["strategy", "model"])

    assert [each.adjusted for each in contrasts] == holm([each.p for each in contrasts])
    assert contrasts[2].adjusted == pytest.approx(3 * contrasts[2].p)


def test_cells_with_other_samples_are_not_compared() -> None:
    other = outcome("triage-rcoif@m", answers_at(0.5))
    fewer = replicates(Triage(), predictions(GOLDS[:20], answers_at(0.5)[:20]), "f1_macro")

    assert contrasts_of([CELLS[0], revised(other, replicates={"f1_macro": fewer})], ["strategy"]) == ()


def test_a_cell_that_is_left_out_of_a_comparison_is_named() -> None:
    other = outcome("triage-rcoif@m", answers_at(0.5))
    fewer = replicates(Triage(), predictions(GOLDS[:20], answers_at(0.5)[:20]), "f1_macro")
    cells = [*CELLS, revised(other, replicates={"f1_macro": fewer})]

    assert not_compared(CELLS, ["strategy"]) == ()
    (sentence,) = not_compared(cells, ["strategy"])
    assert sentence.startswith("triage-rcoif@m is not compared with triage-zero_shot@m: they have other samples")


def test_only_the_requested_axes_are_compared() -> None:
    assert contrasts_of(CELLS, []) == ()
    assert contrasts_of(CELLS, ["baseline"]) == ()
