"""`python -m tools.statistics.trials`: coverage of the intervals of columns if questions have several trials.

200 questions with five trials each; scores of one question are correlated (intraclass correlation 0.3 or 0.8). Columns
of each kind that a metric can have: 0 or 1, bounded, unbounded, vectors with a pool, and one score for each question.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import ndtr
from tabulate import tabulate

from pytest_puma.core import Metric, Pool, Prediction
from pytest_puma.metrics import ScoredPredictions
from pytest_puma.scenarios import BUILTIN
from pytest_puma.stats.resampling import Resamples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Scores: TypeAlias = NDArray[np.float64]  # questions x trials

QUESTIONS, TRIALS = 200, 5
CORRELATIONS = (0.3, 0.8)
MEAN = 0.7
METRICS = (
    Metric(name="zero_or_one", score=lambda *_: None),
    Metric(name="bounded", score=lambda *_: None),
    Metric(name="unbounded", score=lambda *_: None, bounds=None),
    Metric(name="pooled", score=lambda *_: None, pool=Pool(2, lambda sums: sums[:, 0] / sums[:, 1])),
    Metric(name="per_question", score=lambda *_: None, per="sample"),
)
_LARGE = 400_000


def main() -> None:
    """Read the command line, simulate, print."""
    parser = argparse.ArgumentParser(prog="python -m tools.statistics.trials", description=__doc__)
    parser.add_argument("--draws", type=int, default=2000, help="of each intraclass correlation (%(default)s)")
    arguments = parser.parse_args()
    rows = [
        [metric.name, *shares]
        for metric, *shares in zip(METRICS, *map(_column(arguments.draws), CORRELATIONS), strict=True)
    ]
    print(tabulate(rows, headers=["column", *map(str, CORRELATIONS)], tablefmt="github", floatfmt=".3f"))


def _column(draws: int) -> Callable[[float], list[float]]:
    return lambda correlation: list(coverage(correlation, draws).values())


def coverage(correlation: float, draws: int) -> dict[str, float]:
    """The share of draws whose interval covers the truth, by column."""
    truths = _truths(correlation)
    resamples = Resamples([(f"q{number}",) for number in range(QUESTIONS) for _ in range(TRIALS)], seed=0)
    hits = dict.fromkeys(truths, 0)
    for number in range(draws):
        scores = _draw(np.random.default_rng([number, int(10 * correlation)]), QUESTIONS, correlation)
        scenario = BUILTIN["triage_jira"]()
        scored = ScoredPredictions(scenario, _predictions(scores), seed=0, metrics=METRICS, resamples=resamples)
        for name, measure in scored.measures(only=tuple(truths)).items():
            hits[name] += measure.low <= truths[name] <= measure.high
    return {name: count / draws for name, count in hits.items()}


def _draw(random: np.random.Generator, questions: int, correlation: float) -> dict[str, Scores]:
    """Scores by column: of normal numbers, and of right answers with a beta-distributed chance for each question."""
    shared, own = random.normal(size=(questions, 1)), random.normal(size=(questions, TRIALS))
    normal = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
    total = 1 / correlation - 1
    chance = random.beta(MEAN * total, (1 - MEAN) * total, size=(questions, 1))
    right = 1.0 * (random.random((questions, TRIALS)) < chance)
    weight = random.integers(1, 4, size=(questions, 1)) * np.ones((1, TRIALS))
    return {"zero_or_one": right, "bounded": ndtr(normal), "unbounded": np.exp(normal), "weight": weight}


def _truths(correlation: float) -> Mapping[str, float]:
    scores = _draw(np.random.default_rng(1), _LARGE, correlation)
    means = {name: float(scores[name].mean()) for name in ("zero_or_one", "bounded", "unbounded")}
    pooled = float((scores["zero_or_one"] * scores["weight"]).sum() / scores["weight"].sum())
    majority = scores["zero_or_one"].mean(axis=1) > 0.5  # noqa: PLR2004 - more than half of an odd number
    return means | {"pooled": pooled, "per_question": float(majority.mean())}


def _predictions(scores: Mapping[str, Scores]) -> list[Prediction]:
    right, weight = scores["zero_or_one"], scores["weight"]
    majority = 1.0 * (right.mean(axis=1) > 0.5)  # noqa: PLR2004 - more than half of an odd number
    return [
        Prediction(
            sample_id=f"q{question}",
            trial=trial,
            gold="Major",
            answer="Major",
            units=(f"q{question}",),
            scores={
                "zero_or_one": float(right[question, trial]),
                "bounded": float(scores["bounded"][question, trial]),
                "unbounded": float(scores["unbounded"][question, trial]),
                "pooled": (float(right[question, trial] * weight[question, trial]), float(weight[question, trial])),
                "per_question": float(majority[question]) if trial == 0 else None,
            },
        )
        for question in range(len(right))
        for trial in range(TRIALS)
    ]


if __name__ == "__main__":
    main()
