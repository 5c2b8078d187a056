from __future__ import annotations

import math

import pytest

from pytest_puma.core import Flip, Gate, Measure, Message, Prediction, Run, Usage, Verdict
from pytest_puma.core.verdict import Status
from pytest_puma.report.rows import HEADERS, all_rows, number
from pytest_puma.report.terminal import flips, misses, summary, worst_misses
from tests.store.test_serialize import outcome

RATES = {
    "mae": Measure(metric="mae", value=2.0, low=1.25, high=3.5, n=40),
    "rmse": Measure(metric="rmse", value=3.0, low=2.0, high=4.0, n=40, note="n under 30"),
    "parse_failure_rate": Measure(metric="parse_failure_rate", value=0.04, low=0.0, high=0.1, n=50),
}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.12345, "0.123"), (0.0, "0"), (1.0, "1.00"), (12.345, "12.35"), (1234.5, "1.23e+03"), (math.nan, "-")],
)
def test_numbers_have_three_digits_or_two_places(value: float, text: str) -> None:
    assert number(value) == text


def test_a_cell_is_a_row_and_each_further_metric_another() -> None:
    whole = outcome(measures=RATES, metrics=("mae", "rmse", "ece"), usage=Usage(prompt_tokens=900, cached_tokens=400))
    run = Run(id="r", started="", environment={}, outcomes=(whole,), problems=())
    lines = summary(run, ".puma/runs/r", 200)
    assert lines[2].split() == ["a", "b", "c", "40", "mae", "2.00", "[1.25,", "3.50]", "4%", "500", "0.0", "-"]
    assert lines[3].split() == ["40", "rmse", "3.00*", "[2.00,", "4.00]"]
    assert lines[4:] == [
        "* few answers, or many parse failures; the note is in run.json",
        "predictions: .puma/runs/r",
    ]


def _limit(metric: str, status: Status) -> Verdict:
    return Verdict(gate=Gate(metric=metric, op="<=", limit=2), status=status, reason="", fails=status == "FAIL")


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        ([("rmse", "FAIL"), ("parse_failure_rate", "PASS")], [("mae", "-"), ("rmse", "FAIL")]),
        ([("mae", "PASS"), ("parse_failure_rate", "FAIL")], [("mae", "PASS"), ("parse_failure_rate", "FAIL")]),
        ([("parse_failure_rate", "PASS")], [("mae", "-"), ("parse_failure_rate", "PASS")]),
    ],
)
def test_a_verdict_stands_only_beside_the_metric_that_its_gate_is_about(
    verdicts: list[tuple[str, Status]], told: list[tuple[str, str]]
) -> None:
    whole = outcome(measures=RATES, metrics=("mae",), verdicts=tuple(_limit(*each) for each in verdicts))
    found = [(row[HEADERS.index("metric")], row[HEADERS.index("verdict")]) for row in all_rows([whole])]
    assert found == told


def test_the_strategy_of_a_perturbed_cell_is_shown_with_its_perturbation() -> None:
    whole = outcome(measures=RATES, perturbation="case_upper")
    lines = summary(Run(id="r", started="", environment={}, outcomes=(whole,)), "", 200)
    assert lines[2].split()[:3] == ["a", "b+case_upper", "c"]


def test_trivial_programs_stand_behind_the_last_cell_of_their_scenario_a_perturbed_one_too() -> None:
    plain = outcome(measures=RATES, naive_baselines={"mean": {"mae": RATES["mae"]}})
    perturbed = outcome(measures=RATES, perturbation="case_upper", cell="a-b+case_upper@c")
    lines = summary(Run(id="r", started="", environment={}, outcomes=(plain, perturbed)), "", 200)
    assert [line.split()[1] for line in lines[2:5]] == ["b", "b+case_upper", "naive.mean"]


def test_the_worst_misses_are_unread_answers_then_the_farthest_off() -> None:
    said = [("1", "3"), ("3", "3"), ("34", "3"), (None, "5"), ("8", "5")]
    predictions = [Prediction(sample_id=str(n), gold=gold, answer=answer) for n, (answer, gold) in enumerate(said)]
    assert [prediction.sample_id for prediction in worst_misses(predictions)] == ["3", "2", "4", "0"]


def test_among_labels_the_surest_miss_is_the_worst() -> None:
    unsure = Prediction(sample_id="unsure", gold="A", answer="B", probabilities={"A": 0.4, "B": 0.6})
    sure = Prediction(sample_id="sure", gold="A", answer="B", probabilities={"A": 0.1, "B": 0.9})
    right = Prediction(sample_id="right", gold="A", answer="A", probabilities={"A": 1.0})
    assert worst_misses([unsure, right, sure]) == [sure, unsure]


def test_without_a_wrong_answer_there_are_no_misses() -> None:
    assert misses(outcome()) == []


def test_a_miss_shows_its_texts_and_a_scored_one_its_probabilities() -> None:
    gate = Gate(metric="mae", op="<=", limit=0)
    scored = Prediction(sample_id="s", gold="A", answer="B", raw=("",), probabilities={"A": 0.125, "B": 0.875})
    told = Prediction(sample_id="t", gold="A", answer="B", raw=("B,\nI say",))
    verdict = Verdict(gate=gate, status="FAIL", reason="no", fails=True)
    lines = misses(outcome(verdicts=(verdict,), predictions=(scored, told)))
    assert [line.strip() for line in lines if "raw" in line] == ["raw    B 87.5%, A 12.5%", "raw    'B, I say'"]


def test_a_miss_shows_what_its_prompt_has_of_its_own() -> None:
    shared = (Message(role="user", content="Which team? "),)
    texts = ("My invoice is wrong.", f"{'My password is refused. ' * 9}Reply with the team only.", "")
    missed = tuple(
        Prediction(sample_id=str(n), gold="A", answer="B", prompts=((Message(role="user", content=text),),))
        for n, text in enumerate(texts)
    )
    whole = outcome(predictions=missed, shared_prompts=(shared,))
    lines = [line.strip() for line in misses(whole) if line.strip().startswith("prompt ")]
    assert lines == [
        "prompt My invoice is wrong.",
        (
            "prompt My password is refused. My password is refused. My ... "
            "My password is refused. Reply with the team only."
        ),
        "prompt Which team?",
    ]


def test_a_flip_of_a_sample_without_a_key_shows_its_text() -> None:
    turned = [
        Flip(sample_id="3f2c1d9a0b1e", gold="A", old="A", new="B", better=False, text="My password is refused."),
        Flip(sample_id="T-1", gold="A", old="B", new="A", better=True),
    ]
    assert flips(outcome(flips=tuple(turned)))[1:] == [
        "  worse   3f2c1d9a0b1e (My password is refused.): gold is A, was A, is B",
        "  better  T-1: gold is A, was B, is A",
    ]
