"""The answers of a baseline as columns: trials, groups and scores come back."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from pytest_puma.baseline.columns import answers_of, columns_of, stored
from pytest_puma.core import Prediction
from tests import factories
from tests.factories import prediction, verdict

TRIALS = [
    prediction("T-1", trial=trial, answer=answer, groups={"subject": "law"}, scores={"bleu": score, "length": length})
    for trial, answer, score, length in ((0, "A", (2.0, 1 / 3), 1 / 3), (1, None, None, 7))
]


def columns(*predictions: Prediction, metrics: tuple[str, ...] = ("bleu", "length")) -> dict[str, Any]:
    """As they stand in a file."""
    text = json.dumps(columns_of({each.key: stored(each, metrics) for each in predictions}), allow_nan=False)
    made: dict[str, Any] = json.loads(text)
    return made


def test_trials_groups_and_scores_have_columns() -> None:
    assert columns(*TRIALS) == {
        "ids": ["T-1", "T-1"],
        "trials": [0, 1],
        "answers": ["A", None],
        "finish": ["stop", "stop"],
        "tokens": [[0, 0, 0], [0, 0, 0]],
        "probabilities": None,
        "groups": {"subject": ["law", "law"]},
        "scores": {"bleu": [[2.0, 0.333333], None], "length": [0.333333, 7]},
    }


def test_predictions_come_back_from_their_columns() -> None:
    answers = answers_of(columns(*TRIALS))

    assert list(answers) == [("T-1", 0), ("T-1", 1)]
    assert answers["T-1", 0].scores == {"bleu": (2.0, 0.333333), "length": 0.333333}
    assert answers["T-1", 1].scores == {"bleu": None, "length": 7}
    assert answers["T-1", 1].groups == {"subject": "law"}
    assert columns(*answers.values()) == columns(*TRIALS)


def test_predictions_without_trials_groups_and_scores_have_no_columns_for_them() -> None:
    assert columns(prediction("T-1"), prediction("T-2")).keys() == {
        "ids",
        "answers",
        "finish",
        "tokens",
        "probabilities",
    }


@pytest.mark.parametrize("score", [math.nan, math.inf, (1.0, math.nan)])
def test_a_score_that_json_does_not_have_is_none(score: Any) -> None:
    assert columns(prediction("T-1", scores={"length": score}))["scores"] == {"length": [None]}


def test_the_scores_of_the_primary_and_of_gated_metrics_are_kept() -> None:
    scores = {"accuracy": 1.0, "length": 3.0, "bleu": 0.5}
    outcome = factories.outcome(
        predictions=(prediction("T-1", scores=scores),), verdicts=(verdict("length >= 0.5"), verdict("accuracy >= 0.5"))
    )
    assert factories.entry(outcome).answers["T-1", 0].scores == {"accuracy": 1.0, "length": 3.0}
