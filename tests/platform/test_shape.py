from __future__ import annotations

from typing import Any

import pytest

from pytest_puma.platform.shape import misfit

SHAPE = {
    "ids": [str],
    "seed": int,
    "share": float,
    "on?": bool,
    "data": (None, {"file": str}),
    "scores": {str: [(None, float)]},
    "any": object,
}
FITS = {"ids": ["a"], "seed": 1, "share": 1, "data": None, "scores": {"x": [None, 0.5]}, "any": [{}], "more": 1}


@pytest.mark.parametrize(
    "change", [{}, {"on": True}, {"data": {"file": "f"}}, {"ids": []}, {"scores": {}}, {"share": 1.2e58}]
)
def test_a_value_of_the_shape_has_no_fault(change: dict[str, Any]) -> None:
    assert not misfit(FITS | change, SHAPE)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"ids": "a"}, "ids: expected a list"),
        ({"ids": ["a", 1]}, "ids[1]: expected a text"),
        ({"seed": 1.5}, "seed: expected a whole number"),
        ({"seed": True}, "seed: expected a whole number"),
        ({"seed": 10**400}, "seed: expected a whole number"),
        ({"share": "x"}, "share: expected a number"),
        ({"share": float("nan")}, "share: expected a number"),
        ({"share": float("inf")}, "share: expected a number"),
        ({"share": -(10**400)}, "share: expected a number"),
        ({"on": 1}, "on: expected true or false"),
        ({"on": None}, "on: expected true or false"),
        ({"data": {}}, "data.file: missing"),
        ({"data": 0}, "data: expected an object"),
        ({"scores": {"x": [None, "y"]}}, "scores.'x'[1]: expected a number"),
    ],
)
def test_the_first_part_that_does_not_fit_is_named(change: dict[str, Any], fault: str) -> None:
    assert misfit(FITS | change, SHAPE) == fault


def test_a_missing_key_is_named() -> None:
    assert misfit({}, SHAPE) == "ids: missing"
    assert misfit([], SHAPE) == "expected an object"
