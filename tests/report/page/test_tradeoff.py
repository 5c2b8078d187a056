"""Pictures of trade-offs: places, crosses, the observed front, numbers."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_puma.core import Front, FrontPoint, Outcome, Run, Standing
from pytest_puma.core.weights import Weights
from pytest_puma.report.page.frame import BOTTOM, LEFT, RIGHT, TOP
from pytest_puma.report.page.tradeoff import Picture, pictures
from tests.factories import measure, outcome, run


def cells(scenario: str, values: Sequence[float], better: str = "high") -> list[Outcome]:
    return [
        outcome(
            f"{scenario}-zero_shot@q{f'+v-{index}' if index else ''}",
            measures={"accuracy": measure(value=value, low=value - 0.05, high=value + 0.05, better=better)},
        )
        for index, value in enumerate(values)
    ]


def weighed(ups: Sequence[float], acrosses: Sequence[float], better: str = "high") -> Run:
    one, two = cells("one", ups), cells("two", acrosses, better)
    standings: list[Standing] = ["on the front", "dominated", "undecided"]
    points = tuple(
        FrontPoint(cell=up.cell, other_cell=across.cell, standing=standings[index % 3])
        for index, (up, across) in enumerate(zip(one, two, strict=True))
    )
    return run(*one, *two, fronts=(Front(metric="accuracy", other_metric="accuracy", points=points),))


def picture(run: Run) -> Picture:
    (found,) = pictures(run)
    return found


def test_places_and_crosses_are_those_of_the_values() -> None:
    drawn = picture(weighed((0.2, 0.4, 0.8), (0.9, 0.5, 0.1)))

    assert [spot.x for spot in drawn.spots] == sorted((spot.x for spot in drawn.spots), reverse=True)
    assert [spot.y for spot in drawn.spots] == sorted((spot.y for spot in drawn.spots), reverse=True), "from the top"
    assert all(spot.across[0] < spot.x < spot.across[1] and spot.up[1] < spot.y < spot.up[0] for spot in drawn.spots)
    assert drawn.up == "accuracy of one-zero_shot (high is better)"
    assert [(spot.number, spot.model, spot.standing) for spot in drawn.spots] == [
        (1, "q", "on the front"),
        (2, "q+v-1", "dominated"),
        (3, "q+v-2", "undecided"),
    ]
    assert drawn.spots[0].value == "0.2 [0.15, 0.25]"


def test_the_line_joins_the_points_that_none_beats() -> None:
    drawn = picture(weighed((0.2, 0.4, 0.8, 0.3), (0.9, 0.5, 0.1, 0.4)))
    low = picture(weighed((0.2, 0.4, 0.8, 0.3), (0.9, 0.5, 0.1, 0.4), "low"))

    assert drawn.path.count("L") == 2, "without the last point"
    assert low.path.count("L") == 0, "the third point is best on both"
    equal = picture(weighed((0.2, 0.2, 0.8), (0.9, 0.5, 0.1)))
    assert equal.path.count("L") == 1, "the second point is as good as the first on one metric alone"


def test_numbers_are_within_the_axes_and_apart_from_each_other() -> None:
    drawn = picture(weighed([0.5, 0.52, 0.9, 0.1, 0.5], [0.5, 0.51, 0.9, 0.1, 0.9]))
    places = [spot.at for spot in drawn.spots if spot.at is not None]

    assert len(places) == 5
    assert all(x >= LEFT and x + 13 <= RIGHT and y - 11 >= TOP and y <= BOTTOM for x, y in places)
    pairs = [(one, other) for one in places for other in places if one < other]
    assert all(abs(one[0] - other[0]) >= 13 or abs(one[1] - other[1]) >= 11 for one, other in pairs)


def test_of_many_points_only_those_of_the_observed_front_are_numbered() -> None:
    rising = [0.05 * index for index in range(12)]
    drawn = picture(weighed(rising, rising))

    assert [spot.number for spot in drawn.spots if spot.at is not None] == [12]


def test_a_picture_needs_the_cells_of_its_points() -> None:
    whole = weighed((0.2, 0.4, 0.8), (0.9, 0.5, 0.1))
    assert not list(pictures(run(*whole.outcomes[1:], fronts=whole.fronts)))


def test_the_size_of_the_weights_has_no_interval() -> None:
    outcomes = cells("one", (0.2, 0.4, 0.8))
    points = tuple(FrontPoint(cell=outcome.cell, other_cell=outcome.cell, standing="undecided") for outcome in outcomes)
    sizes = {
        outcome.name.model: Weights(size=2**20 * (index + 1), bits=8, types={})
        for index, outcome in enumerate(outcomes)
    }
    front = Front(metric="accuracy", other_metric="file size, MB", points=points)
    drawn = picture(run(*outcomes, fronts=(front,), weights=sizes))

    assert drawn.across == "file size, MB (low is better)"
    assert [spot.other_value for spot in drawn.spots] == ["1.00", "2.00", "3.00"]
    assert all(spot.across == (spot.x, spot.x) for spot in drawn.spots)
