"""The power that gates on a change state, and the smallest change that they say they detect."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from pytest_puma.cli.init.gates import proposed_gates
from pytest_puma.core import Policy, Power, Verdict
from pytest_puma.core.change import Spread
from pytest_puma.evaluation.cell import Cell
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.gates.judge import MIN_POWER, judge_change, judge_decline
from pytest_puma.gates.power import Compared, Detection, detection_of, of_gate
from pytest_puma.metrics import PairedPredictions
from pytest_puma.planning.forecast import detectable, powers
from pytest_puma.scenarios import TriageJiraScenario
from pytest_puma.strategies import Task
from tests.factories import Triage, cell, change, paired, predictions, sample, task
from tests.metrics.texts import paired_texts, texts

TEST, LIMIT = parse_gate("no_regression"), parse_gate("accuracy >= baseline")


def labels(n: int, worse: int = 2, better: int = 2) -> PairedPredictions:
    """Answers to `n` samples, of which some became wrong and some right."""
    rest = "A" * (n - worse - better)
    new, old = "B" * worse + "A" * better + rest, "A" * worse + "B" * better + rest
    return paired(Triage(), predictions("A" * n, new), predictions("A" * n, old))


def of(pairs: PairedPredictions, gate: str = "no_regression", metric: str = "accuracy") -> Verdict:
    """The verdict of a gate."""
    change = pairs.change(metric)
    assert change is not None
    if gate == "no_regression":
        return judge_decline(TEST, pairs.decline(), change, "the baseline", Policy())
    return judge_change(parse_gate(gate), change, "the baseline", Policy())


def planned(n: int, *gates: str) -> tuple[Cell, list[Task]]:
    """A cell with these gates, and its samples."""
    of_sample = task(TriageJiraScenario())
    return cell(gates=gates), [replace(of_sample, sample=sample(f"s{row}", gold="Major")) for row in range(n)]


def power(verdict: Verdict) -> Power:
    assert verdict.power is not None
    return verdict.power


@pytest.mark.parametrize("n", [*range(20, 131, 10), 98, 99, 199, 200, 400])
def test_plan_and_run_state_the_same_power_for_the_same_number_of_samples(n: int) -> None:
    texts_of_gates = ("no_regression", "accuracy >= baseline", "accuracy >= baseline - 0.02")
    before, pairs = powers(*planned(n, *texts_of_gates)), labels(n, 1, 1)
    for text in texts_of_gates:
        after = power(of(pairs, text))
        assert after.n == n
        assert after.caught == pytest.approx(before[text].caught, abs=1e-9), text
        assert (after.needed, after.changed) == pytest.approx((before[text].needed, before[text].changed))
        assert str(after) == str(replace(before[text], at_least=False))


def test_a_hundred_samples_can_pass_and_the_number_that_init_writes_too() -> None:
    (proposed,) = (each for each in proposed_gates("classification", ["a", "b"] * 10) if each.gate == "no_regression")
    assert proposed.needed <= 100
    for n in (int(proposed.needed), 100):
        assert of(labels(n)).status == "PASS"
    few = of(labels(int(proposed.needed) - 1))
    assert (few.status, power(few).caught < MIN_POWER) == ("INCONCLUSIVE", True)
    assert "is caught in 39 % of runs" in few.reason


def test_texts_have_no_gain_of_label_probabilities() -> None:
    right = [1.0] * 90
    verdict = of(paired_texts(texts([*right, *[1.0] * 10]), texts([*right, *[0.0] * 10])), metric="closeness")
    assert power(verdict).caught == pytest.approx(power(of(labels(100, 0, 10))).caught)
    assert power(verdict).caught < 0.41


@pytest.mark.parametrize(
    ("bounds", "lost"), [((0.0, 1.0), "5 points"), ((0.0, 100.0), "5 in closeness"), ((-1.0, 1.0), "0.1 in closeness")]
)
def test_the_loss_is_a_twentieth_of_the_width_of_the_bounds(bounds: tuple[float, float], lost: str) -> None:
    low, high = bounds
    middle = (low + high) / 2
    scores = [[low] * 10 + [middle] + [high] * 89, [high] * 10 + [middle] + [low] * 10 + [high] * 79]
    pairs = paired_texts(*(texts(each) for each in scores), bounds=bounds)
    states = [power(of(pairs, gate, "closeness")) for gate in ("no_regression", "closeness >= baseline")]
    assert [each.lost for each in states] == [f"a loss of {lost}"] * 2
    # The scale does not matter.
    assert states[1].caught == pytest.approx(0.15, abs=0.03)
    assert 600 < states[1].needed < 750


@pytest.mark.parametrize("n", [20, 30, 80])
def test_graded_scores_of_which_few_changed_promise_no_more_than_labels(n: int) -> None:
    """One score moved a little: that shows nothing of the changes that a loss of five points would make."""
    old = [0.0, 1.0] * (n // 2)
    verdict = of(paired_texts(texts([0.1, *old[1:]]), texts(old)), metric="closeness")
    assert power(verdict).caught == pytest.approx(power(of(labels(n, 1, 1))).caught, abs=0.02)
    assert verdict.status == "INCONCLUSIVE"


def test_trials_of_a_question_are_losses_between_right_and_wrong() -> None:
    """Equal systems that are right by chance in each of five trials are undecided in few runs."""
    random, undecided = np.random.default_rng(3), 0
    for _ in range(20):
        chances = random.beta(1.4, 0.6, 60)[:, None]
        sides = (
            texts((random.random((60, 5)) < chances).astype(float).ravel().tolist(), size=5, trials=5) for _ in range(2)
        )
        verdict = of(paired_texts(*sides), metric="closeness")
        undecided += verdict.status == "INCONCLUSIVE"
        assert 0.3 < power(verdict).caught < 0.8
    assert undecided <= 10


@pytest.mark.parametrize("text", ["accuracy >= baseline", "accuracy >= baseline - 0.02"])
@pytest.mark.parametrize("n", [50, 100, 400])
def test_the_smallest_detected_change_agrees_with_the_power(n: int, text: str) -> None:
    verdict = of(labels(n, n // 12, n // 12), text)
    assert verdict.status == "INCONCLUSIVE"
    (fall,) = map(float, re.findall(r"detects a fall of (\S+) or more in 80 % of runs", verdict.reason))
    assert (fall > 0.05) == (power(verdict).caught < 0.8)
    assert detection(verdict).caught(fall) == pytest.approx(0.8, abs=0.01)


def test_the_plan_states_the_change_that_its_power_belongs_to() -> None:
    sizes = [detectable(*planned(n)) for n in (50, 100, 200, 400)]
    assert sizes == sorted(sizes, reverse=True)
    needed = powers(*planned(100, "f1_macro >= baseline"))["f1_macro >= baseline"].needed
    assert detectable(*planned(round(needed))) == pytest.approx(0.05, rel=0.05)


def detection(verdict: Verdict) -> Detection:
    compared = verdict.change and Compared.of(verdict.change)
    assert isinstance(compared, Compared)
    return detection_of(verdict.gate, compared)


@pytest.mark.parametrize(
    ("gate", "n", "words"),
    [
        ("accuracy >= baseline", 5, "n=5 is too few to detect any change in 80 % of runs"),
        ("accuracy >= baseline + 0.2", 400, "n=400 detects a rise of 0.1"),
        ("accuracy >= naive.majority + 0.2", 400, "above naive.majority in 80 % of runs"),
    ],
)
def test_changes_that_no_run_detects_and_rises_that_are_too_small_are_called_so(gate: str, n: int, words: str) -> None:
    spread = Spread(n=n, moved=0.1)
    shift = change(old=0.5, new=0.6, value=0.1, low=-0.1, high=0.3, n=n, worse=0, better=0, spread=spread)
    assert words in judge_change(parse_gate(gate), shift, "the baseline", Policy()).reason


def test_linked_samples_are_worth_fewer_independent_ones() -> None:
    """Both rows of a pair change together, in a unit of their own and in one that links two pairs."""
    n = 80
    units = [(f"p{row // 2}",) for row in range(n)]
    answers: Sequence[str] = "B" * 8 + "A" * 8 + "A" * (n - 16)
    old = "A" * 8 + "B" * 8 + "A" * (n - 16)
    pairs = paired(Triage(), predictions("A" * n, answers, units=units), predictions("A" * n, old, units=units))
    assert pairs.decline().spread.n == pytest.approx(n / 2, rel=0.1)
    assert power(of(pairs)).n == n


def test_a_metric_that_cannot_vary_has_no_power() -> None:
    spread = Spread(n=50, moved=0.0, size=0.0, unseen=0.0, width=0.0)
    assert of_gate(LIMIT, Compared(metric="mae", n=50, old=2.0, spread=spread)) is None
