"""Several judges: one value from the values that they give."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_puma.judges.panel import majority


@pytest.mark.parametrize(
    ("values", "value"),
    [
        ([1.0], 1.0),
        ([1.0, 1.0, 0.0], 1.0),
        ([1.0, 0.0], 0.5),
        ([2.0, 3.0, 5.0, 3.0], 3.0),
        ([2.0, 4.0, 5.0], 11 / 3),
        ([None, 1.0], 1.0),
        ([None, None], None),
        ([(1.0, 0.0), (1.0, 1.0), (0.0, 1.0)], (1.0, 1.0)),
    ],
)
def test_the_most_frequent_value_counts_and_of_several_their_mean(values: list[Any], value: Any) -> None:
    assert majority([{"m": one} for one in values]) == {"m": value}
