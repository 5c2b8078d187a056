"""Agreement of the trials of a question, each of which shows the choices in another order or has another seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import comb

from pytest_puma.core import Metric, Prediction, Sample

_KINDS = frozenset({"choice", "classification"})


def majority_accuracy(_: Sample, trials: Sequence[Prediction]) -> float:
    """Return 1 if more than half of the trials are right, else 0; a parse failure is a wrong trial."""
    return float(2 * sum(trial.answer in trial.golds for trial in trials) > len(trials))


def consistency(_: Sample, trials: Sequence[Prediction]) -> float | None:
    """Return the share of pairs of trials with the same answer; a parse failure equals nothing. None for one trial.

    Source: the observed agreement of a subject in J. Fleiss, "Measuring nominal scale agreement among many raters",
    Psychological Bulletin 76 (1971).
    """
    pairs = comb(len(trials), 2)
    answers = Counter(trial.answer for trial in trials if trial.answer is not None)
    return sum(comb(count, 2) for count in answers.values()) / pairs if pairs else None


METRICS = tuple(
    Metric(name=score.__name__, score=score, per="sample", kinds=_KINDS) for score in (majority_accuracy, consistency)
)
