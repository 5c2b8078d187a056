from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Model, SettingsError
from pytest_puma.gates import parse_gate
from pytest_puma.perturbations import ALL as PERTURBATIONS
from pytest_puma.perturbations import Perturbation
from pytest_puma.planning.marker import read_marker
from pytest_puma.planning.matrix import expand, make_scenario
from pytest_puma.planning.ready import check_same
from pytest_puma.planning.settings import DEFAULT_STRATEGIES, BenchmarkSpec, Registry, RunOptions, Settings
from pytest_puma.scenarios import EstimationTawosScenario, TriageJiraScenario, draw
from pytest_puma.strategies import ALL


def model(name: str) -> Model:
    return Model(name=name, path=Path(f"{name}.gguf"))


def settings(**said: Any) -> Settings:
    return Settings(**{"models": (model("a"), model("b"))} | said)


def request(**said: Any) -> BenchmarkSpec:
    return BenchmarkSpec(**{"scenario": TriageJiraScenario()} | said)


def test_cells_come_model_by_model_so_that_each_is_loaded_once() -> None:
    ids = [cell.id for cell in expand(request(choices=RunOptions(strategies=("egi", "rcoif"))), settings())]
    assert ids == ["triage_jira-egi@a", "triage_jira-rcoif@a", "triage_jira-egi@b", "triage_jira-rcoif@b"]


def test_what_nobody_says_has_a_default() -> None:
    cells = expand(request(), settings())
    assert tuple(cell.strategy for cell in cells[:4]) == DEFAULT_STRATEGIES
    assert {(cell.samples, cell.seed, cell.generation.max_tokens) for cell in cells} == {(50, 42, None)}


@pytest.mark.parametrize(
    ("command", "marker", "ini", "expected"),
    [(1, 2, 3, 1), (None, 2, 3, 2), (None, None, 3, 3), (None, None, None, 50)],
)
def test_the_command_line_wins_then_the_marker_then_the_ini_file(
    command: int | None, marker: int | None, ini: int | None, expected: int
) -> None:
    said = settings(command=RunOptions(samples=command), ini=RunOptions(samples=ini))
    assert {cell.samples for cell in expand(request(choices=RunOptions(samples=marker)), said)} == {expected}


def test_a_seed_or_a_temperature_of_zero_is_said_and_not_missing() -> None:
    said = settings(command=RunOptions(seed=0, temperature=0.0), ini=RunOptions(seed=7, temperature=1.0))
    cell = expand(request(), said)[0]
    assert (cell.seed, cell.generation.temperature) == (0, 0.0)


def test_all_means_the_twelve_and_each_name_counts_once() -> None:
    assert Registry().strategy_names(["zero-shot", "all", "few_shot"]) == (
        "zero_shot",
        *(n for n in ALL if n != "zero_shot"),
    )


def test_perturbed_cells_follow_their_twin() -> None:
    choices = RunOptions(strategies=("egi", "rcoif"), perturb=("typos_5pct", "case_upper"))
    cells = expand(request(choices=choices), settings(models=(model("a"),)))
    assert [(cell.id, cell.perturbation) for cell in cells] == [
        ("triage_jira-egi@a", None),
        ("triage_jira-egi+typos_5pct@a", "typos_5pct"),
        ("triage_jira-egi+case_upper@a", "case_upper"),
        ("triage_jira-rcoif@a", None),
        ("triage_jira-rcoif+typos_5pct@a", "typos_5pct"),
        ("triage_jira-rcoif+case_upper@a", "case_upper"),
    ]
    assert {cell.compared_metrics for cell in cells} == {("f1_macro",)}
    assert expand(request(), settings())[0].compared_metrics == ()


@pytest.mark.parametrize(
    ("command", "marker", "ini", "expected"),
    [
        (("a",), ("b",), ("c",), ["a"]),
        ((), ("b",), ("c",), []),
        (None, ("b",), ("c",), ["b"]),
        (None, (), ("c",), []),
        (None, None, ("c",), ["c"]),
        (None, None, None, []),
    ],
)
def test_none_is_said_and_not_missing(command: Any, marker: Any, ini: Any, expected: list[str]) -> None:
    said = settings(command=RunOptions(perturb=command), ini=RunOptions(perturb=ini), models=(model("a"),))
    cells = expand(request(choices=RunOptions(strategies=("egi",), perturb=marker)), said)
    assert [cell.perturbation for cell in cells] == [None, *expected]


