"""The axis above the drawn intervals of a scenario holds for all rows with its ticks."""

from __future__ import annotations

from pytest_puma.core import Measure, Outcome
from pytest_puma.report.page.drawings import Drawing, Scale
from pytest_puma.report.page.summary import summarize
from tests.factories import measure, outcome, run


def drawn(primary: Measure, other: Measure) -> tuple[Scale, Drawing, Drawing]:
    """The axis, and the drawings of the primary metric and of another one."""
    cell: Outcome = outcome(
        metrics=(primary.metric, other.metric), measures={primary.metric: primary, other.metric: other}
    )
    (table,) = summarize(run(cell), None)["scenarios"]
    first, second = (line.drawing for group in table.groups for line in group)
    assert first is not None
    assert second is not None
    return table.scale, first, second


def test_metrics_between_0_and_1_share_the_axis() -> None:
    axis, first, second = drawn(measure("accuracy", 0.4, 0.3, 0.5), measure("parse_failure_rate", 0.9, 0.8, 0.95))
    assert (axis.low, axis.high) == (0.2, 1.0)
    assert first.value == axis.x(0.4)
    assert second.value == axis.x(0.9)
    assert first.ticks == second.ticks == axis.ticks


def test_a_metric_on_another_scale_has_no_ticks() -> None:
    axis, first, second = drawn(measure("accuracy", 0.4, 0.3, 0.5), measure("tokens_decoded_mean", 40.0, 30.0, 50.0))
    assert first.ticks == axis.ticks
    assert second.ticks == []
    assert second.low is not None
    assert second.low < second.value
