"""Charts of quality against cost: axes, places, and the cells of which no other is better in both."""

from __future__ import annotations

from pytest_puma.core import Outcome, Speed, Usage
from pytest_puma.core.weights import Weights
from pytest_puma.report.page.cost_charts import CostChart, cost_charts
from tests.factories import measure, outcome, run, unmeasured

MEGABYTE = 2**20


def cell(name: str, value: float, *, seconds: float = 10.0, memory: int = 0, better: str = "high") -> Outcome:
    """A cell with 50 answers, all of them computed."""
    return outcome(
        name,
        measures={"accuracy": measure(value=value, low=value - 0.1, high=value + 0.1, better=better)},
        seconds=seconds,
        peak_memory=memory * MEGABYTE,
        usage=Usage(prompt_tokens=100, decoded_tokens=10),
        speed=Speed(prefill_tokens=100, decode_tokens=10),
    )


def charts(*outcomes: Outcome, **sizes: int) -> list[CostChart]:
    weights = {name: Weights(size=size * MEGABYTE, bits=8, types={}) for name, size in sizes.items()}
    return list(cost_charts(run(*outcomes, weights=weights)))


def test_cells_of_which_no_other_is_better_in_both_are_listed_from_left_to_right() -> None:
    (chart,) = charts(cell("t-a@q", 0.9, seconds=25), cell("t-b@q", 0.5, seconds=5), cell("t-c@q", 0.4, seconds=10))
    assert (chart.up, chart.across) == ("accuracy of t (high is better)", "answers a second (high is better)")
    assert [(dot.cell, dot.value, dot.cost) for dot in chart.front] == [
        ("t-a@q", "0.9 [0.8, 1.00]", "2.00 answers a second"),
        ("t-b@q", "0.5 [0.4, 0.6]", "10.00 answers a second"),
    ]
    assert chart.front[0].x < chart.front[1].x
    assert chart.front[0].y < chart.front[1].y
    assert chart.others.count("M") == 1


def test_memory_and_weights_are_those_of_the_model_and_low_is_better() -> None:
    cells = (cell("t-a@q", 0.9, memory=400), cell("t-b@q", 0.7, memory=300), cell("t-a@r", 0.5, memory=100))
    memory, weights = charts(*cells, q=200, r=50)
    assert memory.across == "MB of memory (low is better)"
    assert weights.across == "MB of weights (low is better)"
    assert [(dot.cell, dot.cost) for dot in memory.front] == [
        ("t-a@r", "100.00 MB of memory"),
        ("t-a@q", "400.00 MB of memory"),
    ]
    assert [(dot.cell, dot.cost) for dot in weights.front] == [
        ("t-a@r", "50.00 MB of weights"),
        ("t-a@q", "200.00 MB of weights"),
    ]


def test_without_different_costs_there_is_no_chart() -> None:
    kept = outcome("t-c@q", measures={"accuracy": measure()}, seconds=1.0)
    unknown = outcome("t-d@q", measures={"accuracy": unmeasured("accuracy")}, seconds=1.0)
    perturbed = cell("t-a+typos_5pct@q", 0.4, seconds=3)
    alike = [cell("t-a@q", 0.9, memory=259), cell("t-b@q", 0.5, seconds=10.9), cell("t-a@q+v-1", 0.5, memory=264)]
    assert charts(*alike, kept, unknown, perturbed) == []
    assert charts() == []


def test_an_error_is_better_low() -> None:
    (chart,) = charts(cell("t-a@q", 0.2, better="low"), cell("t-b@q", 0.5, seconds=20, better="low"))
    assert [dot.cell for dot in chart.front] == ["t-a@q"]
