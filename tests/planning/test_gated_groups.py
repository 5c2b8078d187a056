"""Gates on groups of the samples: one that no row has is refused before anything runs."""

from __future__ import annotations

import re

import pytest

from pytest_puma.core import SettingsError
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.planning.matrix import expand
from pytest_puma.planning.settings import BenchmarkSpec, RunOptions
from pytest_puma.planning.unmatched import unmatched
from tests.planning.specs import settings
from tests.scenarios.custom import Custom, frame

GATES = (
    "accuracy[subject=laws] >= 0.9",
    "accuracy[subject=laws] >= 0.9 !fail",
    "custom: accuracy[subject=laws] >= baseline",
    "accuracy[subject=laws] > naive.majority",
    "max(accuracy[subject=laws] over strategy) >= 0.9",
    "zero_shot.accuracy[subject=laws] >= egi.accuracy[subject=laws]",
    "accuracy[subject=laws,language=en] >= 0.9",
)
FAULT = "no row of custom has subject=laws; did you mean 'law'? there are: chess, law"
OPTIONS = RunOptions(strategies=("zero_shot", "egi"))


class Unreadable(Custom):
    """Another scenario, whose rows nobody has."""

    name = "unreadable"
    group_columns = ("subject",)

    def __init__(self) -> None:
        super().__init__("no rows")


def exams() -> Custom:
    rows = frame(4, subject=["law", "law", "chess", "law"], language=["en", "de", "en", "en"])
    return Custom(rows, group_columns=("subject", "language"))


@pytest.mark.parametrize("gate", GATES)
def test_a_gate_on_a_group_that_no_row_has_is_refused(gate: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(FAULT)):
        expand(BenchmarkSpec(scenario=exams(), options=OPTIONS, gates=(parse_gate(gate),)), settings())


@pytest.mark.parametrize("gate", GATES)
def test_so_is_one_of_the_whole_run_that_fits_no_scenario(gate: str) -> None:
    general, request = settings(gates=(parse_gate(gate),)), BenchmarkSpec(scenario=exams(), options=OPTIONS)
    if gate.startswith("custom"):
        with pytest.raises(SettingsError, match=re.escape(FAULT)):
            expand(request, general)
        return
    (fault,) = unmatched(expand(request, general), general, ())
    assert fault == f"gate {gate!r}: {FAULT}"


def test_a_gate_of_the_whole_run_leaves_scenarios_without_its_group_alone() -> None:
    general = settings(gates=(parse_gate("accuracy[subject=music] >= 0.9"),))
    others = Custom(frame(2, subject=["music", "law"]), group_columns=("subject",))
    cells = [cell for each in (exams(), others) for cell in expand(BenchmarkSpec(scenario=each), general)]
    assert {cell.scenario is others for cell in cells if cell.gates} == {True}
    assert not unmatched(cells, general, ())


def test_values_that_no_row_has_together_are_refused() -> None:
    gate = parse_gate("accuracy[subject=chess,language=de] >= 0.5")
    fault = "no row of custom has subject=chess and language=de; expected values that a row has together"
    with pytest.raises(SettingsError, match=fault):
        expand(BenchmarkSpec(scenario=exams(), gates=(gate,)), settings())


def test_a_shown_metric_of_a_group_that_no_row_has_is_refused() -> None:
    with pytest.raises(SettingsError, match=re.escape(f"metrics: {FAULT}")):
        expand(BenchmarkSpec(scenario=exams(), metrics=("accuracy", "accuracy[subject=laws]")), settings())


def test_groups_that_there_are_and_folds_are_taken() -> None:
    texts = ("accuracy[subject=law,language=en] >= 0.5", "accuracy[min subject] >= 0.5")
    gates = tuple(map(parse_gate, texts))
    assert expand(BenchmarkSpec(scenario=exams(), gates=gates), settings())[0].gates == gates


def test_a_deselected_scenario_needs_no_rows() -> None:
    chosen = settings(scenarios=("custom",), gates=(parse_gate("accuracy[subject=law] >= 0.5"),))
    gates = (parse_gate("accuracy[subject=laws] >= 0.5"),)
    assert expand(BenchmarkSpec(scenario=Unreadable(), gates=gates), chosen)
