"""The front of a trade-off: what is said of a point needs the paired tests of both metrics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from pytest_puma.analysis.front import fronts
from pytest_puma.core import Outcome, Usage
from tests.factories import LABELS, Estimation, Triage, computed_outcome, measure, predictions, replicates, revised
from tests.transcripts import replied

RANDOM = np.random.default_rng(7)
GOLDS = RANDOM.choice(list(LABELS), 80).tolist()


def right(count: int) -> list[str | None]:
    """Answers to all samples, of which the first are right."""
    return [*GOLDS[:count], *(None for _ in GOLDS[count:])]


def cell(model: str, scenario: str, answers: Sequence[str | None], strategy: str = "zero_shot") -> Outcome:
    return computed_outcome(f"{scenario}-{strategy}@{model}", Triage(), predictions(GOLDS, answers), metric="accuracy")


def grid(**counts: tuple[int, int]) -> list[Outcome]:
    """The cells of two scenarios: right answers by the name of the variant."""
    models = {name: "q" if name == "plain" else f"q+{name}" for name in counts}
    return [
        with_primary(cell(models[name], scenario, right(count[place])))
        for place, scenario in enumerate(("quality", "cost"))
        for name, count in counts.items()
    ]


def with_primary(outcome: Outcome) -> Outcome:
    return revised(outcome, measures={"accuracy": outcome.measures["accuracy"]})


def standings(outcomes: Sequence[Outcome]) -> dict[str, str]:
    (front,) = fronts(outcomes)
    return {point.cell.rpartition("@")[2]: point.standing for point in front.points}


def test_points_are_on_the_front_dominated_or_undecided() -> None:
    found = standings(grid(plain=(40, 70), loud=(70, 40), low=(20, 20), near=(41, 69)))

    assert found == {"q": "undecided", "q+loud": "on the front", "q+low": "dominated", "q+near": "undecided"}


def test_equal_points_are_undecided() -> None:
    assert set(standings(grid(plain=(50, 50), a=(50, 50), b=(50, 50))).values()) == {"undecided"}


def test_a_point_that_another_one_leads_on_one_metric_alone_is_not_dominated() -> None:
    assert standings(grid(plain=(70, 50), a=(20, 50), b=(20, 50)))["q+a"] == "undecided"


def test_less_may_be_better() -> None:
    numbers = [str(number) for number in RANDOM.integers(1, 9, 80)]
    errors = {"q": 0, "q+a": 1, "q+b": 5}
    off = [
        computed_outcome(
            f"points-zero_shot@{model}",
            Estimation(),
            predictions(numbers, [str(int(number) + error * (1 + row % 2)) for row, number in enumerate(numbers)]),
            metric="mae",
        )
        for model, error in errors.items()
    ]
    off = [revised(outcome, measures={"mae": outcome.measures["mae"]}) for outcome in off]
    quality = [
        with_primary(cell(model, "quality", right(count))) for model, count in zip(errors, (70, 40, 20), strict=True)
    ]

    assert standings([*quality, *off]) == {"q": "on the front", "q+a": "dominated", "q+b": "dominated"}


def test_other_metrics_of_a_cell_are_weighed_too() -> None:
    answers = {model: right(count) for model, count in (("q", 40), ("q+a", 60), ("q+b", 70))}
    cells = [
        revised(
            (outcome := cell(model, "quality", given)),
            measures={name: outcome.measures[name] for name in ("accuracy", "f1_macro")},
            replicates={
                name: replicates(Triage(), predictions(GOLDS, given), name) for name in ("accuracy", "f1_macro")
            },
        )
        for model, given in answers.items()
    ]
    (front,) = fronts(cells)

    assert (front.metric, front.other_metric) == ("accuracy", "f1_macro")
    assert [point.other_cell for point in front.points] == [outcome.cell for outcome in cells]


def test_speed_latency_and_energy_are_weighed_sample_by_sample_where_they_are_shown() -> None:
    for metric in ("latency_mean", "tokens_per_second", "joules_mean"):
        cells = []
        for model, (count, cost) in {"q": (70, 3.0), "q+fast": (60, 1.0), "q+slow": (20, 9.0)}.items():
            given = [
                replied(
                    each, usage=Usage(prompt_tokens=9, decoded_tokens=4, seconds=cost + row % 5), joules=cost + row % 5
                )
                for row, each in enumerate(predictions(GOLDS, right(count)))
            ]
            made = with_primary(cell(model, "quality", right(count)))
            draws = {name: replicates(Triage(), given, name) for name in ("accuracy", metric)}
            value = measure(metric, draws[metric].value, better="high" if metric == "tokens_per_second" else "low")
            cells.append(revised(made, measures={**made.measures, metric: value}, replicates=draws))
        (front,) = fronts(cells)
        assert front.other_metric == metric
        found = {point.cell.rpartition("@")[2]: point.standing for point in front.points}
        assert found == {"q": "on the front", "q+fast": "on the front", "q+slow": "dominated"}


@pytest.mark.parametrize("strategy", ["zero_shot", "egi"])
def test_each_later_scenario_is_weighed_under_the_same_strategy_or_its_first(strategy: str) -> None:
    models = ("q", "q+a", "q+b")
    cells = [
        with_primary(cell(model, *place))
        for place in (
            ("one", right(40), "zero_shot"),
            ("two", right(40), "few_shot_3"),
            ("two", right(40), strategy),
            ("three", right(40), "few_shot_3"),
        )
        for model in models
    ]
    pairs = [(front.points[0].cell, front.points[0].other_cell) for front in fronts(cells)]
    second = "zero_shot" if strategy == "zero_shot" else "few_shot_3"

    assert pairs[:2] == [("one-zero_shot@q", f"two-{second}@q"), ("one-zero_shot@q", "three-few_shot_3@q")]


def test_two_points_cells_of_other_samples_and_plain_models_have_no_front() -> None:
    assert fronts(grid(plain=(40, 40), a=(50, 50))) == ()
    several = [with_primary(cell(model, scenario, right(40))) for scenario in ("a", "b") for model in ("p", "q", "r")]
    assert fronts(several) == ()
    fewer = replicates(Triage(), predictions(GOLDS[:20], right(40)[:20]), "accuracy")
    plain, *others = grid(plain=(70, 70), a=(20, 20), b=(20, 20))
    assert standings([revised(plain, replicates={"accuracy": fewer}), *others])["q+a"] == "undecided"


def test_a_smaller_file_is_better_without_doubt() -> None:
    models = {"q": (70, 200), "q+Q8_0": (70, 100), "q+Q4_0": (20, 50), "q+other": (20, 100)}
    cells = [with_primary(cell(model, "quality", right(count))) for model, (count, _) in models.items()]
    (front,) = fronts(cells, {model: size for model, (_, size) in models.items()})

    assert front.other_metric == "file size, MB"
    found = {point.cell.rpartition("@")[2]: point.standing for point in front.points}
    # The plain model is larger than Q8_0, and as good: nobody knows which of them is better.
    assert found == {"q": "undecided", "q+Q8_0": "on the front", "q+Q4_0": "on the front", "q+other": "dominated"}
    assert fronts(cells, dict.fromkeys(models, 100)) == (), "one size is no trade-off"


def test_cells_without_a_measure_have_no_front() -> None:
    empty = [revised(cell(model, "quality", right(40)), measures={}) for model in ("q", "q+a", "q+b")]
    assert fronts(empty) == ()
