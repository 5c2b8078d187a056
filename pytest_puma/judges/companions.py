"""Numbers beside a metric that asks by a rubric, from the same conversation with the judge."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pytest_puma.core import JUDGE, Metric, Prediction, Response, Sample
from pytest_puma.judges.rubric import Rubric


def companions_of(asked: Rubric, name: str) -> tuple[Metric, ...]:
    """Return the companions of the metric `name`: the rate of unreadable verdicts, and of a pair that of its orders."""
    unreadable = Metric(name=f"{name}.unreadable_rate", score=partial(_unreadable, name), better="low")
    if not asked.is_pair:
        return (unreadable,)
    disagreement = Metric(
        name=f"{name}.order_disagreement_rate", score=partial(_disagreement, asked, name), better="low"
    )
    return unreadable, disagreement


def verdicts_of(prediction: Prediction, name: str) -> Sequence[Response]:
    """Return the responses that scored the verdicts of a metric about a prediction."""
    judge = prediction.transcripts.get(JUDGE)
    turns = () if judge is None else judge.turns
    return [turn.response for turn in turns if turn.metric == name and turn.continuations]


def _unreadable(name: str, _: Sample, prediction: Prediction) -> bool | None:
    """Whether the judge was asked and some verdict has no probabilities, as after a prompt beyond its context."""
    verdicts = verdicts_of(prediction, name)
    return any(not response.logprobs for response in verdicts) if verdicts else None


def _disagreement(asked: Rubric, name: str, _: Sample, prediction: Prediction) -> bool | None:
    """Whether the verdict about a pair depends on which reply comes first; None without two readable verdicts."""
    (question,) = asked.questions.values()
    values = [question.scale.value(response.logprobs) for response in verdicts_of(prediction, name)]
    if len(values) != 2 or values[0] is None or values[1] is None:  # noqa: PLR2004 - one for each order
        return None
    return values[0] != 1 - values[1]
