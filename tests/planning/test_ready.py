from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_puma.core import SettingsError
from pytest_puma.planning.matrix import expand
from pytest_puma.planning.ready import check_same
from pytest_puma.planning.settings import RunOptions
from pytest_puma.scenarios import TriageJiraScenario, draw
from tests.planning.specs import settings, spec


def test_the_same_id_with_other_settings_is_refused_and_with_the_same_is_not() -> None:
    checked: dict[str, Any] = {}
    samples = draw(TriageJiraScenario(), 2, seed=42)
    check_same(expand(spec(), settings()), samples, checked, test="a")
    check_same(expand(spec(), settings()), samples, checked, test="b")
    with pytest.raises(SettingsError, match="by a too, with different settings: samples 50 there and 3 here; make"):
        check_same(expand(spec(options=RunOptions(samples=3)), settings()), samples, checked, test="b")
    with pytest.raises(SettingsError, match=r"different settings: rows of digest \w{8} there and of digest"):
        check_same(expand(spec(), settings()), samples[::-1], checked, test="b")


def test_a_number_in_a_row_differs_from_its_digits_as_a_text() -> None:
    checked: dict[str, Any] = {}
    (sample,) = draw(TriageJiraScenario(), 1, seed=42)
    number, text = ([replace(sample, fields={**sample.fields, "votes": votes})] for votes in (1, "1"))
    check_same(expand(spec(), settings()), number, checked, test="a")
    with pytest.raises(SettingsError, match="rows of digest"):
        check_same(expand(spec(), settings()), text, checked, test="b")
