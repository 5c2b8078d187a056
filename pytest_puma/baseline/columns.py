"""The answers of a baseline as columns of equal length, one value a prediction.

    {"ids": ["T-1", "T-1"], "trials": [0, 1], "answers": ["Major", null], "finish": ["stop", "length"],
     "tokens": [[120, 64, 2], [120, 119, 16]], "probabilities": null, "groups": {"subject": ["law", "law"]},
     "scores": {"accuracy": [1.0, 0.0]}}

`trials`, `groups` and `scores` are there only if a sample has several trials, groups and scores.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from pytest_puma.core import LOSS, MODEL, Key, Prediction, ResponderRole, Response, Transcript, Usage
from pytest_puma.core.conversation import Finish
from pytest_puma.core.metric import Value
from pytest_puma.core.prediction import changed
from pytest_puma.platform.shape import misfit

#: Significant digits of a measure, a score and a probability: more would change with every processor.
_DIGITS = 6
_COLUMNS = {
    "ids": [str],
    "answers": [(None, str)],
    "finish": [str],
    "tokens": [[int]],
    "probabilities": (None, [(None, {str: float})]),
    "trials?": [int],
    "groups?": {str: [(None, str)]},
    "scores?": {str: [(None, bool, [float], float)]},
}


def stored(prediction: Prediction, metrics: Collection[str]) -> Prediction:
    """Return what a comparison needs, with the scores of some metrics; it takes the gold label from the data."""
    short = kept(prediction)
    return Prediction(
        sample_id=prediction.sample_id,
        trial=prediction.trial,
        gold="",
        answer=prediction.answer,
        probabilities=short.probabilities,
        groups=prediction.groups,
        scores={name: value for name, value in sorted(short.scores.items()) if name in metrics},
        transcripts=_transcripts(prediction.finish, prediction.usage),
    )


def kept(prediction: Prediction) -> Prediction:
    """Return a prediction with the digits that a baseline keeps, so that equal answers have equal numbers there."""
    scores = {name: _score(value) for name, value in prediction.scores.items()}
    shares = prediction.probabilities
    probabilities = shares and {label: _shortened(value) for label, value in shares.items()}
    if (scores, probabilities) == (prediction.scores, shares):
        return prediction
    # The loss may follow from a score, and is computed again.
    scores.pop(LOSS, None)
    return changed(prediction, scores=scores, probabilities=probabilities)


def columns_of(answers: Mapping[Key, Prediction]) -> dict[str, Any]:
    """Return the columns of these predictions."""
    predictions = answers.values()
    usages = [prediction.usage for prediction in predictions]
    probabilities, trials = [prediction.probabilities for prediction in predictions], [trial for _, trial in answers]
    columns = {
        "ids": [sample_id for sample_id, _ in answers],
        "answers": [prediction.answer for prediction in predictions],
        "finish": [prediction.finish for prediction in predictions],
        "tokens": [(usage.prompt_tokens, usage.cached_tokens, usage.decoded_tokens) for usage in usages],
        "probabilities": probabilities if any(probabilities) else None,
    }
    optional = {
        "trials": trials if any(trials) else None,
        "groups": _by_name([prediction.groups for prediction in predictions]),
        "scores": _by_name([prediction.scores for prediction in predictions]),
    }
    return columns | {name: column for name, column in optional.items() if column}


def answers_of(columns: Mapping[str, Any]) -> dict[Key, Prediction]:
    """Return the predictions of `columns_of`; errors as in `Entry.read`."""
    if fault := misfit(columns, _COLUMNS):
        raise ValueError(fault)
    size = len(columns["ids"])
    trials, probabilities = columns.get("trials") or [0] * size, columns["probabilities"] or [None] * size
    required = (columns[name] for name in ("ids", "answers", "finish", "tokens"))
    by_row = (_by_row(columns.get(name, {}), size) for name in ("groups", "scores"))
    return {
        (sample_id, trial): Prediction(
            sample_id=sample_id,
            trial=trial,
            gold="",
            answer=answer,
            probabilities=shares,
            groups=groups,
            scores={name: tuple(value) if isinstance(value, list) else value for name, value in scores.items()},
            transcripts=_transcripts(finish, Usage(prompt_tokens=prompt, cached_tokens=cached, decoded_tokens=decoded)),
        )
        for sample_id, answer, finish, (prompt, cached, decoded), trial, shares, groups, scores in zip(
            *required, trials, probabilities, *by_row, strict=True
        )
    }


def rounded(number: float) -> float | None:
    """Return a number with few digits, None for one that JSON does not have."""
    return _shortened(number) if math.isfinite(number) else None


def _shortened(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}") if isinstance(number, float) else number


def _score(value: Value) -> Value:
    """Return a score with few digits; a vector with a part that JSON does not have is no score."""
    if isinstance(value, tuple):
        return tuple(map(_shortened, value)) if all(map(math.isfinite, value)) else None
    return None if value is None else rounded(value)


def _by_name(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Turn mappings by row into columns by name."""
    return {name: [row.get(name) for row in rows] for name in sorted({name for row in rows for name in row})}


def _by_row(columns: Mapping[str, Sequence[Any]], size: int) -> list[dict[str, Any]]:
    """Turn columns by name into mappings by row."""
    return [{name: column[row] for name, column in columns.items()} for row in range(size)]


def _transcripts(finish: str, usage: Usage) -> Mapping[ResponderRole, Transcript]:
    return {MODEL: Transcript.of(Response(finish=cast("Finish", finish), usage=usage))}
