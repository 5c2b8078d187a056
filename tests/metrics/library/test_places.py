"""Lists and grids, place by place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import SettingsError
from tests.metrics.library.replies import score

CELLS = st.lists(st.sampled_from("01LVS"), min_size=1, max_size=9)


@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [
        ("[3, 1, 2]", "[3, 1, 2]", 1),
        ("[3, 2, 1]", "[3, 1, 2]", 1 / 3),
        ("[3, 1]", "[3, 1, 2]", 0),  # another length
        ("['a', 'b']", '["a", "c"]', 0.5),
        ("```json\n[3, 1, 2]\n```", "[3, 1, 2]", 1),
        ("3, 1, 2", "[3, 1, 2]", 0),
        ("{}", "[3]", 0),
        ("", "[3]", 0),
        ("[" * 100_000, "[3]", 0),
        ("[]", "[]", 1),
    ],
)
def test_lists_are_equal_at_a_share_of_their_places(text: str, reference: str, value: float) -> None:
    assert score("list.places", text, reference) == pytest.approx(value)


def test_the_best_list_counts_and_a_sample_needs_one() -> None:
    assert score("list.places", "[1, 2]", "[2, 1]", "[1, 3]") == 0.5
    assert score("list.places", "[1, 2]") is None
    with pytest.raises(
        SettingsError, match=r"list\.places: '1, 2' of sample 's1' is no list; expected .*truth\(item\)"
    ):
        score("list.places", "[1, 2]", "1, 2")


@pytest.mark.parametrize(
    ("text", "exact", "cells", "gain"),
    [
        ("0 1 L\n0 0 1", 1, 1, 1),
        ("0 1 L 0 0 1", 1, 1, 1),
        ("0 1 L\n0 1 1", 0, 5 / 6, 0.5),  # one of two masked cells is right
        ("0 V L\n0 V 1", 0, 4 / 6, 0),  # the question again
        ("1 V L\n0 V 1", 0, 3 / 6, -0.5),
        ("0 1 L", 0, 3 / 6, -0.5),  # missing cells are wrong
        ("0 1 L\n0 0 1\n0 0 1", 0, 6 / 9, -0.5),  # and so are surplus ones
        ("", 0, 0, -2),
    ],
)
def test_a_grid_is_compared_cell_by_cell_with_the_reference_and_the_question(
    text: str, exact: int, cells: float, gain: float
) -> None:
    reference, question = "0 1 L\n0 0 1", "0 V L\n0 V 1"
    assert score("grid.exact", text, reference) == exact
    assert score("grid.cells", text, reference) == pytest.approx(cells)
    assert score("grid.gain", text, reference, grid=question) == pytest.approx(gain)
    assert score("grid.gain.clipped", text, reference, grid=question) == pytest.approx(max(gain, 0))


def test_a_question_without_an_unknown_cell_has_a_gain() -> None:
    assert score("grid.gain", "0 1", "0 1", grid="0 1") == 1
    assert score("grid.gain", "1 1", "0 1", grid="0 1") == 0


def test_the_gain_needs_the_grid_of_the_question_and_a_reference() -> None:
    with pytest.raises(SettingsError, match="has nothing as 'grid'; expected the grid of the question"):
        score("grid.gain", "0 1", "0 1")
    assert score("grid.gain.clipped", "0 1", grid="0 1") is None
    assert score("grid.cells", "0 1") is None


@given(found=CELLS, gold=CELLS)
def test_a_grid_is_exact_if_its_share_of_equal_cells_is_one(found: list[str], gold: list[str]) -> None:
    text, reference = " ".join(found), "\n".join(gold)
    assert score("grid.exact", text, reference) == (score("grid.cells", text, reference) == 1)
