"""Repeated samples: whether one of K trials is right, and whether all are. `pass_at_10` is a member of a family.

Of n trials of a sample c are right. K of them, drawn at random, include a right one with the probability
1 - C(n - c, K) / C(n, K) (M. Chen et al., "Evaluating large language models trained on code", 2021, arXiv:2107.03374);
all of them are right with the probability C(c, K) / C(n, K) (S. Yao et al., "tau-bench", 2024, arXiv:2406.12045). Both
are free of bias for each sample, and the value is their mean over the samples. A trial is right if the primary metric
has its best value; a parse failure is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, partial
from math import comb

from pytest_puma.core import Metric, Prediction, Sample

_NAME = re.compile(r"pass_(at|all)_([1-9]\d*)")


def pass_at(k: int, _: Sample, trials: Sequence[Prediction]) -> float | None:
    """Return the probability that one of K trials is right; None for fewer than K."""
    wrong, choices = sum(trial.loss != 0 for trial in trials), comb(len(trials), k)
    return (choices - comb(wrong, k)) / choices if choices else None


def pass_all(k: int, _: Sample, trials: Sequence[Prediction]) -> float | None:
    """Return the probability that K trials are all right; None for fewer than K."""
    right, choices = sum(trial.loss == 0 for trial in trials), comb(len(trials), k)
    return comb(right, k) / choices if choices else None


@cache
def of_family(name: str) -> Metric | None:
    """Return the metric of a name such as `pass_at_10` or `pass_all_4`; None for another name."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    score = partial(pass_at if match[1] == "at" else pass_all, int(match[2]))
    kinds = frozenset({"classification", "choice", "completion"})
    return Metric(name=name, score=score, per="sample", kinds=kinds)


def trials_needed(metric: Metric) -> int:
    """Return the number of trials of each sample that a metric needs."""
    match = _NAME.fullmatch(metric.name)
    return 1 if match is None else int(match[2])
