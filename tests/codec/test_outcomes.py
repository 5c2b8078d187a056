from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.codec.outcomes import from_lines, to_lines
from pytest_puma.codec.plain import plain
from pytest_puma.core import (
    MODEL,
    BootstrapReplicates,
    DeclaredScore,
    Drift,
    Likelihood,
    Message,
    Outcome,
    Response,
    TaskInfo,
    Transcript,
    Turn,
    Usage,
)
from tests.factories import change, measure, outcome, prediction, unmeasured, verdict

PROMPT = (Message(role="user", content="?"),)
MEASURE = measure("mae", 1.5, 1.0, 2.0, n=7)
CHANGE = change("mae", old=1.0, new=1.5, value=0.5, low=0.25, high=0.75, n=7, worse=2, better=1, graded=True)


def back(sent: Outcome) -> Outcome:
    """The outcome that arrives, with its predictions read."""
    arrived = from_lines(to_lines(sent))
    return replace(arrived, predictions=tuple(arrived.predictions))


def test_an_outcome_comes_back_as_it_was() -> None:
    whole = outcome(
        measures={"mae": MEASURE},
        predictions=(
            prediction(
                "1",
                gold="3",
                answer=None,
                probabilities={"3": 0.5},
                failure="not_a_number",
                parsed="x",
                units=("1",),
                fields={"title": "t", "parts": [1, None]},
                groups={"subject": "law"},
                scores={"points": 1.5, "pair": (1.0, 2.0), "none": None},
                references=("3", "three"),
                choices=("2", "3"),
                order=(1, 0),
                reply="x",
                likelihoods=(
                    Likelihood(total=-1.5, end=-0.25, tokens=2, greedy=True),
                    Likelihood(total=-7.0, end=None, tokens=1, greedy=False),
                ),
                unconditional=(Likelihood(total=-9.0, end=None, tokens=2, greedy=False),),
                transcripts={MODEL: Transcript((Turn(prompt=PROMPT, response=Response(text="x")), Turn(cited=False)))},
            ),
        ),
        shared_prompts=((Message(role="user", content="Guess"),),),
        failures={"not_a_number": 1},
        verdicts=(verdict("a: mae <= 1.0", "FAIL", "no", measure=MEASURE, change=CHANGE),),
        confusion={"x": {"y": 1}},
        warnings=("w",),
        drift=Drift(total=0.5, renewals=2),
        usage=Usage(seconds=1.5),
    )
    assert back(whole) == whole


def test_a_task_comes_back_as_it_was() -> None:
    scores = (
        DeclaredScore(name="length", better="low", unit="words", bounds=(0.0, math.inf)),
        DeclaredScore(name="bleu", pooled=True, interval=False),
        DeclaredScore(name="reward", better="neither", bounds=None),
    )
    task = TaskInfo(type="completion", labels=("a", "b"), ordered=True, primary="bleu", better="high", scores=scores)
    assert back(outcome(task=task)).task == task


def test_the_units_of_rows_arrive_with_the_replicates() -> None:
    replicates = BootstrapReplicates(
        metric="mae",
        samples="digest",
        value=1.0,
        values=(1.0, 2.0),
        errors=(0.0, 2.0),
        answers=("3", None),
        inputs=((1.0, 0.5), (2.0, 0.0)),
        seed=3,
        graded=True,
        bounds=(0.0, 1.0),
        units=(("a", "b"), ("b",)),
    )
    sent = outcome(replicates={"mae": replicates})
    assert back(sent).judgement.replicates == sent.judgement.replicates


def test_fields_of_any_type_become_plain_values() -> None:
    fields = {
        "when": pd.Timestamp("2026-01-02"),
        "n": np.int64(3),
        "no": math.nan,
        "all": np.array([1.5, 2.5]),
        "s": {1},
    }
    (read_again,) = back(outcome(predictions=(prediction(fields=fields),))).predictions
    assert read_again.fields == {"when": "2026-01-02 00:00:00", "n": 3, "no": None, "all": [1.5, 2.5], "s": "{1}"}


def test_nan_is_null_in_json_and_nan_again_when_read() -> None:
    text = to_lines(outcome(measures={"mae": unmeasured("mae")}, predictions=()))
    assert json.loads(text)["measures"]["mae"]["value"] is None
    assert math.isnan(from_lines(text).measures["mae"].value)


@given(st.text(alphabet=st.characters(), max_size=20))
def test_any_text_survives_and_lone_surrogates_are_replaced(text: str) -> None:
    sent = to_lines(outcome(warnings=(text,), predictions=(prediction(raw=(text,)),)))
    sent.encode()
    (warning,) = from_lines(sent).judgement.warnings
    (reply,) = from_lines(sent).predictions[0].raw
    assert warning == reply
    if not any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        assert warning == text
    else:
        assert len(warning) == len(text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(0.5), 0.5),
        (np.int64(7), 7),
        (np.bool_(True), True),  # noqa: FBT003
        (math.inf, None),
        ({1: (np.float64("nan"),)}, {"1": [None]}),
    ],
)
def test_numbers_of_numpy_become_plain_ones(value: object, expected: object) -> None:
    number = plain(value)
    assert number == expected
    assert json.dumps(number, allow_nan=False)
