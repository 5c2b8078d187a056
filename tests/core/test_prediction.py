from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_puma.core.prediction import changed
from tests.factories import prediction


def test_a_changed_prediction_is_a_copy_as_replace_makes_it() -> None:
    one = prediction("a", answer=None, raw=("x",), fields={"title": "t"}, order=(1, 0))
    assert changed(one, scores={"loss": 1.0}, trial=2) == replace(one, scores={"loss": 1.0}, trial=2)
    assert changed(one) == one
    assert one.scores == {}


def test_an_unknown_field_is_an_error() -> None:
    with pytest.raises(KeyError, match="colour"):
        changed(prediction(), colour="red")