def test_names_of_perturbations_are_canonical_and_count_once() -> None:
    own = Registry(perturbations={"shouted": Perturbation(name="shouted", change=lambda text, _: f"{text}!")})
    said = ["Typos", "none", "typos_5pct", "shouted", "case-lower"]
    assert own.perturbation_names(said) == ("typos_5pct", "shouted", "case_lower")
    assert Registry().perturbation_names(["case_lower", "ALL"]) == (
        "case_lower",
        *(name for name in PERTURBATIONS if name != "case_lower"),
    )


def test_a_marker_takes_a_list_of_perturbations() -> None:
    found = read_marker(["triage_jira"], {"perturb": ["typos", "none"]}, settings())
    assert found.choices.perturb == ("typos_5pct",)
    assert read_marker(["triage_jira"], {"perturb": "typos"}, settings()).choices.perturb == ("typos_5pct",)
    with pytest.raises(SettingsError, match="the marker's perturb is 3; expected a list of texts"):
        read_marker(["triage_jira"], {"perturb": 3}, settings())
    with pytest.raises(SettingsError, match="perturbation 'typo' is unknown; did you mean"):
        read_marker(["triage_jira"], {"perturb": ["typo"]}, settings())


def test_gates_of_a_test_and_of_the_project_go_to_perturbed_cells_by_a_plus_alone() -> None:
    own = ("f1_macro >= 0.5", "*+typos_5pct: f1_macro >= 0.3", "max(f1_macro over strategy) >= 0.6")
    said = settings(models=(model("a"),), gates=(parse_gate("accuracy >= 0.5"), parse_gate("*+*: accuracy >= 0.2")))
    choices = RunOptions(strategies=("egi",), perturb=("typos_5pct", "case_upper"))
    cells = expand(request(choices=choices, gates=tuple(map(parse_gate, own))), said)
    assert [[str(gate) for gate in cell.gates] for cell in cells] == [
        ["f1_macro >= 0.5", "accuracy >= 0.5"],
        ["*+typos_5pct: f1_macro >= 0.3", "*+*: accuracy >= 0.2"],
        ["*+*: accuracy >= 0.2"],
    ]
    assert [[str(gate) for gate in cell.across] for cell in cells] == [[own[2]], [], []]


def test_a_gate_on_perturbed_cells_needs_one_unless_the_command_line_chose_others() -> None:
    gated = request(gates=(parse_gate("*+typos_5pct: f1_macro >= 0.3"),))
    with pytest.raises(SettingsError, match="fits none of its cells"):
        expand(gated, settings())
    assert expand(gated, settings(command=RunOptions(perturb=())))[0].gates == ()


def test_references_are_not_shown_for_perturbed_cells_but_known_to_their_gates() -> None:
    choices = RunOptions(strategies=("egi",), perturb=("typos_5pct",))
    for gate, wanted in (("*+*: accuracy >= 0", False), ("*+*: accuracy >= naive.guess", True)):
        said = settings(models=(model("a"),), gates=(parse_gate(gate),))
        plain, perturbed = expand(request(choices=choices), said)
        assert said.naive_baselines_of(plain) is not None
        assert (said.naive_baselines_of(perturbed) is not None) == wanted


def test_a_general_gate_without_a_scope_goes_to_the_cells_that_have_its_metric() -> None:
    said = settings(gates=(parse_gate("f1_macro >= 0.1"), parse_gate("mae <= 9"), parse_gate("*@b: ece <= 1")))
    triage = expand(request(choices=RunOptions(strategies=("egi",))), said)
    assert [[str(gate) for gate in cell.gates] for cell in triage] == [
        ["f1_macro >= 0.1"],
        ["f1_macro >= 0.1", "*@b: ece <= 1"],
    ]
    points = expand(request(scenario=EstimationTawosScenario(), choices=RunOptions(strategies=("egi",))), said)
    assert [gate.metric for gate in points[0].gates] == ["mae"]


@pytest.mark.parametrize("gate", ["mae <= 3", "triage_jira: mae <= 3"])
def test_a_gate_of_the_request_must_be_a_metric_of_its_scenario(gate: str) -> None:
    with pytest.raises(SettingsError, match=r"triage_jira has no metric 'mae'; .*there are: f1_macro"):
        expand(request(gates=(parse_gate(gate),)), settings())


def test_a_gate_on_the_maximum_calibration_error_is_refused() -> None:
    for own, general in ((("mce <= 0.2",), ()), ((), ("mce <= baseline",))):
        gates, wide = (tuple(map(parse_gate, each)) for each in (own, general))
        with pytest.raises(SettingsError, match=r"mce is the gap of one bin, .*; expected brier, or ece"):
            expand(request(gates=gates), settings(gates=wide))


