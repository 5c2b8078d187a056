"""Counts of the gates of a run: undecided ones, and the chance of a false alarm."""

from __future__ import annotations

import math
from collections.abc import Iterable

from pytest_puma.core import Run, Tally, Verdict


def tally(run: Run) -> Tally:
    """Count the gates of all cells and of the run."""
    return of_verdicts([*(each for outcome in run.outcomes for each in outcome.verdicts), *run.verdicts])


def of_verdicts(verdicts: Iterable[Verdict]) -> Tally:
    """Count verdicts; those of gates that were not judged do not count."""
    judged = [each for each in verdicts if each.is_judged]
    levels = [each.level for each in judged if each.level is not None]
    return Tally(
        judged=len(judged),
        undecided=sum(each.status == "INCONCLUSIVE" for each in judged),
        on_change=len(levels),
        false_alarm=1 - math.prod(1 - level for level in levels),
        at_most=min(1.0, sum(levels)),
    )
