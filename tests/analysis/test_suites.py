"""Gates on the mean over several scenarios of a model."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_puma.analysis.cross_cell import verdicts
from pytest_puma.core import Outcome, Policy
from pytest_puma.gates.grammar import parse_gate
from tests import factories
from tests.factories import measure

SUITE = "mean(accuracy over scenario) >= 0.6"


def member(name: str, value: float, low: float, high: float, *, metric: str = "accuracy", n: int = 50) -> Outcome:
    measures = {metric: measure(metric, value, low, high, n=n)}
    return factories.outcome(name, measures=measures, cross_cell_gates=(parse_gate(SUITE),))


def test_the_mean_over_the_scenarios_of_a_model_is_judged() -> None:
    """Half-widths of 0.15 and 0.2: that of the mean is half of the root of the sum of their squares, 0.125."""
    cells = [member("mmlu-option_scoring_5@m", 0.5, 0.35, 0.65), member("copa-cloze_scoring@m", 0.8, 0.6, 1.0, n=10)]
    (verdict,) = verdicts([*cells, factories.outcome("triage-egi@m")], Policy())
    assert verdict.status == "PASS"
    assert verdict.reason.startswith(
        "@m: mean of 2 scenarios (mmlu 0.5, copa 0.8): accuracy 0.65 [0.525, 0.775] n=60 keeps >= 0.6"
    )
    assert verdict.measure is not None
    assert (verdict.measure.low, verdict.measure.high) == pytest.approx((0.525, 0.775))


def test_strategies_of_a_scenario_are_averaged_first() -> None:
    """Their errors do not cancel out, as they have the same samples."""
    cells = [
        member("mmlu-zero_shot@m", 0.4, 0.3, 0.5),
        member("mmlu-egi@m", 0.6, 0.5, 0.7),
        member("copa-egi@m", 0.8, 0.7, 0.9),
    ]
    (verdict,) = verdicts(cells, Policy())
    assert verdict.measure is not None
    assert verdict.measure.value == pytest.approx(0.65)
    assert verdict.measure.high - verdict.measure.value == pytest.approx(0.1 / np.sqrt(2))


def test_each_model_and_each_perturbation_has_a_mean_of_its_own() -> None:
    names = ("a-egi@m", "b-egi+case_upper@m", "a-egi@other")
    cells = [member(name, 0.5, 0.4, 0.6) for name in names]
    reasons = [verdict.reason.partition(":")[0] for verdict in verdicts(cells, Policy())]
    assert reasons == ["@m", "+case_upper@m", "@other"]


def test_a_mean_needs_the_metric_of_each_scenario() -> None:
    whole = member("mmlu-egi@m", 0.9, 0.8, 1.0)
    (lacking,) = verdicts([whole, member("triage-egi@m", 0.9, 0.8, 1.0, metric="brier")], Policy())
    assert (lacking.status, lacking.fails) == ("NOT RUN", False)
    assert lacking.reason == f"@m: {SUITE} was not judged: triage-egi@m has no accuracy"
    (empty,) = verdicts([whole, member("copa-egi@m", np.nan, np.nan, np.nan, n=0)], Policy())
    assert (empty.status, empty.fails) == ("FAIL", True)
    assert empty.reason == "@m: copa-egi@m: accuracy has nothing to measure (n=0)"