def test_a_gate_of_the_request_that_fits_none_of_its_cells_is_an_error() -> None:
    gates = (parse_gate("triage_jira-egi: f1_macro >= 0.1"),)
    with pytest.raises(SettingsError, match="fits none of its cells"):
        expand(request(gates=gates, choices=RunOptions(strategies=("rcoif",))), settings())


def test_unless_the_command_line_chose_other_strategies() -> None:
    gates = (parse_gate("triage_jira-egi: f1_macro >= 0.1"),)
    cells = expand(request(gates=gates), settings(command=RunOptions(strategies=("rcoif",))))
    assert [cell.gates for cell in cells] == [(), ()]


def test_a_request_may_pick_models_by_their_ollama_names() -> None:
    said = settings(models=(model("qwen2.5-3b-q8"), model("other")))
    cells = expand(request(models=("qwen2.5:3b",), choices=RunOptions(strategies=("egi",))), said)
    assert [cell.model.name for cell in cells] == ["qwen2.5-3b-q8"]


def test_the_same_id_with_other_settings_is_refused_and_with_the_same_is_not() -> None:
    known: dict[str, Any] = {}
    samples = draw(TriageJiraScenario(), 2, seed=42)
    check_same(expand(request(), settings()), samples, known, test="a")
    check_same(expand(request(), settings()), samples, known, test="b")
    with pytest.raises(SettingsError, match="by a too, with different settings: samples 50 there and 3 here; make"):
        check_same(expand(request(choices=RunOptions(samples=3)), settings()), samples, known, test="b")
    with pytest.raises(SettingsError, match=r"different settings: rows of digest \w{8} there and of digest"):
        check_same(expand(request(), settings()), samples[::-1], known, test="b")


def test_all_samples_are_as_many_as_there_are() -> None:
    (cell, *_) = expand(request(choices=RunOptions(samples="all")), settings())
    assert cell.samples == 200


def test_all_samples_of_a_scenario_that_makes_them_up_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_puma.planning.matrix.TOO_MANY_SAMPLES", 100)
    with pytest.raises(SettingsError, match="samples is 'all', but triage_jira has 100 or more; expected a number"):
        expand(request(choices=RunOptions(samples="all")), settings())


def test_a_scenario_is_named_or_a_class_or_an_instance() -> None:
    scenario = TriageJiraScenario()
    assert make_scenario(scenario, settings()) is scenario
    for said in ("triage_jira", TriageJiraScenario):
        assert isinstance(make_scenario(said, settings()), TriageJiraScenario)
    with pytest.raises(SettingsError, match="expected a name, a Scenario class or an instance"):
        make_scenario(3, settings())


def test_a_marker_takes_a_lone_text_for_a_list_and_metrics_that_exist() -> None:
    said = {"strategies": "zero-shot", "gates": "accuracy > 0", "metrics": ["accuracy", "f1_macro"], "samples": "all"}
    found = read_marker(["triage_jira"], said, settings())
    assert (found.choices.strategies, found.choices.samples) == (("zero_shot",), "all")
    assert (len(found.gates), found.metrics) == (1, ("accuracy", "f1_macro"))
    assert expand(found, settings())[0].metrics == ("accuracy", "f1_macro")
    with pytest.raises(SettingsError, match="metrics: triage_jira has no metric 'f1_makro'; did you mean 'f1_macro'"):
        read_marker(["triage_jira"], {"metrics": "f1_makro"}, settings())


def test_a_scenario_says_what_it_is() -> None:
    class Kindless(TriageJiraScenario):
        task_type = "classificaton"

    class Nameless(TriageJiraScenario):
        name = "a b"

    with pytest.raises(SettingsError, match="task_type is 'classificaton'; did you mean 'classification'"):
        make_scenario(Kindless, settings())
    with pytest.raises(SettingsError, match="Nameless: the scenario's name is 'a b'; expected letters"):
        make_scenario(Nameless, settings())


def test_a_test_that_compares_two_strategies_asks_for_both() -> None:
    gates = (parse_gate("few_shot_3.f1_macro >= zero_shot.f1_macro"),)
    with pytest.raises(SettingsError, match="fits none of its cells"):
        expand(request(gates=gates, choices=RunOptions(strategies=("few_shot_3",))), settings())


def test_without_a_model_there_are_no_cells_but_an_error() -> None:
    with pytest.raises(SettingsError, match="no model is named; expected --puma-model"):
        expand(request(), settings(models=()))
