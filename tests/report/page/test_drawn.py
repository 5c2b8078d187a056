"""Scales of drawn intervals, and shades of heat maps."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import TaskInfo
from pytest_puma.report.page.drawings import MARGIN, WIDTH, HeatCell, Scale, draw, heat_map
from tests.factories import change, measure, outcome, unmeasured, verdict

TASK = TaskInfo(type="classification", primary="accuracy", better="high")
finite = st.floats(-1e9, 1e9).filter(lambda number: number == 0 or abs(number) > 1e-9)


@given(st.lists(finite, min_size=1))
def test_every_number_is_between_the_ends_of_its_scale_and_in_order(numbers: list[float]) -> None:
    scale = Scale.over(numbers)
    assert scale.low <= min(numbers) + 1e-6 * scale.step
    assert max(numbers) <= scale.high + 1e-6 * scale.step
    places = [scale.x(number) for number in sorted(numbers)]
    assert places == sorted(places)
    assert all(MARGIN <= place <= WIDTH - MARGIN for place in places)


@given(st.lists(finite, min_size=1))
def test_a_scale_has_few_round_ticks_from_end_to_end(numbers: list[float]) -> None:
    ticks = Scale.over(numbers).ticks
    assert 2 <= len(ticks) <= 7
    assert (ticks[0].x, ticks[-1].x) == (MARGIN, WIDTH - MARGIN)
    assert len({tick.label for tick in ticks}) == len(ticks)


def test_without_a_number_the_scale_is_from_0_to_1() -> None:
    assert [tick.label for tick in Scale.over([math.nan]).labelled][:: len(Scale.over([]).labelled) - 1] == ["0", "1"]


def test_a_value_without_an_interval_is_a_dot_and_no_value_is_nothing() -> None:
    scale = Scale.over([0.0, 1.0])
    bare = draw(scale, measure("ece", 0.5, math.nan, math.nan))
    assert bare is not None
    assert (bare.value, bare.low, bare.high) == (WIDTH / 2, None, None)
    assert draw(scale, unmeasured("ece")) is None
    drawn = draw(Scale.over([-0.4, 0.4]), change(), zero=0.0)
    assert drawn is not None
    assert drawn.zero == WIDTH / 2


def cells(**values: float) -> list[HeatCell]:
    """The cells of two strategies and two models, by `strategy_model`."""
    outcomes = [
        outcome(f"triage-{name[0]}@{name[1]}", measures={"accuracy": measure(value=value, low=value, high=value + 0.1)})
        for name, value in values.items()
    ]
    table = heat_map(TASK, outcomes)
    assert table is not None
    return [cell for _, line in table.lines for cell in line if cell]


def test_shades_go_from_the_lowest_value_to_the_highest_and_the_best_one_is_marked() -> None:
    shown = cells(am=0.1, an=0.55, bm=1.0, bn=math.nan)
    assert [each.shade for each in shown] == [0, 5, 9, None]
    assert [each.best for each in shown] == [False, False, True, False]


def test_differences_within_an_interval_have_little_colour() -> None:
    assert [each.shade for each in cells(am=0.50, an=0.51, bm=0.52, bn=0.50)] == [0, 1, 2, 0]


def test_low_values_can_be_best_and_a_missed_gate_is_marked() -> None:
    missed = verdict("mae <= 1", "FAIL")
    outcomes = [
        outcome(
            f"triage-{name[0]}@{name[1]}", measures={"mae": measure("mae", value)}, verdicts=(missed,) * (value > 2)
        )
        for name, value in (("am", 3.0), ("an", 2.0), ("bm", 4.0))
    ]
    table = heat_map(TaskInfo(type="regression", primary="mae", better="low"), outcomes)
    assert table is not None
    (first, second), (third, none) = (line for _, line in table.lines)
    assert [each and each.best for each in (first, second, third, none)] == [False, True, False, None]
    assert [each and each.missed for each in (first, second, third, none)] == [True, False, True, None]


def test_one_model_or_one_strategy_is_no_heat_map() -> None:
    assert heat_map(TASK, [outcome("triage-a@m"), outcome("triage-b@m")]) is None
    assert heat_map(TASK, [outcome("triage-a@m"), outcome("triage-a@n")]) is None
    assert heat_map(TASK, []) is None
