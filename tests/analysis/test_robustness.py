"""Robustness of a cell, against an independent computation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from pytest_puma.analysis.robustness import robustness
from pytest_puma.codec.outcomes import from_lines, to_lines
from pytest_puma.core import CellId, Outcome, Robustness, Scenario
from pytest_puma.perturbations import Group, Perturbation
from pytest_puma.report.robustness import sentences
from pytest_puma.stats.significance import holm
from tests.factories import LABELS, Estimation, Triage, computed_outcome, paired, predictions, run

GOLDS = ["A", "A", "B", "B", "C", "C", "D", "D"]
CLEAN = ["A", "A", "B", "B", "C", "A", None, "A"]
#: Of the eight: one from right to wrong, one from right to none, one to right, one from none to wrong; four stay.
TYPOS = ["A", "B", None, "B", "C", "C", "A", "A"]


def cell(
    answers: Sequence[str | None],
    perturbation: str | None = None,
    *,
    golds: Sequence[str] = GOLDS,
    scenario: Scenario | None = None,
    units: Sequence[tuple[str, ...]] | None = None,
    strategy: str = "egi",
    model: str = "m",
) -> Outcome:
    """The outcome as a worker sends it."""
    scenario = scenario or Triage()
    cell_id = str(CellId(scenario.name, strategy, model, perturbation))
    return from_lines(to_lines(computed_outcome(cell_id, scenario, predictions(golds, answers, units=units))))


def the_one(*outcomes: Outcome, own: dict[str, Perturbation] | None = None) -> Robustness:
    (result,) = robustness(outcomes, own)
    return result


def test_changed_answers_are_counted_by_their_effect() -> None:
    (shift,) = the_one(cell(CLEAN), cell(TYPOS, "typos_5pct")).shifts
    changes = shift.answer_changes

    assert shift.perturbation == "typos_5pct"
    assert (changes.changed, changes.fixed, changes.broken, changes.still_wrong) == (4, 1, 2, 1)
    assert (changes.rate.value, changes.rate.n) == (0.5, 8)
    wilson = binomtest(4, 8).proportion_ci(method="wilson")
    assert (changes.rate.low, changes.rate.high) == pytest.approx((wilson.low, wilson.high))


def test_trials_of_a_sample_count_as_one_sample() -> None:
    golds, clean, typos = GOLDS * 2, CLEAN * 2, TYPOS * 2
    sides = []
    for answers, name in ((clean, None), (typos, "typos_5pct")):
        trials = [
            replace(each, sample_id=f"s{row % 8}", trial=row // 8, units=(f"s{row % 8}",))
            for row, each in enumerate(predictions(golds, answers))
        ]
        cell_id = str(CellId("triage", "egi", "m", name))
        sides.append(from_lines(to_lines(computed_outcome(cell_id, Triage(), trials))))
    result = the_one(*sides)

    assert result.always_right is not None
    rate = result.shifts[0].answer_changes.rate
    assert (rate.value, rate.n, result.always_right.n) == (0.5, 8, 8)


def test_intervals_are_wider_where_answers_of_a_unit_change_together() -> None:
    random = np.random.default_rng(2)
    golds, clean = (np.repeat(random.choice(LABELS, 30), 2).tolist() for _ in range(2))
    upper = np.repeat(random.choice(LABELS, 30), 2).tolist()
    ends = []
    for size in (1, 2):
        sides = [
            cell(answers, name, golds=golds, units=[(f"{row // size}",) for row in range(60)])
            for answers, name in ((clean, None), (upper, "case_upper"))
        ]
        result = the_one(*sides)
        assert result.always_right is not None
        ends += [(each.low, each.high) for each in (result.shifts[0].answer_changes.rate, result.always_right)]

    assert all(wide[0] < low < high < wide[1] for (low, high), wide in zip(ends[:2], ends[2:], strict=True))


def test_scores_of_right_and_wrong_are_counted_as_answers_are() -> None:
    def scored(outcome: Outcome) -> Outcome:
        """The loss of a score of which more is better is its negative value: -1 for right, 0 for wrong."""
        (name, columns), *_ = outcome.judgement.replicates.items()
        losses = tuple(error - 1 for error in columns.errors)
        columns = replace(columns, errors=losses, scored=True)
        return replace(outcome, judgement=replace(outcome.judgement, replicates={name: columns}))

    cells = cell(CLEAN), cell(TYPOS, "typos_5pct")
    assert the_one(*map(scored, cells)).always_right == the_one(*cells).always_right


def test_the_change_is_that_of_both_sets_of_answers_side_by_side() -> None:
    random = np.random.default_rng(1)
    golds, clean, perturbed = (list(random.choice(LABELS, 60)) for _ in range(3))
    (shift,) = the_one(cell(clean, golds=golds), cell(perturbed, "case_upper", golds=golds)).shifts
    new, old = predictions(golds, perturbed), predictions(golds, clean)
    expected = paired(Triage(), new, old, seed=3).change("f1_macro")

    assert shift.change == expected


def test_the_worst_case_is_that_of_all_perturbations_and_always_right_means_under_all() -> None:
    lower = ["A", "A", "B", "D", "D", "D", "D", "D"]
    result = the_one(cell(CLEAN), cell(TYPOS, "typos_5pct"), cell(CLEAN, "case_upper"), cell(lower, "case_lower"))
    values = {shift.perturbation: shift.change.new for shift in result.shifts}

    assert result.worst == min(values, key=values.__getitem__) == "typos_5pct"
    assert result.worst_value == values["typos_5pct"]
    rights = [[answer == gold for answer, gold in zip(each, GOLDS, strict=True)] for each in (CLEAN, TYPOS, lower)]
    always = sum(all(row) for row in zip(*rights, strict=True))
    assert result.always_right is not None
    assert (result.always_right.value, result.always_right.n) == (always / 8, 8)
    wilson = binomtest(always, 8).proportion_ci(method="wilson")
    assert (result.always_right.low, result.always_right.high) == pytest.approx((wilson.low, wilson.high))


def test_the_worst_of_harmless_perturbations_is_no_worse_than_the_others() -> None:
    """Ten perturbations that change answers at random: the corrected worst value is near their mean."""
    random = np.random.default_rng(4)
    golds = random.choice(LABELS, 60).tolist()
    harmless = [[gold if random.random() < 0.6 else str(random.choice(LABELS)) for gold in golds] for _ in range(11)]
    cells = [
        cell(answers, f"typos_{number}pct" if number else None, golds=golds) for number, answers in enumerate(harmless)
    ]
    result = the_one(*cells)
    values = [shift.change.new for shift in result.shifts]

    assert result.worst_value == min(values)
    assert result.worst_corrected == pytest.approx(np.mean(values), abs=0.04)
    assert result.worst_value < np.mean(values) - 0.06
    assert [shift.adjusted for shift in result.shifts] == holm([shift.p for shift in result.shifts])
    assert min(shift.adjusted for shift in result.shifts) > 0.05
    (sentence,) = sentences(run(robustness=(result,)))
    assert "corrected for choosing the worst of 10); significant changes (Holm): 0 of 10; " in sentence


def test_the_largest_error_is_the_worst_and_an_error_of_zero_is_right() -> None:
    golds, points = ["1", "2", "3", "5"], Estimation()
    clean = cell(["1", "2", "5", None], golds=golds, scenario=points)
    typos = cell(["1.0", "3", "3", "5"], "typos_5pct", golds=golds, scenario=points)
    upper = cell(["8", "2", "5", "8"], "case_upper", golds=golds, scenario=points)
    result = the_one(clean, typos, upper)

    assert (result.metric, result.worst, result.worst_value) == ("mae", "case_upper", (7 + 0 + 2 + 3) / 4)
    assert result.always_right is None
    changes = [shift.answer_changes for shift in result.shifts]
    assert [(each.changed, each.fixed, each.broken, each.still_wrong) for each in changes] == [
        (3, 2, 1, 0),
        (2, 0, 1, 1),
    ]


def test_the_gap_is_the_paired_difference_between_the_sides_in_whatever_order_they_ran() -> None:
    names = ("gender_swap_prefix_male", "gender_swap_prefix_female")
    male, female = cell(CLEAN, names[0]), cell(TYPOS, names[1])
    gaps = [the_one(cell(CLEAN), *sides).gaps for sides in ((male, female), (female, male))]
    expected = paired(Triage(), predictions(GOLDS, CLEAN), predictions(GOLDS, TYPOS), seed=3).change("f1_macro")

    assert gaps[0] == gaps[1]
    (gap,) = gaps[0]
    assert (gap.axis, gap.old, gap.new, gap.change) == ("gender", names[1], names[0], expected)


def test_one_side_of_an_axis_has_no_gap_and_three_have_three() -> None:
    own = {name: Perturbation(name=name, change=None, group=Group("age", name)) for name in ("young", "old", "ageless")}
    assert the_one(cell(CLEAN), cell(CLEAN, "gender_swap_prefix_male"), cell(CLEAN, "young"), own=own).gaps == ()
    gaps = the_one(cell(CLEAN), *(cell(CLEAN, name) for name in own), own=own).gaps
    assert [(gap.old, gap.new) for gap in gaps] == [("ageless", "old"), ("ageless", "young"), ("old", "young")]


def test_each_cell_is_compared_with_its_own_twins() -> None:
    outcomes = [
        cell(CLEAN),
        cell(TYPOS, "typos_5pct"),
        cell(TYPOS, strategy="rcoif"),
        cell(TYPOS, "typos_5pct", strategy="rcoif"),
        cell(CLEAN, model="other"),
        cell(CLEAN, "case_upper", scenario=Triage(), strategy="zero_shot"),
    ]
    result = robustness(outcomes)

    assert [(each.cell, each.strategy, each.shifts[0].answer_changes.changed) for each in result] == [
        ("triage-egi@m", "egi", 4),
        ("triage-rcoif@m", "rcoif", 0),
    ]


def test_a_twin_that_answered_other_samples_is_left_out() -> None:
    assert robustness([cell(CLEAN), cell(TYPOS[:4], "typos_5pct", golds=GOLDS[:4])]) == ()


def test_without_values_of_the_metric_there_is_no_robustness() -> None:
    scored = Triage(primary="ece")
    assert robustness([cell(CLEAN, scenario=scored), cell(TYPOS, "typos_5pct", scenario=scored)]) == ()


def test_where_nothing_is_measured_there_is_no_worst_case() -> None:
    points = Estimation()
    result = the_one(
        cell([None], golds=["3"], scenario=points), cell([None], "typos_5pct", golds=["3"], scenario=points)
    )

    assert result.worst is None
    assert math.isnan(result.worst_value)
    assert result.shifts[0].answer_changes.changed == 0
