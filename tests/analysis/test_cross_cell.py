"""Gates about several cells: which cells are compared, and the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from pytest_puma.analysis.cross_cell import verdicts
from pytest_puma.core import BootstrapReplicates, CellId, Outcome, Policy, Prediction
from pytest_puma.gates.grammar import parse_gate
from tests import factories
from tests.factories import (
    LABELS,
    OrderedTriage,
    Triage,
    computed_outcome,
    measure,
    paired,
    predictions,
    revised,
    scored,
)


def steady(value: float) -> BootstrapReplicates:
    """The replicates of a metric that hardly varies, so that the best cell is certain."""
    values = tuple((value + np.linspace(-1e-4, 1e-4, 101)).tolist())
    return BootstrapReplicates(
        metric="f1_macro",
        samples="",
        value=value,
        values=values,
        errors=(0.0,),
        answers=("A",),
        inputs=(),
        seed=0,
        graded=False,
    )


def outcome(
    strategy: str, value: float = 0.5, *, model: str = "m", gate: str = "", perturbation: str | None = None
) -> Outcome:
    return factories.outcome(
        str(CellId("triage", strategy, model, perturbation)),
        measures={"f1_macro": measure("f1_macro", value, value - 0.1, value + 0.1)},
        replicates={"f1_macro": steady(value)},
        cross_cell_gates=(parse_gate(gate),) if gate else (),
    )


def answered(strategy: str, answers: Sequence[Prediction], gate: str, *, metric: str = "f1_macro") -> Outcome:
    return computed_outcome(
        f"triage-{strategy}@m", Triage(), answers, metric=metric, cross_cell_gates=(parse_gate(gate),)
    )


def test_the_best_strategy_of_each_scenario_and_model_is_judged() -> None:
    gate = "max(f1_macro over strategy) >= 0.6"
    cells = [
        outcome("zero_shot", 0.5, gate=gate),
        outcome("egi", 0.7, gate=gate),
        outcome("rcoif", 0.9),
        outcome("egi", 0.55, model="other", gate=gate),
    ]
    kept, missed = verdicts(cells, Policy())

    assert (kept.status, missed.status) == ("PASS", "FAIL")
    assert kept.reason.startswith("triage@m: max of 2, egi: f1_macro 0.7 [0.6, 0.8] n=50 keeps >= 0.6")
    assert kept.reason.endswith("; corrected for choosing the max of 2, observed 0.7")
    assert missed.reason.startswith("triage@other: max of 1, egi: f1_macro 0.55 [0.45, 0.65] n=50 is under 0.6")
    assert missed.fails


def grouped(strategy: str, answers: str, gate: str, *, group: str) -> Outcome:
    rows = [replace(each, groups={"lang": group}) for each in predictions("AB" * 20, answers * 20)]
    metric = parse_gate(gate).metric
    return computed_outcome(f"triage-{strategy}@m", Triage(), rows, metric=metric, cross_cell_gates=(parse_gate(gate),))


@pytest.mark.parametrize("pick", ["max", "min"])
def test_a_gate_on_a_group_without_samples_fails(pick: str) -> None:
    gate = f"{pick}(accuracy[lang=de] over strategy) >= 0.5"
    (verdict,) = verdicts([grouped(name, "AB", gate, group="en") for name in ("egi", "rcoif")], Policy())
    assert (verdict.status, verdict.fails) == ("FAIL", True)
    assert verdict.reason == "triage@m: egi: accuracy[lang=de] has nothing to measure (n=0)"


def test_a_comparison_of_strategies_on_a_group_without_samples_fails() -> None:
    gate = "egi.accuracy[lang=de] >= rcoif.accuracy[lang=de]"
    (verdict,) = verdicts([grouped(name, "AB", gate, group="en") for name in ("egi", "rcoif")], Policy())
    assert (verdict.status, verdict.fails) == ("FAIL", True)
    assert verdict.reason == "triage@m: accuracy[lang=de] has nothing to measure (n=0)"


@pytest.mark.parametrize(("gate", "status"), [("max", "PASS"), ("min", "FAIL")])
def test_a_cell_without_a_value_is_the_worst_and_never_the_best(gate: str, status: str) -> None:
    text = f"{gate}(accuracy[lang=de] over strategy) >= 0.5"
    (verdict,) = verdicts([grouped("egi", "AB", text, group="de"), grouped("rcoif", "AB", text, group="en")], Policy())
    assert verdict.status == status


def test_the_best_of_equal_strategies_is_corrected_for_the_choice() -> None:
    """Twelve strategies that are right for 55 % of the samples: the best of them is right for 64 % of 50."""
    gate = "max(accuracy over strategy) >= 0.6"
    random = np.random.default_rng(1)
    golds = ["A"] * 50
    cells = []
    for number in range(12):
        answers = ["A" if right else "B" for right in random.random(50) < 0.55]
        cells.append(answered(f"s{number}", predictions(golds, answers), gate, metric="accuracy"))
    best = max(each["accuracy"] for each in cells)

    (verdict,) = verdicts(cells, Policy())

    assert best > 0.6
    assert verdict.status == "FAIL"
    assert verdict.measure is not None
    assert verdict.measure.value < 0.6 < best < verdict.measure.high
    assert verdict.reason.endswith(f"; corrected for choosing the max of 12, observed {best:.3g}")


def test_an_interval_that_is_widened_for_the_choice_stays_within_the_metric() -> None:
    gate = "max(accuracy over strategy) >= 0.6"
    golds = ["A"] * 30
    cells = []
    for number in range(4):
        answers = predictions(golds, ["A"] * 29 + ["AB"[number % 2]])
        cells.append(answered(f"s{number}", answers, gate, metric="accuracy"))

    (verdict,) = verdicts(cells, Policy())

    assert verdict.measure is not None
    assert 0 <= verdict.measure.low < verdict.measure.value <= verdict.measure.high <= 1


def test_the_worst_model_of_each_scenario_and_strategy_is_judged() -> None:
    gate = "min(f1_macro over model) >= 0.6"
    (verdict,) = verdicts(
        [outcome("egi", 0.5, model="a", gate=gate), outcome("egi", 0.9, model="b", gate=gate)], Policy()
    )

    assert verdict.status == "FAIL"
    assert verdict.reason.startswith("triage-egi: min of 2, a: f1_macro 0.5 ")


@pytest.mark.parametrize(("axis", "common"), [("strategy", "triage+typos_5pct@m"), ("model", "triage-egi+typos_5pct")])
def test_perturbed_cells_are_compared_with_those_of_the_same_perturbation(axis: str, common: str) -> None:
    gate = f"*+*: max(f1_macro over {axis}) >= 0.6"
    cells = [
        outcome("egi", 0.5, gate=gate, perturbation="typos_5pct"),
        outcome("egi", 0.7, gate=gate, perturbation="case_upper"),
        outcome("egi", 0.9),
    ]
    reasons = [verdict.reason for verdict in verdicts(cells, Policy())]

    assert reasons[0].startswith(f"{common}: max of 1, ")
    assert reasons[1].startswith(f"{common.replace('typos_5pct', 'case_upper')}: max of 1, ")


@pytest.mark.parametrize(("doubt", "fails"), [("", False), (" !warn", False), (" !fail", True)])
def test_cells_without_the_measure_are_passed_over(doubt: str, fails: bool) -> None:  # noqa: FBT001
    gate = f"max(ece over strategy) <= 0.6{doubt}"
    (verdict,) = verdicts([outcome("egi", gate=gate)], Policy())

    assert (verdict.status, verdict.fails) == ("NOT RUN", fails)
    assert verdict.reason == "triage@m: no cell has ece"


def test_two_strategies_are_compared_sample_by_sample() -> None:
    """The interval is that of the paired change."""
    random = np.random.default_rng(1)
    golds, first, second = (list(random.choice(LABELS, 80)) for _ in range(3))
    better = [gold if row % 3 else other for row, (gold, other) in enumerate(zip(golds, first, strict=True))]
    new, old = predictions(golds, better), predictions(golds, second)
    gate = "egi.f1_macro >= zero_shot.f1_macro + 0.1"
    (verdict,) = verdicts([answered("zero_shot", old, gate), answered("egi", new, gate)], Policy())
    expected = paired(Triage(), new, old, seed=3).change("f1_macro")

    assert verdict.change == expected
    assert verdict.status == "PASS"
    assert verdict.reason.startswith("triage@m: egi: f1_macro is higher by 0.")
    assert " against zero_shot, which keeps >= zero_shot.f1_macro + 0.1 (" in verdict.reason
    counts = "4 of 80 answers are wrong where it is right, 47 the other way; f1_macro counts 59 samples differently"
    assert verdict.reason.endswith(f" ({counts})")


def test_a_strategy_that_did_not_run_is_named() -> None:
    gate = "egi.f1_macro >= zero_shot.f1_macro"
    (verdict,) = verdicts([outcome("egi", gate=gate)], Policy())

    assert (verdict.status, verdict.fails) == ("NOT RUN", False)
    assert verdict.reason == f"triage@m: {gate} was not judged: no cell of zero_shot ran"


def test_other_samples_are_not_compared() -> None:
    gate = "egi.f1_macro >= zero_shot.f1_macro"
    cells = [answered("egi", predictions(["A", "B"], ["A", "B"]), gate)]
    cells.append(answered("zero_shot", predictions(["A", "B", "C"], ["A", "B", "C"]), gate))
    (verdict,) = verdicts(cells, Policy())

    assert (verdict.status, verdict.fails) == ("NOT RUN", False)
    assert verdict.reason.endswith("they have other samples")
    (verdict,) = verdicts([revised(cell, cross_cell_gates=(parse_gate(f"{gate} !fail"),)) for cell in cells], Policy())
    assert verdict.fails


def test_samples_that_one_of_them_asks_several_times_are_not_compared() -> None:
    gate = "egi.f1_macro >= zero_shot.f1_macro"
    once, thrice = (
        answered(name, predictions(["A"] * n, ["A"] * n), gate) for name, n in (("egi", 1), ("zero_shot", 3))
    )
    (verdict,) = verdicts([revised(once, samples=1, trials=1), revised(thrice, samples=1, trials=3)], Policy())

    assert verdict.reason.endswith("one asks each sample once, the other 3 times (orders or repeats)")


def test_a_metric_that_one_of_them_lacks_is_named() -> None:
    gate = "egi.f1_macro >= zero_shot.f1_macro"
    lacking = revised(outcome("zero_shot", gate=gate), replicates={}, measures={})
    cells = [answered("egi", predictions(["A"], ["A"]), gate), lacking]
    (verdict,) = verdicts(cells, Policy())

    assert verdict.reason == f"triage@m: {gate} was not judged: f1_macro was not measured in both"


@pytest.mark.parametrize(("inconclusive", "fails"), [("warn", False), ("fail", True)])
def test_the_policy_decides_about_doubt(inconclusive: str, fails: bool) -> None:  # noqa: FBT001
    gate = "egi.f1_macro >= zero_shot.f1_macro"
    new, old = predictions(["A", "B"] * 10, ["A", "A"] * 10), predictions(["A", "B"] * 10, ["B", "B"] * 10)
    policy = Policy(inconclusive=inconclusive)  # type: ignore[arg-type]
    (verdict,) = verdicts([answered("egi", new, gate), answered("zero_shot", old, gate)], policy)

    assert (verdict.status, verdict.fails) == ("INCONCLUSIVE", fails)


def test_a_metric_that_the_answers_do_not_give_has_no_draws() -> None:
    answers = predictions(["A"], ["A"])

    assert scored(OrderedTriage(), answers).replicates("within_one") is not None
    assert scored(Triage(), answers).replicates("within_one") is None
    assert scored(Triage(), answers).replicates("ece") is None
