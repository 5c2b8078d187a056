"""Weights of rows in means over groups."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_puma.metrics.evidence import evenness, row_weights


def test_every_group_weighs_the_same() -> None:
    weights = row_weights([0, 0, 0, 1, -1, 1], np.array([True, True, True, True, True, False]))
    assert weights.tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1, 0, 0])


@pytest.mark.parametrize(
    ("weights", "share"), [([0.3, 0.3, 0.0], 1), ([1 / 3, 1 / 3, 1 / 3, 1], 4 / (4 / 3) / 4), ([], 1)]
)
def test_rows_of_unequal_weight_count_as_fewer(weights: list[float], share: float) -> None:
    assert evenness(np.array(weights)) == pytest.approx(share)
