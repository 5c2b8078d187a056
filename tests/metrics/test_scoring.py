"""Losses of answers: by the kind of task, or by the scores of texts."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pytest_puma.core import LOSS, Metric, MetricError, Pool, Prediction, Sample
from pytest_puma.metrics import score, scoring
from pytest_puma.metrics.scoring import losses_of
from tests.composed import Quiz
from tests.factories import Estimation, Triage, prediction, predictions, sample
from tests.metrics.texts import Letters, closeness, texts


@pytest.mark.parametrize(
    ("declared", "given", "loss"),
    [
        ({"bounds": (0.0, 1.0)}, 0.75, 0.25),
        ({"bounds": (2.0, 10.0)}, 7.0, 3.0),
        ({"bounds": (2.0, 10.0), "better": "low"}, 7.0, 5.0),
        ({"bounds": None}, 7.0, -7.0),
        ({"bounds": None, "better": "low"}, 7.0, 7.0),
        ({"bounds": None, "better": "neither"}, 7.0, None),
        ({}, None, None),
    ],
)
def test_the_loss_of_a_text_is_the_distance_of_its_score_from_the_best_one(
    declared: dict[str, object], given: float | None, loss: float | None
) -> None:
    assert losses_of(Letters(), texts([given]), [closeness(**declared)]) == [loss]


def test_the_loss_of_a_vector_is_that_of_the_number_it_gives_alone() -> None:
    answered = [prediction(scores={"closeness": (3.0, 4.0)})]
    quotient = closeness(pool=Pool(2, lambda sums: sums[:, 0] / sums[:, 1]))
    assert losses_of(Letters(), answered, [quotient]) == [0.25]


def test_a_text_has_no_loss_without_its_primary_metric() -> None:
    assert losses_of(Letters(), texts([0.5]), []) == [None]
    assert losses_of(Letters(), texts([0.5]), [Metric(name="other", score=lambda *_: None)]) == [None]


def test_losses_of_answers_depend_on_the_kind_of_task() -> None:
    assert losses_of(Triage("AB"), predictions("AAA", ["A", "B", None])) == [0.0, 1.0, None]
    assert losses_of(Triage("AB"), predictions("A", ["C"])) == [None], "no label"
    assert losses_of(Estimation(), predictions(["3"] * 3, ["5", "2.5", "inf"])) == [2.0, 0.5, None]
    several = prediction(gold="x", references=("x", "y"), answer="y", choices=("x", "y", "z"))
    assert losses_of(Quiz(), [several]) == [0.0]


def test_a_stored_loss_counts_as_it_is() -> None:
    stored = [
        prediction(gold="A", answer="A", scores={LOSS: 0.5}),
        prediction(gold="A", answer="A", scores={LOSS: None}),
    ]
    assert losses_of(Triage("AB"), stored) == [0.5, None]


def test_scores_from_an_earlier_run_are_replaced() -> None:
    before = prediction(gold="A", answer="B", scores={LOSS: 0.0, "half": 7.0})
    half = Metric(name="half", score=lambda _, each: 0.0 if each.scores else 0.5)
    (result,) = score(Triage("AB"), [sample("s0")], [before], [half])
    assert result.scores == {LOSS: 1.0, "half": 0.5}
    (bare,) = score(Triage("AB"), [], [before])
    assert bare.scores == {LOSS: 1.0}


def _trials() -> list[Prediction]:
    return [prediction(name, trial=trial) for name in ("a", "b") for trial in range(2)]


def test_a_metric_of_a_sample_scores_the_first_of_its_trials() -> None:
    count = Metric(name="count", score=lambda _, trials: len(trials), per="sample", bounds=None)
    parts = Metric(name="all", score=lambda *_: {"x": 1, "y": 0}, per="sample", parts=("x", "y"))
    with_scores = score(Triage("AB"), [sample("a"), sample("b")], _trials(), [count, parts])
    assert [each.scores["count"] for each in with_scores] == [2, None, 2, None]
    assert [(each.scores["all.x"], each.scores["all.y"]) for each in with_scores] == [(1, 0), (None, None)] * 2


def test_a_metric_of_a_trial_gets_the_sample_of_the_trial_and_a_metric_of_a_cell_nothing() -> None:
    named = Metric(name="named", score=lambda sample, each: float(sample.id == each.sample_id))
    cell = Metric(name="cell", score=len, per="cell")
    with_scores = score(Triage("AB"), [sample("b"), sample("a")], _trials(), [named, cell])
    assert [each.scores["named"] for each in with_scores] == [1.0] * 4
    assert "cell" not in with_scores[0].scores


def test_a_metric_is_not_asked_without_what_it_needs() -> None:
    needs = Metric(name="m", score=lambda *_: 1.0, needs=frozenset({"probabilities", "likelihoods"}))
    parts = Metric(name="p", score=lambda *_: {"x": 1}, parts=("x",), needs=frozenset({"probabilities"}))
    rows = [prediction("a", probabilities={"A": 1.0})]
    (result,) = score(Triage("AB"), [sample("a")], rows, [needs, parts])
    assert (result.scores["m"], result.scores["p.x"]) == (None, 1.0)
    (result,) = score(Triage("AB"), [sample("a")], [prediction("a")], [needs, parts])
    assert (result.scores["m"], result.scores["p.x"]) == (None, None)


@pytest.mark.parametrize("value", [0, 1, True, np.float64(0.25)])
def test_numbers_at_the_bounds_and_of_any_type_are_scores(value: float) -> None:
    (result,) = score(Triage("AB"), [sample("a")], [prediction("a")], [Metric(name="m", score=lambda *_: value)])
    assert result.scores["m"] == value
    assert type(result.scores["m"]) is float


def test_a_vector_has_no_bounds_of_its_parts() -> None:
    pool = Metric(name="m", score=lambda *_: [3, 4], pool=Pool(2, lambda sums: sums[:, 0] / sums[:, 1]))
    (result,) = score(Triage("AB"), [sample("a")], [prediction("a")], [pool])
    assert result.scores["m"] == (3.0, 4.0)


def test_a_pattern_of_a_metric_that_never_ends_is_an_error_that_names_the_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def endless(_: Sample, prediction: Prediction) -> float:
        return float(re.match(r"(a+)+$", prediction.text) is not None)

    monkeypatch.setattr(scoring, "CALL", 0.3)
    answered = [prediction("s0", reply="a" * 40 + "!")]
    with pytest.raises(MetricError, match=r"metric 'endless' raised TimeoutError on sample 's0': over 0\.3 seconds"):
        score(Letters(), [sample("s0")], answered, [Metric(name="endless", score=endless)])
