"""The steps of a trend: a change is marked only if its interval excludes 0."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_puma.core import Direction, Measure
from pytest_puma.runs.rows import MeasureRow, RunRow, steps
from pytest_puma.stats.intervals import difference_interval, wilson

SIGNATURE = {"data": {"sha256": "d"}, "template_sha256": "t", "seed": 1, "generation": {}, "engine": {"cpu": "a"}}


def row(hits: int, n: int = 100, *, better: Direction = "high", **signature: Any) -> MeasureRow:
    low, high = wilson(hits, n) if n else (math.nan, math.nan)
    return MeasureRow(
        run=RunRow(name="r"),
        measure=Measure(metric="m", value=hits / n if n else math.nan, low=low, high=high, n=n, better=better),
        signature=SIGNATURE | signature,
    )


def test_the_first_run_has_no_change() -> None:
    (only,) = steps([row(50)])
    assert math.isnan(only.change)
    assert (only.real, only.verdict, only.changed) == (False, "", ())
    assert list(steps([])) == []


@pytest.mark.parametrize(("better", "verdict"), [("high", "better"), ("low", "worse"), ("neither", "changed")])
def test_a_real_change_is_named_by_the_direction_of_the_metric(better: Direction, verdict: str) -> None:
    old, new = row(50, better=better), row(70, better=better)
    _, up = steps([old, new])
    assert up.change == pytest.approx(0.2)
    assert up.verdict == verdict
    values = ((row.measure.value, row.measure.low, row.measure.high) for row in (new, old))
    assert up.interval == difference_interval(*values)
    _, down = steps([new, old])
    assert down.verdict == {"better": "worse", "worse": "better", "changed": "changed"}[verdict]


def test_a_change_that_may_be_chance_has_no_mark() -> None:
    _, step = steps([row(50), row(57)])
    assert (step.real, step.verdict) == (False, "")
    assert step.interval[0] < 0 < step.interval[1]


def test_what_else_changed_is_named_beside_the_change() -> None:
    _, engine, data = steps([row(50), row(50, engine={"cpu": "b"}), row(50, engine={"cpu": "b"}, data=None)])
    assert (engine.changed, data.changed) == (("the engine",), ("the data",))


def test_without_a_value_there_is_no_change() -> None:
    _, nothing, again = steps([row(50), row(0, 0), row(50)])
    assert all(math.isnan(step.change) and not step.real for step in (nothing, again))
