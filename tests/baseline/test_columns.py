"""The answers of a baseline as columns: trials, groups and scores come back, and format 1 is read."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.baseline import Baselines, Entry
from pytest_puma.baseline.columns import answers_of, columns_of, stored
from pytest_puma.core import Prediction, Usage
from tests import factories
from tests.factories import prediction, verdict

#: Both files of a baseline as format 1 had them.
HEAD = """{
 "format": 1,
 "scenario": "triage",
 "cells": {
  "triage-zero_shot@m": {
   "test": "benchmarks/test_t.py::test_t",
   "commit": "main@3f2c1d9",
   "measures": {
    "accuracy": {"value": 0.66, "low": 0.52, "high": 0.77, "n": 2}
   },
   "signature": {
    "data": {"file": "a.csv", "sha256": "d"},
    "template_sha256": "t",
    "perturbation": null,
    "samples": 2,
    "seed": 42,
    "generation": {"temperature": 0.0},
    "engine": {"weights_sha256": "w"}
   },
   "answers_sha256": "a28dee4172c0663c83ec6b730bc00e9f8be6e742e9b72ea396a59fe04fbb08dc"
  }
 }
}
"""
ANSWERS = """\
{"answers":["A",null],"cell":"triage-zero_shot@m","finish":["stop","stop"],"ids":["s0","s1"],"probabilities":null,"tokens":[[10,3,2],[11,3,2]]}
"""

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


def test_predictions_without_trials_groups_and_scores_have_the_columns_of_format_1() -> None:
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


def test_a_file_of_format_1_is_read_and_written_in_format_2(tmp_path: Path) -> None:
    (tmp_path / "triage.json").write_text(HEAD, encoding="utf-8")
    (tmp_path / "triage.answers.jsonl").write_text(ANSWERS, encoding="utf-8")
    (old,) = Baselines(tmp_path).entries()

    assert {key: each.answer for key, each in old.answers.items()} == {("s0", 0): "A", ("s1", 0): None}
    assert old.answers["s1", 0].usage == Usage(prompt_tokens=11, cached_tokens=3, decoded_tokens=2)
    signature = dict(old.signature)
    assert old.changed(signature | {"repeats": 1, "subjects": []}) == ()
    assert old.changed(signature | {"repeats": 5, "subjects": []}) == ("the repeats",)

    again = replace(old, signature=signature | {"repeats": 1, "subjects": []}, commit="main@later")
    (written,) = Baselines(tmp_path).write([again])
    assert (written.changed, written.same) == (0, 1)
    head = json.loads((tmp_path / "triage.json").read_text(encoding="utf-8"))
    assert head["format"] == 2
    assert head["cells"]["triage-zero_shot@m"]["commit"] == "main@3f2c1d9"
    assert (tmp_path / "triage.answers.jsonl").read_text(encoding="utf-8") == ANSWERS
    assert [type(each) for each in Baselines(tmp_path).entries()] == [Entry]
