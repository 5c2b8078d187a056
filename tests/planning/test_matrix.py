"""The cells of a test: scenario x strategy x model, with their perturbations and gates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError, SettingsError
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.planning.matrix import expand, make_scenario
from pytest_puma.planning.settings import RunOptions, Settings
from pytest_puma.runs.recorded_run import RecordedRun
from pytest_puma.scenarios import EstimationTawosScenario, TriageJiraScenario
from pytest_puma.scenarios.benchmarks.knowledge import CommonsenseQa
from pytest_puma.task_types import KINDS
from tests.factories import model
from tests.planning.specs import settings, spec

#: Runs whose strategies are not those of the test.
NARROWED = (
    settings(command=RunOptions(strategies=("rcoif",))),
    settings(rescored=RecordedRun(Path("run", "predictions.jsonl"))),
)
#: The scope of a gate, and the fault of its name.
MISSPELT = {
    "triage_jria-egi": "no scenario is called 'triage_jria'; did you mean 'triage_jira'? there are: ",
    "triage_jira-eggi": "no strategy is called 'eggi'; did you mean 'egi'? there are: ",
    "zero_shot": "no scenario is called 'zero_shot'; for this strategy of any scenario write '*-zero_shot'",
    "*+typo_5pct": "perturbation 'typo_5pct' is unknown; did you mean 'typos_5pct'? there are: ",
}


def test_cells_come_model_by_model_so_that_each_is_loaded_once() -> None:
    ids = [cell.id for cell in expand(spec(options=RunOptions(strategies=("egi", "rcoif"))), settings())]
    assert ids == ["triage_jira-egi@a", "triage_jira-rcoif@a", "triage_jira-egi@b", "triage_jira-rcoif@b"]


def test_what_nobody_sets_has_a_default() -> None:
    cells = expand(spec(), settings())
    assert tuple(cell.strategy.name for cell in cells[:4]) == KINDS["classification"].strategies
    assert {(cell.samples, cell.seed, cell.generation.max_tokens) for cell in cells} == {(50, 42, 16)}


@pytest.mark.parametrize(
    ("command", "marker", "ini", "expected"),
    [(1, 2, 3, 1), (None, 2, 3, 2), (None, None, 3, 3), (None, None, None, 50)],
)
def test_the_command_line_wins_then_the_marker_then_the_ini_file(
    command: int | None, marker: int | None, ini: int | None, expected: int
) -> None:
    chosen = settings(command=RunOptions(samples=command), ini=RunOptions(samples=ini))
    assert {cell.samples for cell in expand(spec(options=RunOptions(samples=marker)), chosen)} == {expected}


def test_a_seed_or_a_temperature_of_zero_counts_as_set() -> None:
    chosen = settings(command=RunOptions(seed=0, temperature=0.0), ini=RunOptions(seed=7, temperature=1.0))
    cell = expand(spec(), chosen)[0]
    assert (cell.seed, cell.generation.temperature) == (0, 0.0)


def test_perturbed_cells_follow_their_twin() -> None:
    options = RunOptions(strategies=("egi", "rcoif"), perturb=("typos_5pct", "case_upper"))
    cells = expand(spec(options=options), settings(models=(model("a"),)))
    assert [(cell.id, cell.name.perturbation) for cell in cells] == [
        ("triage_jira-egi@a", None),
        ("triage_jira-egi+typos_5pct@a", "typos_5pct"),
        ("triage_jira-egi+case_upper@a", "case_upper"),
        ("triage_jira-rcoif@a", None),
        ("triage_jira-rcoif+typos_5pct@a", "typos_5pct"),
        ("triage_jira-rcoif+case_upper@a", "case_upper"),
    ]
    assert {cell.compared_metrics for cell in cells} == {("f1_macro",)}
    assert expand(spec(), settings())[0].compared_metrics == ()


@pytest.mark.parametrize(
    ("command", "marker", "ini", "expected"),
    [
        (("case_upper",), ("case_lower",), ("random_case",), ["case_upper"]),
        ((), ("case_lower",), ("random_case",), []),
        (None, ("case_lower",), ("random_case",), ["case_lower"]),
        (None, (), ("random_case",), []),
        (None, None, ("random_case",), ["random_case"]),
        (None, None, None, []),
    ],
)
def test_an_empty_list_of_perturbations_counts_as_set(command: Any, marker: Any, ini: Any, expected: list[str]) -> None:
    chosen = settings(command=RunOptions(perturb=command), ini=RunOptions(perturb=ini), models=(model("a"),))
    cells = expand(spec(options=RunOptions(strategies=("egi",), perturb=marker)), chosen)
    assert [cell.name.perturbation for cell in cells] == [None, *expected]


def test_gates_of_a_test_and_of_the_project_go_to_perturbed_cells_by_a_plus_alone() -> None:
    own = ("f1_macro >= 0.5", "*+typos_5pct: f1_macro >= 0.3", "max(f1_macro over strategy) >= 0.6")
    chosen = settings(models=(model("a"),), gates=(parse_gate("accuracy >= 0.5"), parse_gate("*+*: accuracy >= 0.2")))
    options = RunOptions(strategies=("egi",), perturb=("typos_5pct", "case_upper"))
    cells = expand(spec(options=options, gates=tuple(map(parse_gate, own))), chosen)
    assert [[str(gate) for gate in cell.gates] for cell in cells] == [
        ["f1_macro >= 0.5", "accuracy >= 0.5"],
        ["*+typos_5pct: f1_macro >= 0.3", "*+*: accuracy >= 0.2"],
        ["*+*: accuracy >= 0.2"],
    ]
    assert [[str(gate) for gate in cell.cross_cell_gates] for cell in cells] == [[own[2]], [], []]


def test_a_gate_on_perturbed_cells_needs_one_unless_the_command_line_chose_others() -> None:
    gated = spec(gates=(parse_gate("*+typos_5pct: f1_macro >= 0.3"),))
    with pytest.raises(SettingsError, match="fits none of its cells"):
        expand(gated, settings())
    assert expand(gated, settings(command=RunOptions(perturb=())))[0].gates == ()


def test_naive_baselines_of_perturbed_cells_are_computed_for_their_gates_alone() -> None:
    options = RunOptions(strategies=("egi",), perturb=("typos_5pct",))
    for gate, wanted in (("*+*: accuracy >= 0", False), ("*+*: accuracy >= naive.guess", True)):
        chosen = settings(models=(model("a"),), gates=(parse_gate(gate),))
        plain, perturbed = expand(spec(options=options), chosen)
        assert chosen.judging.naive_baselines_of(plain) is not None
        assert (chosen.judging.naive_baselines_of(perturbed) is not None) == wanted


def test_a_general_gate_without_a_scope_goes_to_the_cells_that_have_its_metric() -> None:
    chosen = settings(gates=(parse_gate("f1_macro >= 0.1"), parse_gate("mae <= 9"), parse_gate("*@b: ece <= 1")))
    triage = expand(spec(options=RunOptions(strategies=("egi",))), chosen)
    assert [[str(gate) for gate in cell.gates] for cell in triage] == [
        ["f1_macro >= 0.1"],
        ["f1_macro >= 0.1", "*@b: ece <= 1"],
    ]
    points = expand(spec(scenario=EstimationTawosScenario(), options=RunOptions(strategies=("egi",))), chosen)
    assert [gate.metric for gate in points[0].gates] == ["mae"]


@pytest.mark.parametrize("gate", ["mae <= 3", "triage_jira: mae <= 3"])
def test_a_gate_of_a_test_must_be_on_a_metric_of_its_scenario(gate: str) -> None:
    with pytest.raises(SettingsError, match=r"triage_jira has no metric 'mae'; .*there are: f1_macro"):
        expand(spec(gates=(parse_gate(gate),)), settings())


def test_a_gate_on_the_maximum_calibration_error_is_refused() -> None:
    for own, general in ((("mce <= 0.2",), ()), ((), ("mce <= baseline",))):
        gates, wide = (tuple(map(parse_gate, each)) for each in (own, general))
        with pytest.raises(SettingsError, match=r"mce is the gap of one bin, .*; expected brier, or ece"):
            expand(spec(gates=gates), settings(gates=wide))


def test_a_gate_of_a_test_that_fits_none_of_its_cells_is_an_error() -> None:
    gates = (parse_gate("triage_jira-egi: f1_macro >= 0.1"),)
    with pytest.raises(SettingsError, match="fits none of its cells"):
        expand(spec(gates=gates, options=RunOptions(strategies=("rcoif",))), settings())


@pytest.mark.parametrize("narrowed", NARROWED)
def test_such_a_gate_is_fine_where_other_strategies_were_chosen(narrowed: Settings) -> None:
    gates = ("triage_jira-egi: f1_macro >= 0.1", "*+typos_5pct: f1_macro >= 0.1", "egi.accuracy >= zero_shot.accuracy")
    cells = expand(spec(gates=tuple(map(parse_gate, gates)), options=RunOptions(strategies=("rcoif",))), narrowed)
    assert [(cell.gates, cell.cross_cell_gates) for cell in cells] == [((), ())] * 2


@pytest.mark.parametrize("narrowed", [settings(), *NARROWED])
@pytest.mark.parametrize("scope", MISSPELT)
def test_a_misspelt_gate_of_a_test_is_an_error_with_the_right_name(scope: str, narrowed: Settings) -> None:
    gates = (parse_gate(f"{scope}: f1_macro >= 0.1"),)
    with pytest.raises(SettingsError) as raised:
        expand(spec(gates=gates, options=RunOptions(strategies=("rcoif",))), narrowed)
    assert str(raised.value).startswith(f"gate '{scope}: f1_macro >= 0.1': {MISSPELT[scope]}")


def test_a_test_may_pick_models_by_their_ollama_names() -> None:
    chosen = settings(models=(model("qwen2.5-3b-q8"), model("other")))
    cells = expand(spec(models=("qwen2.5:3b",), options=RunOptions(strategies=("egi",))), chosen)
    assert [cell.model.name for cell in cells] == ["qwen2.5-3b-q8"]


def test_all_samples_are_as_many_as_there_are() -> None:
    (cell, *_) = expand(spec(options=RunOptions(samples="all")), settings())
    assert (cell.samples, cell.every) == (200, True)
    (cell, *_) = expand(spec(options=RunOptions(samples=200)), settings())
    assert not cell.every


def test_the_data_of_a_scenario_that_is_left_out_are_not_read() -> None:
    options = RunOptions(samples="all", strategies=("option_scoring",))
    left_out = settings(scenarios=("triage_jira",))
    (cell, *_) = expand(spec(scenario=CommonsenseQa(), options=options), left_out)
    assert not left_out.request.selects(cell)
    with pytest.raises(DataError, match="scenario 'csqa' has no data of its own"):
        expand(spec(scenario=CommonsenseQa(), options=options), settings())


def test_all_samples_of_a_generating_scenario_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_puma.planning.matrix.TOO_MANY_SAMPLES", 100)
    with pytest.raises(SettingsError, match="samples is 'all', but triage_jira has 100 or more; expected a number"):
        expand(spec(options=RunOptions(samples="all")), settings())


def test_a_scenario_is_named_or_a_class_or_an_instance() -> None:
    scenario = TriageJiraScenario()
    assert make_scenario(scenario, settings()) is scenario
    for form in ("triage_jira", TriageJiraScenario):
        assert isinstance(make_scenario(form, settings()), TriageJiraScenario)
    with pytest.raises(SettingsError, match="expected a name, a Scenario class or an instance"):
        make_scenario(3, settings())


def test_a_scenario_needs_a_valid_name_and_task_type() -> None:
    class Kindless(TriageJiraScenario):
        task_type = "classificaton"

    class Nameless(TriageJiraScenario):
        name = "a b"

    with pytest.raises(SettingsError, match="task_type is 'classificaton'; did you mean 'classification'"):
        make_scenario(Kindless, settings())
    with pytest.raises(SettingsError, match="Nameless: the scenario's name is 'a b'; expected letters"):
        make_scenario(Nameless, settings())


def test_a_test_that_compares_two_strategies_runs_both() -> None:
    gates = (parse_gate("few_shot_3.f1_macro >= zero_shot.f1_macro"),)
    with pytest.raises(SettingsError, match="fits none of its cells"):
        expand(spec(gates=gates, options=RunOptions(strategies=("few_shot_3",))), settings())


def test_without_a_model_there_are_no_cells_but_an_error() -> None:
    with pytest.raises(SettingsError, match="no model is named; expected --puma-model"):
        expand(spec(), settings(models=()))
