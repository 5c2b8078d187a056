"""The samples of one cell as blocks of the page: its prompts' common parts, its answers, and its texts."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pytest_puma.core import JUDGE, SANDBOX, Flip, Likelihood, Messages, Prediction, Transcript, Turn
from pytest_puma.phrases import shortened
from pytest_puma.report.page import charts
from pytest_puma.report.page.earlier import Earlier
from pytest_puma.report.page.encoding import LEFT_OUT, flags_of, key_of, numbered, packed_json, rounded, top_probability
from pytest_puma.report.page.scenario import CellPrompts, ScenarioBlocks
from pytest_puma.task_types import TaskKind

#: Characters of a free text as the answer in a table; the whole text is the reply.
_MAX_ANSWER = 200
#: Significant digits of scores and of probabilities of single samples.
_SCORE_DIGITS, _PROBABILITY_DIGITS = 6, 4
#: The score of each prediction by metric.
_Scores: TypeAlias = Mapping[str, Sequence[float | None]]


@dataclass(slots=True, kw_only=True)
class CellBlocks:
    """The packed samples of a cell: the blocks `h` (`head`), `a` (`numbers`) and `t` (`texts`, empty if it shows none).

    `rows`, `flags`, `answers`: by prediction; an answer is a hash, to compare it. `charts`: those of its samples.
    """

    rows: array[int]
    flags: array[int]
    answers: array[int]
    head: bytes
    numbers: bytes
    texts: bytes
    charts: dict[str, Any]


def pack_cell(
    starts: Sequence[Messages],
    predictions: Sequence[Prediction],
    scenario: ScenarioBlocks,
    flips: Sequence[Flip],
    earlier: Earlier | None = None,
) -> CellBlocks:
    """Pack the samples of a cell, and add its rows and pieces to the scenario.

    `starts`: the common start of its prompts, by turn. `earlier`: the run with the old answers of the flips.
    """
    kind, texts = scenario.task.kind, scenario.texts
    prompts = CellPrompts(starts if texts else (), predictions if texts else (), scenario.pieces)
    rows = scenario.add(predictions, map(prompts.beginning, predictions))
    scores = charts.scores(predictions)
    limit = _MAX_ANSWER if scenario.shows_answers else 0
    old = {row: flip.old for flip in flips if (row := scenario.row(key_of(flip))) is not None}
    left_out = 0 if texts else LEFT_OUT
    column = aligned(
        rows, [_text_row(prediction, prompts) for prediction in predictions] if texts else [None] * len(rows)
    )
    entries = {"rows": column} if texts else {}
    head = _head(prompts)
    if earlier is not None:
        before = CellPrompts(earlier.starts, earlier.predictions.values(), scenario.pieces)
        head["old"] = _head(before) | {"run": earlier.run}
        for flip in flips:
            row = scenario.row(key_of(flip))
            if row is not None and column[row] is not None:
                column[row]["old"] = _text_row(earlier.predictions[key_of(flip)], before)
    return CellBlocks(
        rows=array("L", rows),
        flags=array("H", (flag | left_out for flag in flags_of(kind, predictions, flips))),
        answers=array("q", (hash(_comparable(prediction, kind)) for prediction in predictions)),
        head=packed_json(head),
        numbers=packed_json(_numbers(rows, predictions, scores, old, limit)),
        texts=packed_json(entries) if texts else b"",
        charts={"points": charts.points(kind, predictions), "distributions": charts.distributions(scores)},
    )


def aligned(rows: Sequence[int], values: Iterable[Any]) -> list[Any]:
    """Return values in the places of their rows; None in the other places."""
    column: list[Any] = [None] * (max(rows, default=-1) + 1)
    for row, value in zip(rows, values, strict=True):
        column[row] = value
    return column


def _comparable(prediction: Prediction, kind: TaskKind) -> object:
    """An answer, equal to others that mean the same: 3 and 3.0 are one number."""
    answer = prediction.answer
    if kind.form == "numbers" and answer is not None and prediction.loss is not None:
        return float(answer)
    return answer


def _head(prompts: CellPrompts) -> dict[str, Any]:
    starts = [[(message.role, message.content) for message in start] for start in prompts.starts]
    return {"start": starts, "end": prompts.ends}


def _numbers(
    rows: Sequence[int], predictions: Sequence[Prediction], scores: _Scores, old: Mapping[int, str | None], limit: int
) -> dict[str, Any]:
    """The block `a`: `old` answers by row; `limit`: the characters of an answer, 0 to show none."""
    table: dict[str, int] = {}

    def number(answer: str | None) -> int | None:
        return None if answer is None else numbered(table, shortened(answer, limit) if limit else "")

    answers = aligned(rows, [number(prediction.answer) for prediction in predictions])
    flipped = {str(row): number(answer) for row, answer in old.items()}
    tops = [rounded(top_probability(prediction), _PROBABILITY_DIGITS) for prediction in predictions]
    return {
        "table": list(table),
        "answers": answers,
        "old": flipped,
        "top": aligned(rows, tops) if any(top is not None for top in tops) else None,
        "scores": {
            name: aligned(rows, [rounded(score, _SCORE_DIGITS) for score in column]) for name, column in scores.items()
        },
    }


def _text_row(prediction: Prediction, prompts: CellPrompts) -> dict[str, Any]:
    """An entry of the block `t`."""
    probabilities = prediction.probabilities or {}
    optional = {
        "reply": None if prediction.raw[-1:] == (prediction.reply,) else prediction.reply,
        "probabilities": {label: rounded(share, _PROBABILITY_DIGITS) for label, share in probabilities.items()} or None,
        "likelihoods": _likelihoods(prediction.likelihoods) or None,
        "unconditional": _likelihoods(prediction.unconditional) or None,
        "order": prediction.order or None,
        "units": None if prediction.units == (prediction.sample_id,) else prediction.units or None,
        "findings": list(_findings(prediction)) or None,
    }
    return {
        "replies": prediction.raw,
        "prompts": prompts.entries(prediction),
        "finish": prediction.finish,
        "failure": prediction.failure,
        "parsed": prediction.parsed,
        **{name: value for name, value in optional.items() if value is not None},
    }


def _findings(prediction: Prediction) -> Iterator[dict[str, Any]]:
    """What a judge wrote and decided about the reply, and the programs that ran, with what happened."""
    for role in (JUDGE, SANDBOX):
        for turn in prediction.transcripts.get(role, Transcript()).turns:
            yield {"role": role, "metric": turn.metric, "text": turn.response.text, **_details(role, turn)}


def _details(role: str, turn: Turn) -> dict[str, Any]:
    """The probabilities of the allowed verdicts, or the text of a program."""
    if turn.continuations:
        return {"verdicts": list(zip(turn.continuations, shares(turn.response.logprobs), strict=False))}
    return {"program": turn.prompt[-1].content} if role == SANDBOX and turn.prompt else {}


def shares(logprobs: Sequence[float]) -> list[float | None]:
    """Return the probabilities of answers among each other."""
    weights = [math.exp(logprob - max(logprobs)) for logprob in logprobs if max(logprobs) > -math.inf]
    return [rounded(weight / sum(weights), _PROBABILITY_DIGITS) for weight in weights]


def _likelihoods(likelihoods: Iterable[Likelihood]) -> list[tuple[float | None, int]]:
    return [(rounded(likelihood.total, _PROBABILITY_DIGITS), likelihood.tokens) for likelihood in likelihoods]
