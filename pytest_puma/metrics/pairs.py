"""Two sets of answers to the same trials, compared pair by pair, and tests for their difference."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from operator import is_

import numpy as np

from pytest_puma.baseline.columns import kept
from pytest_puma.core import LEVEL, BootstrapReplicates, Change, Contrast, Decline, Flip, Key, Prediction
from pytest_puma.core.metric_name import MetricName
from pytest_puma.core.prediction import changed
from pytest_puma.metrics.decline import decline, decline_of_scores
from pytest_puma.metrics.evidence import MIN_GROUPS, independent_counts
from pytest_puma.metrics.paired import on_common_rows, paired_change
from pytest_puma.metrics.scored import ScoredPredictions
from pytest_puma.stats.resampling import group_sums
from pytest_puma.stats.significance import change_p, cliffs_delta, mcnemar, rank_biserial, sign_flips, signed_rank

#: Errors of parse failures are above this number, all other errors below.
_MAX_ERROR = 1e200
#: The fields of a prediction that are those of its sample.
_OF_SAMPLE = ("gold", "references", "choices", "units", "fields", "groups")


def pair(new: ScoredPredictions, old: Mapping[Key, Prediction]) -> PairedPredictions:
    """Pair the answers with older ones to the same trials, of those that both have; with the digits of baselines."""
    rows = [row for row, prediction in enumerate(new.predictions) if prediction.key in old]
    now = [kept(new.predictions[row]) for row in rows]
    before = [
        changed(kept(old[prediction.key]), **{field: getattr(prediction, field) for field in _OF_SAMPLE})
        for prediction in now
    ]
    resamples = new.resamples.of(rows)
    scored = partial(ScoredPredictions, new.scenario, seed=resamples.seed, metrics=new.metrics, resamples=resamples)
    unchanged = len(rows) == len(new) and all(map(is_, now, new.predictions))
    return PairedPredictions(new if unchanged else scored(now), scored(before))


class PairedPredictions:
    """Two sets of answers to the same samples; a sample's gold and units are those of the new set."""

    def __init__(self, new: ScoredPredictions, old: ScoredPredictions) -> None:
        self._new, self._old = new, old

    def __len__(self) -> int:
        """The number of samples."""
        return len(self._new)

    def covers(self, metric: str) -> bool:
        """Return whether there are samples that the metric, or the slice of it, is about."""
        part = MetricName.parse(metric).slice
        return any(part is None or part.includes(prediction.groups) for prediction in self._new.predictions)

    def change(self, metric: str, *, quotient: bool = False, level: float = LEVEL) -> Change | None:
        """Return the change of a metric; None if either set of answers does not give it, as without probabilities."""
        replicates = self.replicates(metric)
        return replicates and paired_change(*replicates, quotient=quotient, level=level)

    def replicates(self, metric: str) -> tuple[BootstrapReplicates, BootstrapReplicates] | None:
        """Return the metric of the new and of the old set in every resample.

        None if either does not give it, or if there is no sample.
        """
        if not len(self):
            return None
        new, old = self._new.replicates(metric), self._old.replicates(metric)
        return None if new is None or old is None else (new, old)

    @property
    def decisive_metric(self) -> str:
        """The metric whose change decides whether answers became worse."""
        return self._new.scenario.decisive_metric()

    def decline(self) -> Decline:
        """Return the one-sided test that the new answers are worse."""
        if self._new.scenario.kind.scored:
            return decline_of_scores(
                self._new.predictions, self._new.errors, self._old.errors, self._new.resamples, width=self._width
            )
        return decline(self._new.table, self._old.table, self._new.resamples, graded=self._new.graded)

    @property
    def _width(self) -> float:
        """The distance between the bounds of the primary metric, 0 if it has none."""
        statistic = self._new.statistic(self._new.scenario.primary_metric())
        bounds = None if statistic is None else statistic.bounds
        return 0.0 if bounds is None else bounds[1] - bounds[0]

    def _scores(self, before: Prediction, now: Prediction) -> tuple[float, float] | None:
        """The scores of two texts by the primary metric, if it has more values than right and wrong."""
        scenario = self._new.scenario
        old, new = (prediction.scores.get(scenario.primary_metric()) for prediction in (before, now))
        if not scenario.kind.scored or not self._new.graded:
            return None
        return (old, new) if isinstance(old, float) and isinstance(new, float) else None

    def flips(self) -> tuple[Flip, ...]:
        """Return the trials with worse or better answers, in the order of the new set."""
        differences = (self._new.errors - self._old.errors).tolist()
        several = any(prediction.trial for prediction in self._new.predictions)
        return tuple(
            Flip(
                sample_id=now.sample_id,
                trial=now.trial if several else None,
                gold=now.gold,
                old=before.answer,
                new=now.answer,
                better=difference < 0,
                scores=self._scores(before, now),
            )
            for now, before, difference in zip(self._new.predictions, self._old.predictions, differences, strict=True)
            if difference
        )


def contrast(cell: str, against: str, new: BootstrapReplicates, old: BootstrapReplicates, *, seed: int) -> Contrast:
    """Return the contrast between the answers of two cells; `adjusted` is its p-value as if it were the only one.

    If rows share units, tests use the sums of the differences of each group, as the errors in a group are correlated.
    """
    change = paired_change(new, old, quotient=False)
    new, old = on_common_rows(new, old)
    errors = np.array([new.errors, old.errors])
    parsed = np.flatnonzero((errors < _MAX_ERROR).all(axis=0))
    errors = errors[:, parsed]
    units = [new.units[row] for row in parsed.tolist()] if new.units else []
    differences = group_sums(errors[0] - errors[1], units)
    values, (n, changed) = np.array(new.values) - np.array(old.values), independent_counts(new, old)
    tests = {"bootstrap": change_p(change.value, values, n=n, changed=changed)}
    if change.graded or units:
        tests |= {"permutation": sign_flips(differences, seed=seed), "signed_rank": signed_rank(differences)}
    else:
        # McNemar's test needs independent answers that are right or wrong.
        tests["mcnemar"] = mcnemar(change.worse, change.better)
    test = new.test
    if units and test != "bootstrap":
        test = "permutation" if len(differences) >= MIN_GROUPS else "bootstrap"
    return Contrast(
        cell=cell,
        against=against,
        change=change,
        test=test,
        p=tests[test],
        adjusted=tests[test],
        tests=tests,
        # Old errors minus new ones: above 0 if the cell is better, for any metric.
        rank_biserial=rank_biserial(-differences),
        cliffs_delta=cliffs_delta(errors[1], errors[0]),
    )
