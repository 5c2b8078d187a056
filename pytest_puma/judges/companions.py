"""Numbers beside a metric that asks by a rubric, from the same conversation with the judge."""

from __future__ import annotations

from functools import partial
from itertools import combinations, cycle
from statistics import fmean

from pytest_puma.core import JUDGE, Metric, Prediction, Sample
from pytest_puma.judges.rubric import Rubric


def companions_of(asked: Rubric, name: str) -> tuple[Metric, ...]:
    """Return the companions of the metric `name`: rates of verdicts that are unreadable, or that depend on the order.

    With several judges also the share of their pairs that agree.
    """
    unreadable = Metric(name=f"{name}.unreadable_rate", score=partial(_unreadable, asked, name), better="low")
    agreement = Metric(name=f"{name}.judges_agreement", score=partial(_agreement, asked, name))
    disagreement = Metric(
        name=f"{name}.order_disagreement_rate", score=partial(_disagreement, asked, name), better="low"
    )
    return (unreadable, agreement, *([disagreement] if asked.is_pair else []))


def _verdicts(asked: Rubric, name: str, prediction: Prediction) -> list[tuple[float | None, ...]]:
    """The values of the verdicts of a metric about a prediction, a tuple for each judge: in both orders of a pair."""
    judge = prediction.transcripts.get(JUDGE)
    turns = [] if judge is None else [turn for turn in judge.turns if turn.metric == name and turn.continuations]
    orders = 2 if asked.is_pair else 1
    scales = [question.scale for question in asked.questions.values() for _ in range(orders)]
    values = [scale.value(turn.response.logprobs) for scale, turn in zip(cycle(scales), turns, strict=False)]
    return list(zip(*[iter(values)] * len(scales), strict=True))


def _unreadable(asked: Rubric, name: str, _: Sample, prediction: Prediction) -> float | None:
    """The share of judges with a verdict without probabilities, as after a prompt beyond the context."""
    verdicts = _verdicts(asked, name, prediction)
    return fmean(None in values for values in verdicts) if verdicts else None


def _agreement(asked: Rubric, name: str, _: Sample, prediction: Prediction) -> float | None:
    """The share of pairs of judges with the same verdicts; None for one judge."""
    verdicts = [values for values in _verdicts(asked, name, prediction) if None not in values]
    return fmean(first == second for first, second in combinations(verdicts, 2)) if len(verdicts) > 1 else None


def _disagreement(asked: Rubric, name: str, _: Sample, prediction: Prediction) -> float | None:
    """The share of judges whose verdict about a pair depends on which reply comes first."""
    verdicts = [(a, b) for a, b in _verdicts(asked, name, prediction) if a is not None and b is not None]
    return fmean(a != 1 - b for a, b in verdicts) if verdicts else None
