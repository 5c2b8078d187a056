"""The similarity of two percentages, by hand from 2 ** (-10 * |difference|)."""

from __future__ import annotations

import pytest

from pytest_puma.core import SettingsError
from pytest_puma.metrics.library import LIBRARY
from tests.factories import prediction, sample


@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [
        ("60", "60", 1),
        ("About 50 % of them.", "60%", 0.5),  # 10 points: 2 ** -1
        ("90", "60", 0.125),
        ("62.5", "60", 2**-0.25),
        ("1e300", "60", pytest.approx(0)),
        ("Most of them.", "60", 0),  # an error of eval-framework, which then leaves the mean
        ("nan", "60", 0),
    ],
)
def test_the_similarity_of_percentages_halves_with_every_ten_points(text: str, reference: str, value: float) -> None:
    asked = sample("q", references=(reference,))
    assert LIBRARY["percentage_similarity"].score(asked, prediction("q", reply=text)) == value


def test_the_nearest_reference_counts_and_must_be_a_number() -> None:
    similarity = LIBRARY["percentage_similarity"].score
    assert similarity(sample("q", references=("10", "50")), prediction("q", reply="60")) == 0.5
    assert similarity(sample("q"), prediction("q", reply="60")) is None
    with pytest.raises(SettingsError, match="percentage_similarity: 'most' of sample 'q' is no number"):
        similarity(sample("q", references=("most",)), prediction("q", reply="60"))
