"""How far judges agree with people: the kappa of each rubric, and how often people and the judge gave which verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_puma.core import Outcome
from pytest_puma.report.rows import number


def agreements(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield a sentence for each rubric with labels of people.

    judge.polite.agreement of mail-zero_shot@q: kappa 0.6 [0.2, 0.9] with 20 labels; people-judge: yes-yes 9, yes-no 1
    """
    for outcome in outcomes:
        for name, table in outcome.tables.agreement.items():
            measure = outcome.measures[name]
            counts = ((f"{person}-{judge}", count) for person, row in table.items() for judge, count in row.items())
            listed = ", ".join(f"{pair} {count:g}" for pair, count in counts if count)
            value = f"kappa {number(measure.value)} [{number(measure.low)}, {number(measure.high)}]"
            yield f"{name} of {outcome.cell}: {value} with {measure.n} labels; people-judge: {listed}"
