"""The test of `no_regression`: whether answers are worse than older answers to the same samples.

For a classification it combines two tests. McNemar's mid-p test counts changed answers. Student's t-test compares the
rise of the Brier score with a tolerance, after fitting a temperature to the probabilities of each side: a change of the
prompt may flatten all probabilities and make no answer worse. Both give normal scores with a correlation of about 0.7
(measured on real changed runs, `tools/statistics/power.py`), so that Stouffer's sum of them has the level of one test.
If the probabilities do not show how good the answers are, McNemar's test decides alone.

For a regression it is the permutation test of the mean absolute error, combined by Holm with McNemar's test of the
parse failures, if there are any.

For texts it is the test of their scores: McNemar's mid-p test if the primary metric is 0 or 1, else the permutation
test of its mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pytest_puma.core import Prediction
from pytest_puma.core.change import Decline, Spread
from pytest_puma.metrics.calibration import refit, skill
from pytest_puma.metrics.evidence import MIN_GROUPS, per_question, questions_of, spread_of_losses
from pytest_puma.metrics.statistic import in_blocks
from pytest_puma.metrics.table import PredictionTable
from pytest_puma.stats.arrays import Mask, Values
from pytest_puma.stats.resampling import Resamples, group_sums
from pytest_puma.stats.significance import mcnemar_mid_p, mean_above, sign_flips_above, stouffer

#: Tolerated rise of the Brier score: rewordings that change no answer for the worse raise it by as much.
TOLERANCE = 0.005
#: Correlation of the two normal scores when answers become worse.
CORRELATION = 0.7
#: Minimum Brier skill score of a baseline for its probabilities to count.
MIN_SKILL = 0.05
#: Minimum share of samples with probabilities, and of answers that are the most probable label, on each side.
_MIN_SHARE = 0.95
#: Losses of answers without a score are above this number, all other losses below.
_MAX_LOSS = 1e200
#: Baselines store six digits of a probability.
_ROUNDING = 1e-5


def decline(new: PredictionTable, old: PredictionTable, resamples: Resamples, *, graded: bool) -> Decline:
    """Test two tables of the same samples; `resamples` are those of their rows; `graded`: answers are numbers."""
    answers = ([prediction.answer for prediction in table.predictions] for table in (new, old))
    same = next(answers) == next(answers) and np.allclose(new.probabilities, old.probabilities, atol=_ROUNDING)
    return (_of_numbers if graded else _of_labels)(new, old, resamples, same=bool(same))


def _of_labels(new: PredictionTable, old: PredictionTable, resamples: Resamples, *, same: bool) -> Decline:
    now, then = (np.asarray(~table.right, dtype=np.float64) for table in (new, old))
    answers = decline_of_scores(new.predictions, now, then, resamples, width=1.0)
    both = new.has_probabilities & old.has_probabilities
    alone = _why_alone(new, old)
    rise, alone = (None, alone) if alone else _rise(new, old, both)
    if rise is None:
        return replace(answers, alone=alone, same=same)
    part = resamples.of(np.flatnonzero(both).tolist())
    brier = mean_above(rise, TOLERANCE, error=_error(rise, part), n=part.independent)
    p, tests = stouffer(answers.p, brier, correlation=CORRELATION), {**answers.tests, "brier": brier}
    return replace(answers, p=p, tests=tests, loss=float(rise.mean()), same=same)


def decline_of_scores(
    predictions: Sequence[Prediction], new: Values, old: Values, resamples: Resamples, *, width: float
) -> Decline:
    """Test the losses of two sets of texts about the same samples; `predictions` are those of the new set.

    `width`: the distance between the bounds of their metric, 0 if it has none.
    """
    changes = new - old
    binary = bool(np.isin(np.concatenate([new, old]), (0.0, 1.0)).all())
    error, counted = _error(changes, resamples), per_question(changes, questions_of(predictions))
    if binary:
        tests = _answers_alone(changes, error, resamples)
    else:
        tests = {"permutation": sign_flips_above(group_sums(changes, resamples.units), seed=resamples.seed)}
    return Decline(
        n=len(counted),
        worse=int((counted > 0).sum()),
        better=int((counted < 0).sum()),
        p=next(iter(tests.values())),
        tests=tests,
        spread=_spread(predictions, new, old, resamples, width=width),
        graded=not binary,
        same=not changes.any(),
        several=len(counted) < len(changes),
    )


def _answers_alone(changes: Values, error: float, resamples: Resamples) -> dict[str, float]:
    """Return the p-value of the answers by the name of its test; rows that share units are tested as groups."""
    exact = mcnemar_mid_p(int((changes > 0).sum()), int((changes < 0).sum()))
    if not resamples.dependent:
        return {"mcnemar_mid_p": exact}
    sums = group_sums(changes, resamples.units)
    if len(sums) >= MIN_GROUPS:
        return {"permutation": sign_flips_above(sums, seed=resamples.seed, mid=True)}
    # Chains of shared units leave too few groups for a permutation.
    return {"clustered": max(exact, mean_above(changes, 0.0, error=error, n=resamples.independent))}


def _why_alone(new: PredictionTable, old: PredictionTable) -> str:
    """Return the reason why label probabilities cannot be compared; empty if they can."""
    scored = [
        table.has_probabilities & np.array([p.finish == "scored" for p in table.predictions], dtype=np.bool_)
        for table in (new, old)
    ]
    for name, table, has_scores in zip(("this run", "the baseline"), (new, old), scored, strict=True):
        if has_scores.mean() < _MIN_SHARE:
            return f"{name} did not score the labels"
        keys = {tuple(sorted(p.probabilities)) for p in table.predictions if p.probabilities}
        if keys != {tuple(sorted(table.labels))}:
            return f"{name} scored other labels"
        most_probable = table.probabilities.argmax(axis=1)
        if (most_probable == table.answer)[has_scores].mean() < _MIN_SHARE:
            return f"the answers of {name} are not its most probable labels"
    return ""


def _rise(new: PredictionTable, old: PredictionTable, both: Mask) -> tuple[Values | None, str]:
    """Return the rise of the refitted Brier score of each sample in `both`, or the reason not to use it."""
    gold = new.gold[both]
    now, then = (refit(table.probabilities[both], gold) for table in (new, old))
    old_skill = skill(then.losses, gold)
    if old_skill < MIN_SKILL:
        return None, f"the probabilities of the baseline have almost no skill (Brier skill score {old_skill:.2f})"
    if now.at_edge or then.at_edge:
        return None, "no temperature fits the probabilities"
    return now.losses - then.losses, ""


def _of_numbers(new: PredictionTable, old: PredictionTable, resamples: Resamples, *, same: bool) -> Decline:
    now, then = (np.where(side.parsed, np.abs(side.answer_value - new.gold_value), np.inf) for side in (new, old))
    both = new.parsed & old.parsed
    part = resamples.of(np.flatnonzero(both).tolist())
    rise = group_sums(now[both] - then[both], part.units)
    tests = {"permutation": sign_flips_above(rise, seed=resamples.seed)}
    new_failures, fixed_failures = int((old.parsed & ~new.parsed).sum()), int((new.parsed & ~old.parsed).sum())
    p = tests["permutation"]
    if new_failures or fixed_failures:
        tests["parse_failures"] = mcnemar_mid_p(new_failures, fixed_failures)
        p = min(1.0, 2 * min(tests.values()))
    questions = len({prediction.sample_id for prediction in new.predictions})
    return Decline(
        n=questions,
        worse=int((rise > 0).sum()) + new_failures,
        better=int((rise < 0).sum()) + fixed_failures,
        p=p,
        tests=tests,
        spread=_spread(new.predictions, now, then, resamples, width=0.0),
        graded=True,
        same=same,
        several=questions < len(new.predictions),
    )


def _spread(
    predictions: Sequence[Prediction], new: Values, old: Values, resamples: Resamples, *, width: float
) -> Spread:
    """The spread of the losses of the rows that have one on both sides."""
    rows = np.flatnonzero(np.maximum(np.abs(new), np.abs(old)) < _MAX_LOSS)
    part, now, then = resamples.of(rows.tolist()), new[rows], old[rows]
    return spread_of_losses(
        now,
        then,
        questions=questions_of([predictions[row] for row in rows.tolist()]),
        units=part.units,
        error=_error(now - then, part),
        width=width,
    )


def _error(values: Values, resamples: Resamples) -> float:
    """Return the standard error of the mean of independent rows, or the spread of the mean over resampled units."""
    if not resamples.dependent:
        return float(values.std(ddof=1)) / float(np.sqrt(len(values))) if len(values) > 1 else 0.0
    means = in_blocks(resamples.weights, lambda weights: weights @ values / weights.sum(axis=1))
    return float(means.std(ddof=1))
