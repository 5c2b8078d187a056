"""Limits that a metric can never reach, as percentages for shares: refused before anything runs."""

from __future__ import annotations

import re

import pytest

from pytest_puma.core import SettingsError
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.planning.matrix import expand
from pytest_puma.planning.settings import RunOptions
from tests.planning.specs import settings, spec

OPTIONS = RunOptions(strategies=("zero_shot", "egi"))
REFUSED = {
    "accuracy >= 50": "accuracy is 0 to 1; did you mean 0.5?",
    "parse_failure_rate <= 5": "parse_failure_rate is 0 to 1; did you mean 0.05?",
    "f1_macro >= -0.1": "f1_macro is 0 to 1; expected a number in this range",
    "kappa_quadratic >= 60": "kappa_quadratic is -1 to 1; expected a number in this range",
    "accuracy >= baseline - 2": "accuracy is 0 to 1, and changes by at most 1; did you mean 0.02?",
    "accuracy > naive.majority + 5 !point": "accuracy is 0 to 1, and changes by at most 1; did you mean 0.05?",
    "max(accuracy over strategy) >= 80": "accuracy is 0 to 1; did you mean 0.8?",
    "zero_shot.accuracy >= egi.accuracy - 3": "accuracy is 0 to 1, and changes by at most 1; did you mean 0.03?",
    "accuracy >= 400": "accuracy is 0 to 1; expected a number in this range",
}
TAKEN = (
    "accuracy >= 1",
    "parse_failure_rate <= 0",
    "kappa_quadratic >= -1",
    "accuracy >= baseline - 1",
    "accuracy >= baseline * 5",
    "tokens_prompt_mean <= 4000",
    "no_regression",
)


def own_gate(text: str) -> None:
    expand(spec(options=OPTIONS, gates=(parse_gate(text),)), settings())


@pytest.mark.parametrize("text", REFUSED)
def test_a_limit_out_of_bounds_is_refused(text: str) -> None:
    fault = f"gate {text!r}: {REFUSED[text]}"
    with pytest.raises(SettingsError, match=re.escape(fault)):
        own_gate(text)
    with pytest.raises(SettingsError, match=re.escape(fault)):
        expand(spec(options=OPTIONS), settings(gates=(parse_gate(text),)))


@pytest.mark.parametrize("text", TAKEN)
def test_any_other_limit_is_taken(text: str) -> None:
    own_gate(text)
