"""Arguments of metrics, read from the context of a sample."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_puma.core import MetricError, Sample, SettingsError
from pytest_puma.metrics import score
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.metrics.library.reading import Count, argument
from tests.factories import Triage, prediction

ASKED: Any = {"metric": "placeholders", "expected": "a whole number from 1"}


def sample(**context: Any) -> Sample:
    return Sample(id="s1", gold="", fields={}, units=(), context=context)


def test_an_argument_is_the_value_in_the_context() -> None:
    assert argument(sample(count=3), "count", Count, **ASKED) == 3
    assert argument(sample(count=3), "count", Count, default=1, **ASKED) == 3


def test_a_default_stands_for_an_absent_argument_only() -> None:
    assert argument(sample(other=3), "count", Count, default=1, **ASKED) == 1
    with pytest.raises(SettingsError, match="has 0 as 'count'"):
        argument(sample(count=0), "count", Count, default=1, **ASKED)


@pytest.mark.parametrize(("context", "shown"), [({}, "nothing"), ({"count": "3"}, "'3'"), ({"count": None}, "None")])
def test_a_missing_or_invalid_argument_is_refused_with_what_to_do(context: dict[str, Any], shown: str) -> None:
    with pytest.raises(SettingsError) as caught:
        argument(sample(**context), "count", Count, **ASKED)
    assert str(caught.value) == (
        f"placeholders: the context of sample 's1' has {shown} as 'count'; expected a whole number from 1; "
        "return it from the scenario's context(item)"
    )


def test_the_error_of_a_metric_says_this_and_no_more() -> None:
    with pytest.raises(MetricError) as caught:
        score(Triage(), [sample()], [prediction("s1", raw=("[1]",))], [LIBRARY["json.schema"]])
    assert str(caught.value) == (
        "json.schema: the context of sample 's1' has nothing as 'json_schema'; expected a JSON schema; "
        "return it from the scenario's context(item)"
    )


@pytest.mark.parametrize(("value", "valid"), [(1, True), (2, True), (0, False), (True, False), (1.0, False)])
def test_a_count_is_a_whole_number_from_one(value: object, valid: bool) -> None:  # noqa: FBT001
    asked = sample(count=value)
    if valid:
        assert argument(asked, "count", Count, **ASKED) == value
    else:
        with pytest.raises(SettingsError, match="expected a whole number from 1"):
            argument(asked, "count", Count, **ASKED)
