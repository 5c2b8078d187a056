"""Sequential stopping: a cell ends at one of a few planned looks, when all of its gates are decided there.

Looks are taken when the first tenth of the samples is answered, and so on (`SHARES`), never as answers come in.
A gate is decided when its limit lies outside of an interval that is right at all looks together with a probability of
0.95, so that looking often does not help to see what one wants. Source: S. J. Pocock, "Group sequential methods in the
design and analysis of clinical trials", Biometrika 64 (1977), for looks at these shares; as intervals, C. Jennison,
B. W. Turnbull, "Interim analyses: the repeated confidence interval approach", JRSS B 51 (1989).

A gate that the value alone decides is about the samples of the cell; so the interval is for the value that all of them
will give. Any other gate is about whatever the samples stand for. `tools/statistics/stopping.py` simulates both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_puma.baseline import Entry
from pytest_puma.core import Change, Gate, Measure, Metric, MetricError, Prediction, Sample, Scenario
from pytest_puma.gates import decides
from pytest_puma.metrics import ScoredPredictions, pair, score

SHARES = (0.1, 0.15, 0.25, 0.45, 0.85)
#: Of each interval, so that those of all looks and of the end hold together in 95 of 100 runs.
LEVEL = 0.9875
#: Of fewer answers, intervals say too little.
MIN_SAMPLES = 20
#: A mean is looked at where at least so many answers differ from the commonest value (most errors may be 0),
MIN_ERRORS = 20
#: and a mean over classes where at least so many samples of each were asked.
MIN_CLASS_SIZE = 5


def looks(samples: int) -> tuple[int, ...]:
    """After how many of the samples to look: 23 and 43 of 50."""
    counts = (math.ceil(samples * share) for share in SHARES)
    return tuple(count for count in counts if MIN_SAMPLES <= count < samples)


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyStopping:
    """When a cell with these gates may end before all its samples were asked."""

    scenario: Scenario
    gates: tuple[Gate, ...]
    seed: int
    scores: tuple[Metric, ...] = ()
    baseline: Entry | None = None

    def looks(self, samples: int) -> tuple[int, ...]:
        """The numbers of samples after which to look."""
        return looks(samples)

    def decided(self, predictions: Sequence[Prediction], planned: int, samples: Sequence[Sample] = ()) -> bool:
        """Whether the predictions about the first samples decide all gates of a cell with `planned` samples.

        `samples` are those of the predictions; only `scores` need them. A metric that raises decides nothing: the
        assessment of the cell reports the error.
        """
        try:
            known = score(self.scenario, samples, predictions, self.scores)
        except MetricError:
            return False
        scored = ScoredPredictions(self.scenario, known, seed=self.seed, metrics=self.scores)
        left = 1 - len({prediction.sample_id for prediction in predictions}) / planned
        return all(_steady(gate.metric, scored) and _decided(gate, scored, left, self.baseline) for gate in self.gates)


def _steady(metric: str, answers: ScoredPredictions) -> bool:
    """Whether the metric is one of which looks are valid, and so far rests on enough answers for its interval.

    Of an error that few answers make, and of a class of which few samples were asked, the first answers tell nothing.
    """
    found = answers.statistic(metric)
    if found is None or not found.steady:
        return False
    if found.successes is not None:
        return True
    if found.terms is not None:
        _, times = np.unique(found.terms, return_counts=True)
        return bool(times.sum() - times.max(initial=0) >= MIN_ERRORS)
    golds = answers.table.gold
    return bool(np.bincount(golds, minlength=len(answers.table.labels)).min() >= MIN_CLASS_SIZE)


def _decided(gate: Gate, answers: ScoredPredictions, left: float, baseline: Entry | None) -> bool:
    found: Measure | Change | None = None
    if gate.other is None:
        by_value = gate.doubt in {None, "point"}
        found = answers.measures(level=LEVEL, left=left if by_value else 1.0, only=(gate.metric,)).get(gate.metric)
    elif gate.other == "baseline" and baseline is not None:
        pairs = pair(answers, baseline.answers)
        found = pairs.change(gate.metric, quotient=gate.quotient, level=LEVEL) if len(pairs) else None
    # What a trivial program scores is known of all samples only.
    return found is not None and not math.isnan(found.low) and decides(gate, found.low, found.high)
