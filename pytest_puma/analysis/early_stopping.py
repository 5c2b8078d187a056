"""Early stopping: a cell ends at one of a few planned interim looks, if all of its gates are decided there.

Looks are at fixed shares of the samples (`SHARES`), the first at a tenth, never as answers come in. A gate is decided
if its limit is outside an interval that covers the true value at all looks together with a probability of 0.95, so
that frequent looks do not raise the error rate. Source: S. J. Pocock, "Group sequential methods in the
design and analysis of clinical trials", Biometrika 64 (1977), for looks at these shares; as intervals, C. Jennison,
B. W. Turnbull, "Interim analyses: the repeated confidence interval approach", JRSS B 51 (1989).

A gate on the value alone is about the samples of the cell, so its interval is for the value over all of them. Any other
gate is about the population of the samples. `tools/statistics/stopping.py` simulates both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_puma.baseline.entry import Entry
from pytest_puma.core import Change, Gate, Measure, Metric, MetricError, Prediction, Sample, Scenario
from pytest_puma.metrics import ScoredPredictions, pair, score

SHARES = (0.1, 0.15, 0.25, 0.45, 0.85)
#: The level of each interval: those of all looks and of the end are right together in 95 of 100 runs.
LEVEL = 0.9875
#: Minimum number of samples at a look.
MIN_SAMPLES = 20
#: Minimum number of answers that differ from the most frequent value (most errors may be 0) for a look at a mean,
MIN_ERRORS = 20
#: and minimum number of samples of each class for a look at a mean over classes.
MIN_CLASS_SIZE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyStopping:
    """The rule by which a cell with these gates ends before all its samples were asked."""

    scenario: Scenario
    gates: tuple[Gate, ...]
    seed: int
    scores: tuple[Metric, ...] = ()
    baseline: Entry | None = None

    @staticmethod
    def looks(samples: int) -> tuple[int, ...]:
        """Return the numbers of samples after which to look: 23 and 43 of 50."""
        counts = (math.ceil(samples * share) for share in SHARES)
        return tuple(count for count in counts if MIN_SAMPLES <= count < samples)

    def decided(self, predictions: Sequence[Prediction], planned: int, samples: Sequence[Sample] = ()) -> bool:
        """Return True if the predictions for the first samples decide all gates of a cell with `planned` samples.

        `samples` are those of the predictions; only `scores` need them. A metric that raises decides nothing: the
        assessment of the cell reports the error.
        """
        try:
            predictions = score(self.scenario, samples, predictions, self.scores) if self.scores else predictions
        except MetricError:
            return False
        scored = ScoredPredictions(self.scenario, predictions, seed=self.seed, metrics=self.scores)
        left = 1 - len({prediction.sample_id for prediction in predictions}) / planned
        return all(_is_valid(gate.metric, scored) and self._is_decided(gate, scored, left) for gate in self.gates)

    def _is_decided(self, gate: Gate, answers: ScoredPredictions, left: float) -> bool:
        result: Measure | Change | None = None
        if gate.other is None:
            share = left if gate.doubt in {None, "point"} else 1.0
            result = answers.measures(level=LEVEL, left=share, only=(gate.metric,)).get(gate.metric)
        elif gate.other == "baseline" and self.baseline is not None:
            pairs = pair(answers, self.baseline.answers)
            result = pairs.change(gate.metric, quotient=gate.quotient, level=LEVEL) if len(pairs) else None
        # A naive baseline has scores for all samples only.
        return result is not None and not math.isnan(result.low) and gate.decided_by(result.low, result.high)


def _is_valid(metric: str, answers: ScoredPredictions) -> bool:
    """Return True if looks at the metric are valid, and it has enough answers for its interval.

    The first answers are not informative about rare errors and rare classes.
    """
    statistic = answers.statistic(metric)
    basis = None if statistic is None else statistic.interval
    if basis is None or not basis.sequential:
        return False
    if basis.successes is not None:
        return True
    if basis.terms is not None:
        _, times = np.unique(basis.terms, return_counts=True)
        return bool(times.sum() - times.max(initial=0) >= MIN_ERRORS)
    golds = answers.table.gold
    return bool(np.bincount(golds, minlength=len(answers.table.labels)).min() >= MIN_CLASS_SIZE)
