"""The lines of `predictions.jsonl`, which also travel on test reports: one for a cell, then one for each prediction.

    {"kind": "cell", "cell": "triage-egi@m", "node_id": "...", "attempt": 1, "predictions": 50, "prompts": [...], ...}
    {"kind": "prediction", "cell": ..., "sample_id": "7", "gold": "Major", "answer": "Minor",
     "transcripts": {"model": [{"prompt": [...], "text": "Minor", "finish": "stop", "usage": [90, 60, 2, 0.1]}]}}

A key that has its default is left out, but for `transcripts` and `finish`. `null` in a list of log-probabilities is the
logarithm of 0. UTF-8 has no lone surrogates: they become U+FFFD.
"""

from __future__ import annotations

import json
import math
from operator import attrgetter
from typing import Any, TypeAlias

import msgspec

from pytest_puma.codec.plain import plain
from pytest_puma.core import (
    Divergence,
    Likelihood,
    Message,
    Prediction,
    ResponderRole,
    Response,
    Transcript,
    Turn,
    Usage,
)
from pytest_puma.core.conversation import Finish

#: Total, end, tokens, greedy.
_Likelihood: TypeAlias = tuple[float | None, float | None, int, bool]
#: Prompt, cached and decoded tokens, seconds.
_Usage: TypeAlias = tuple[int, int, int, float]


class CellLine(msgspec.Struct, kw_only=True, tag_field="kind", tag="cell"):
    """The first line of a cell. `predictions`: the number of lines that follow; `prompts`: the shared beginnings.

    `prompts` is None if the run kept no prompts.
    """

    cell: str
    node_id: str
    attempt: int
    model: str
    signature: dict[str, Any]
    predictions: int
    prompts: tuple[tuple[Message, ...], ...] | None


class _TurnLine(msgspec.Struct, kw_only=True, omit_defaults=True, gc=False):
    prompt: tuple[Message, ...] | None = None
    continuations: tuple[str, ...] = ()
    text: str = ""
    logprobs: tuple[float | None, ...] = ()
    likelihoods: tuple[_Likelihood, ...] = ()
    finish: Finish
    usage: _Usage | None = None
    cited: bool = True
    metric: str = ""


class _PredictionLine(msgspec.Struct, kw_only=True, omit_defaults=True, gc=False):
    sample_id: str
    trial: int = 0
    tries: int = 1
    gold: str
    answer: str | None
    probabilities: dict[str, float | None] | None = None
    failure: str | None = None
    parsed: str | None = None
    units: tuple[str, ...] = ()
    fields: dict[str, Any] = {}
    groups: dict[str, str] = {}
    scores: dict[str, bool | int | float | tuple[float | None, ...] | None] = {}
    references: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    order: tuple[int, ...] = ()
    reply: str | None = None
    likelihoods: tuple[_Likelihood, ...] = ()
    unconditional: tuple[_Likelihood, ...] = ()
    divergence: tuple[Divergence, ...] = ()
    transcripts: dict[ResponderRole, tuple[_TurnLine, ...]]


#: Fields that a line has as they are.
_SAME = (
    *(
        "sample_id",
        "trial",
        "tries",
        "gold",
        "answer",
        "probabilities",
        "failure",
        "parsed",
        "units",
        "groups",
        "scores",
    ),
    *("references", "choices", "order", "reply", "divergence"),
)
_SAME_VALUES = attrgetter(*_SAME)
_FREE = Usage()
_ENCODER = msgspec.json.Encoder(enc_hook=plain)
_CELL = msgspec.json.Decoder(CellLine)
_PREDICTION = msgspec.json.Decoder(_PredictionLine)


def prediction_json(prediction: Prediction) -> str:
    """Return the object of a prediction, in one line."""
    return _encoded(
        _PredictionLine(
            **dict(zip(_SAME, _SAME_VALUES(prediction), strict=True)),
            fields=plain(prediction.fields),
            likelihoods=tuple(map(_likelihood_line, prediction.likelihoods)),
            unconditional=tuple(map(_likelihood_line, prediction.unconditional)),
            transcripts={
                role: tuple(map(_turn_line, transcript.turns)) for role, transcript in prediction.transcripts.items()
            },
        )
    )


def prediction_from(line: str | bytes) -> Prediction:
    """Read a prediction; a `ValueError` names the place that has another type."""
    read = _PREDICTION.decode(line)
    return Prediction(
        **{name: getattr(read, name) for name in _SAME},
        fields=read.fields,
        likelihoods=tuple(map(_likelihood, read.likelihoods)),
        unconditional=tuple(map(_likelihood, read.unconditional)),
        transcripts={role: Transcript(tuple(map(_turn, turns))) for role, turns in read.transcripts.items()},
    )


def cell_json(line: CellLine) -> str:
    """Return the first line of a cell."""
    return _encoded(line)


def cell_from(line: str | bytes) -> CellLine:
    """Read the first line of a cell; a `ValueError` names the place that has another type."""
    return _CELL.decode(line)


def _encoded(line: msgspec.Struct) -> str:
    try:
        return _ENCODER.encode(line).decode()
    except UnicodeEncodeError:
        return json.dumps(plain(msgspec.to_builtins(line, enc_hook=plain)), allow_nan=False, ensure_ascii=False)


def _turn_line(turn: Turn) -> _TurnLine:
    response = turn.response
    usage = response.usage
    costs = (usage.prompt_tokens, usage.cached_tokens, usage.decoded_tokens, usage.seconds)
    return _TurnLine(
        prompt=turn.prompt,
        continuations=turn.continuations,
        text=response.text,
        logprobs=response.logprobs,
        likelihoods=tuple(map(_likelihood_line, response.likelihoods)),
        finish=response.finish,
        usage=None if usage == _FREE else costs,
        cited=turn.cited,
        metric=turn.metric,
    )


def _turn(line: _TurnLine) -> Turn:
    return Turn(
        prompt=line.prompt,
        continuations=line.continuations,
        response=Response(
            text=line.text,
            logprobs=tuple(map(_logprob, line.logprobs)),
            likelihoods=tuple(map(_likelihood, line.likelihoods)),
            finish=line.finish,
            usage=_FREE if line.usage is None else _usage(*line.usage),
        ),
        cited=line.cited,
        metric=line.metric,
    )


def _usage(prompt: int, cached: int, decoded: int, seconds: float) -> Usage:
    return Usage(prompt_tokens=prompt, cached_tokens=cached, decoded_tokens=decoded, seconds=seconds)


def _likelihood_line(likelihood: Likelihood) -> _Likelihood:
    return likelihood.total, likelihood.end, likelihood.tokens, likelihood.greedy


def _likelihood(line: _Likelihood) -> Likelihood:
    total, end, tokens, greedy = line
    return Likelihood(total=_logprob(total), end=end, tokens=tokens, greedy=greedy)


def _logprob(value: float | None) -> float:
    return -math.inf if value is None else value
