"""Gates on changes: how often noise alone fails one, and how much evidence a failure needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from pytest_puma.core import Policy, Prediction, Usage
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.gates.judge import judge_change
from pytest_puma.stats.significance import mcnemar_worse
from tests.factories import LABELS, POINTS, Estimation, Triage, paired, predictions
from tests.transcripts import replied


def test_errors_are_compared_on_the_samples_parsed_in_both_sets() -> None:
    """Leaving the worst answers out, or giving them again, changes nothing of the others."""
    random = np.random.default_rng(7)
    golds, answers = (random.choice(POINTS, 60).tolist() for _ in range(2))
    errors = np.abs(np.array(answers, float) - np.array(golds, float))
    worst = set(np.argsort(errors)[-8:].tolist())
    some = [None if row in worst else answer for row, answer in enumerate(answers)]
    out = paired(Estimation(), predictions(golds, some), predictions(golds, answers))
    back = paired(Estimation(), predictions(golds, answers), predictions(golds, some))

    for metric in ("mae", "mdae", "rmse", "standardised_accuracy", "spearman", "kendall_tau", "kappa_quadratic"):
        left, again = out.change(metric), back.change(metric)
        assert left is not None
        assert again is not None
        assert (left.value, left.low, left.high, left.n) == (0, 0, 0, 52)
        assert (
            left.new_parse_failures,
            left.fixed_parse_failures,
            again.new_parse_failures,
            again.fixed_parse_failures,
        ) == (8, 0, 0, 8)
        gate = parse_gate(f"{metric} {'<=' if metric in {'mae', 'mdae', 'rmse'} else '>='} baseline")
        verdicts = [judge_change(gate, change, "the baseline", Policy()).status for change in (left, again)]
        assert verdicts == ["FAIL", "PASS"]


def test_wrong_answers_that_become_other_wrong_ones_change_a_macro_f1_and_no_accuracy() -> None:
    random = np.random.default_rng(2)
    golds = random.choice(LABELS, 50).tolist()
    old = [
        gold if right else next(x for x in LABELS if x != gold)
        for gold, right in zip(golds, random.random(50) < 0.7, strict=True)
    ]
    wrong = [row for row in range(50) if golds[row] != old[row]][:5]
    new = [
        next(x for x in LABELS if x not in {golds[row], old[row]}) if row in wrong else old[row] for row in range(50)
    ]
    pairs = paired(Triage(), predictions(golds, new), predictions(golds, old))
    f1, accuracy = pairs.change("f1_macro"), pairs.change("accuracy")

    assert f1 is not None
    assert accuracy is not None
    assert (f1.worse, f1.better, f1.changed) == (0, 0, 5)
    assert f1.value != 0
    assert f1.low < 0 < f1.high
    assert (accuracy.changed, accuracy.low, accuracy.high) == (0, 0, 0)
    assert judge_change(parse_gate("f1_macro >= baseline"), f1, "the baseline", Policy()).status == "INCONCLUSIVE"
    assert judge_change(parse_gate("accuracy >= baseline"), accuracy, "the baseline", Policy()).status == "PASS"


@pytest.mark.parametrize(
    ("gate", "at_most"),
    [("brier <= baseline", 0.05), ("ece <= baseline", 0.05), ("tokens_decoded_mean <= baseline", 0.05)],
)
def test_a_little_noise_without_a_changed_answer_hardly_ever_fails(gate: str, at_most: float) -> None:
    """Logits that move by 0.003 turn hardly an answer, and all probabilities."""
    draws, failed, metric = 40, 0, gate.split(maxsplit=1)[0]
    for seed in range(draws):
        random = np.random.default_rng(seed)
        logits = random.normal(0, 2, (50, 4))
        golds = [LABELS[place] for place in random.integers(0, 4, 50)]
        new, old = (_answered(golds, logits + random.normal(0, 0.003, (50, 4)), random) for _ in range(2))
        change = paired(Triage(), new, old, seed=seed).change(metric)
        assert change is not None
        failed += judge_change(parse_gate(gate), change, "the baseline", Policy()).status == "FAIL"

    assert failed / draws <= at_most


def _answered(golds: Sequence[str], logits: np.ndarray, random: np.random.Generator) -> list[Prediction]:
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    probabilities = [dict(zip(LABELS, row, strict=True)) for row in shares.tolist()]
    answers = [LABELS[place] for place in shares.argmax(axis=1)]
    tokens = random.poisson(8, len(golds)).tolist()
    return [
        replied(each, usage=Usage(decoded_tokens=count))
        for each, count in zip(predictions(golds, answers, probabilities), tokens, strict=True)
    ]


def test_a_baseline_of_the_same_answers_has_the_same_probabilities() -> None:
    """Baselines round them: that is no change."""
    random = np.random.default_rng(4)
    golds = [LABELS[place] for place in random.integers(0, 4, 40)]
    new = _answered(golds, random.normal(0, 2, (40, 4)), random)
    kept = [
        replace(each, probabilities={label: float(f"{p:.6g}") for label, p in (each.probabilities or {}).items()})
        for each in new
    ]
    own = {"sharpness": lambda pairs: sum(max(each.probabilities.values()) for each in pairs) / len(pairs)}
    pairs = paired(Triage(metrics=own), new, kept)

    for metric in ("brier", "ece", "mce", "sharpness"):
        change = pairs.change(metric)
        assert change is not None
        assert (change.value, change.low, change.high, change.changed) == (0, 0, 0, 0)


@pytest.mark.parametrize("size", [50, 200])
def test_where_nothing_is_allowed_accuracy_gates_agree_with_the_exact_test(size: int) -> None:
    """FAIL where one-sided exact p <= 0.025, and nowhere else."""
    gate = parse_gate("accuracy >= baseline")
    for better in (*range(9), 15):
        first = next(worse for worse in count() if mcnemar_worse(worse, better) <= 0.025)
        for worse in (0, first - 1, first, first + 1):
            old = "A" * worse + "B" * better + "A" * (size - worse - better)
            new = "B" * worse + "A" * better + "A" * (size - worse - better)
            change = paired(Triage(), predictions("A" * size, new), predictions("A" * size, old)).change("accuracy")
            assert change is not None
            failed = judge_change(gate, change, "the baseline", Policy()).status == "FAIL"
            assert failed == (mcnemar_worse(worse, better) <= 0.025), (worse, better)


@pytest.mark.parametrize(("worse", "sure"), [(5, False), (6, True)])
def test_a_change_of_any_metric_is_no_surer_than_so_few_answers_can_be(worse: int, sure: bool) -> None:  # noqa: FBT001
    golds = list(LABELS) * 10
    unparsed: list[str | None] = [None] * worse
    change = paired(Triage(), predictions(golds, [*unparsed, *golds[worse:]]), predictions(golds, golds)).change(
        "f1_macro"
    )

    assert change is not None
    assert change.value < 0
    assert (change.high < 0) == sure


def test_many_gates_on_cells_whose_runs_differ_by_noise_alone_stay_green() -> None:
    """12 cells with two gates each, 2 of 100 answers drawn again: where the bare value decides, most runs turn red."""
    gates = [parse_gate(f"{metric} >= baseline") for metric in ("f1_macro", "accuracy")]
    random, red = np.random.default_rng(1), 0
    for _ in range(5 * 12):
        golds = random.choice(LABELS, 50).tolist()
        old = [
            gold if hit else str(random.choice(LABELS))
            for gold, hit in zip(golds, random.random(50) < 0.6, strict=True)
        ]
        new = [
            str(random.choice(LABELS)) if again else answer
            for answer, again in zip(old, random.random(50) < 0.02, strict=True)
        ]
        pairs = paired(Triage(), predictions(golds, new), predictions(golds, old))
        for gate in gates:
            change = pairs.change(gate.metric)
            assert change is not None
            red += judge_change(gate, change, "the baseline", Policy()).status == "FAIL"

    assert red == 0
