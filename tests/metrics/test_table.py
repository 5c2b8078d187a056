from __future__ import annotations

import pytest

from pytest_puma.core import DataError, Scenario
from tests.factories import Estimation, Triage, measured, predictions


@pytest.mark.parametrize(
    ("scenario", "gold", "expected"),
    [
        (Triage("AB"), "a", "triage: sample 's1' has the gold answer 'a'; expected one of A, B"),
        (Estimation(), "five", "estimation: sample 's1' has the gold answer 'five'; expected a finite number"),
        (Estimation(), "nan", "estimation: sample 's1' has the gold answer 'nan'; expected a finite number"),
    ],
)
def test_a_gold_that_nothing_could_equal_is_refused(scenario: Scenario, gold: str, expected: str) -> None:
    good = scenario.valid_labels()[0]

    with pytest.raises(DataError, match=expected):
        measured(scenario, predictions([good, gold], [good, good]))
