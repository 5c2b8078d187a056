"""The test behind `no_regression`: whether answers are worse than older ones to the same samples.

Of a classification two pieces of evidence are joined. McNemar's mid-p test counts answers that turned; Student's t-test
holds the rise of the Brier score against a tolerance, after each side's probabilities were given the temperature that
fits them best: a change of the prompt may make all probabilities flatter, and no answer worse. Both are normal scores
with a correlation of about 0.7 (measured on real changed runs, `tools/statistics/power.py`), so that Stouffer's sum of
them has the level of one test. Where the probabilities do not tell how good the answers are, the answers count alone.

Of a regression it is the permutation test of the mean absolute error, joined by Holm with McNemar's test of the parse
failures, where there are any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_puma.core.decline import Decline
from pytest_puma.metrics.paired import FEWEST_GROUPS
from pytest_puma.metrics.questions import per_question, questions_of
from pytest_puma.metrics.statistic import in_blocks
from pytest_puma.metrics.table import Table
from pytest_puma.stats import Resamples, group_sums
from pytest_puma.stats.one_sided import mcnemar_mid_p, mean_above, sign_flips_above, stouffer
from pytest_puma.stats.refit import refit, skill

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values: TypeAlias = NDArray[np.float64]

#: So much may the Brier score rise: rewordings that cost no answer move it by as much.
TOLERANCE = 0.005
#: Of the two normal scores, where answers become worse.
CORRELATION = 0.7
#: The least Brier skill score of a baseline whose probabilities count.
LEAST_SKILL = 0.05
#: The least share of samples that have probabilities on both sides, and of answers that are the most probable label.
_MOST_OF_ALL = 0.95
#: Baselines hold six digits of a probability.
_ROUNDING = 1e-5


def decline(new: Table, old: Table, resamples: Resamples, *, graded: bool) -> Decline:
    """Test two tables of the same samples; `resamples` are those of their rows, `graded`: answers are numbers."""
    answers = ([each.answer for each in table.predictions] for table in (new, old))
    same = next(answers) == next(answers) and np.allclose(new.probabilities, old.probabilities, atol=_ROUNDING)
    return (_of_numbers if graded else _of_labels)(new, old, resamples, same=bool(same))


def _of_labels(new: Table, old: Table, resamples: Resamples, *, same: bool) -> Decline:
    turned = 1.0 * (new.gold != new.answer) - (new.gold != old.answer)
    counted = per_question(turned, questions_of(new.predictions))
    worse, better = int((counted > 0).sum()), int((counted < 0).sum())
    error = _error(turned, resamples)
    tests = _answers_alone(turned, error, resamples)
    (p,), loss = tests.values(), None
    alone = _why_alone(new, old)
    if not alone:
        rise, alone = _rise(new, old)
        if not alone:
            both = new.has_probabilities & old.has_probabilities
            part = resamples.of(np.flatnonzero(both).tolist())
            tests["brier"] = mean_above(rise, TOLERANCE, error=_error(rise, part), n=part.independent)
            p = stouffer(p, tests["brier"], correlation=CORRELATION)
            loss = float(rise.mean())
    return Decline(
        n=len(counted), worse=worse, better=better, p=p, tests=tests, loss=loss, alone=alone, error=error, same=same
    )


def _answers_alone(turned: Values, error: float, resamples: Resamples) -> dict[str, float]:
    """The p-value of the answers by the name of its test: of rows that share units, groups of them change together."""
    exact = mcnemar_mid_p(int((turned > 0).sum()), int((turned < 0).sum()))
    if not resamples.dependent:
        return {"mcnemar_mid_p": exact}
    sums = group_sums(turned, resamples.units)
    if len(sums) >= FEWEST_GROUPS:
        return {"permutation": sign_flips_above(sums, seed=resamples.seed, mid=True)}
    # Chains of shared units leave too few groups to exchange.
    return {"clustered": max(exact, mean_above(turned, 0.0, error=error, n=resamples.independent))}


def _why_alone(new: Table, old: Table) -> str:
    """Why label probabilities cannot be compared, empty where they can."""
    scored = [
        table.has_probabilities & np.array([each.finish == "scored" for each in table.predictions], dtype=np.bool_)
        for table in (new, old)
    ]
    for name, table, known in zip(("this run", "the baseline"), (new, old), scored, strict=True):
        if known.mean() < _MOST_OF_ALL:
            return f"{name} did not score the labels"
        keys = {tuple(sorted(each.probabilities)) for each in table.predictions if each.probabilities}
        if keys != {tuple(sorted(table.labels))}:
            return f"{name} scored other labels"
        likeliest = table.probabilities.argmax(axis=1)
        if (likeliest == table.answer)[known].mean() < _MOST_OF_ALL:
            return f"the answers of {name} are not its most probable labels"
    return ""


def _rise(new: Table, old: Table) -> tuple[Values, str]:
    """What the refitted Brier score of each sample rose by; and why that says nothing, where it does not."""
    both = new.has_probabilities & old.has_probabilities
    gold = new.gold[both]
    now, then = (refit(table.probabilities[both], gold) for table in (new, old))
    found = skill(then.losses, gold)
    alone = ""
    if found < LEAST_SKILL:
        alone = f"the probabilities of the baseline tell next to nothing (Brier skill {found:.2f})"
    elif now.at_edge or then.at_edge:
        alone = "no temperature fits the probabilities"
    return now.losses - then.losses, alone


def _of_numbers(new: Table, old: Table, resamples: Resamples, *, same: bool) -> Decline:
    both = new.read & old.read
    rise = (np.abs(new.answer_value - new.gold_value) - np.abs(old.answer_value - new.gold_value))[both]
    part = resamples.of(np.flatnonzero(both).tolist())
    rise = group_sums(rise, part.units)
    tests = {"permutation": sign_flips_above(rise, seed=resamples.seed)}
    unread, read_again = int((old.read & ~new.read).sum()), int((new.read & ~old.read).sum())
    p = tests["permutation"]
    if unread or read_again:
        tests["parse_failures"] = mcnemar_mid_p(unread, read_again)
        p = min(1.0, 2 * min(tests.values()))
    return Decline(
        n=len({each.sample_id for each in new.predictions}),
        worse=int((rise > 0).sum()) + unread,
        better=int((rise < 0).sum()) + read_again,
        p=p,
        tests=tests,
        error=float(rise.std(ddof=1) * np.sqrt(len(rise)) / both.sum()) if len(rise) > 1 else 0.0,
        graded=True,
        same=same,
    )


def _error(values: Values, resamples: Resamples) -> float:
    """The standard error of the mean: that of independent rows, or its spread over resampled units."""
    if not resamples.dependent:
        return float(values.std(ddof=1)) / float(np.sqrt(len(values))) if len(values) > 1 else 0.0
    means = in_blocks(resamples.weights, lambda weights: weights @ values / weights.sum(axis=1))
    return float(means.std(ddof=1))
