"""The cells that a gate's scope takes in."""

from __future__ import annotations

import pytest

from pytest_puma.core import CellId, Gate
from pytest_puma.gates.grammar import applies

CELL = "triage_jira-few_shot_3@qwen2.5-3b"


@pytest.mark.parametrize(
    "scope",
    [
        None,
        "triage_jira",
        "triage_jira-few_shot_3",
        "triage_jira-few-shot-3",
        "triage_jira-few_shot_3@qwen2.5-3b",
        "triage_jira-few-shot-3@qwen2.5-3b",
        "triage_jir?",
        "triage_jira-*",
        "*-few_shot_?@*",
        "*-few-shot-?@*",
        "*-few_shot_3",
        "*@qwen*",
        "*",
    ],
)
def test_a_scope_takes_in_the_cell_it_names(scope: str | None) -> None:
    assert applies(Gate(scope=scope, metric="f1_macro", op=">=", limit=0.5), CellId.parse(CELL))


@pytest.mark.parametrize(
    "scope",
    [
        "triage",
        "triage-*",
        "triage-jira",
        "triage_jira-few_shot",
        "triage_jira-few_shot_5",
        "few_shot_3",
        "qwen2.5-3b",
        "triage_jira-few_shot_3@qwen2.5_3b",
        "triage_jira-few_shot_3@qwen2.5-3",
        "Triage_jira",
        "?",
        "*[3]@*",
        "estimation_tawos*",
    ],
)
def test_a_scope_leaves_out_other_cells(scope: str) -> None:
    assert not applies(Gate(scope=scope, metric="f1_macro", op=">=", limit=0.5), CellId.parse(CELL))


PERTURBED = "triage_jira-few_shot_3+typos_5pct@qwen+a"


@pytest.mark.parametrize(
    "scope",
    [
        "*+*",
        "triage_jira+typos_5pct",
        "triage_jira-few_shot_3+typos_5pct",
        "triage_jira-few-shot-3+typos_*",
        "triage_jira-*+typos_5pct@*",
        "*+?????_5pct@qwen+a",
        PERTURBED,
    ],
)
def test_a_scope_with_a_plus_takes_in_perturbed_cells_alone(scope: str) -> None:
    gate = Gate(scope=scope, metric="f1_macro", op=">=", limit=0.5)

    assert applies(gate, CellId.parse(PERTURBED))
    assert not applies(gate, CellId.parse("triage_jira-few_shot_3@qwen+a"))


@pytest.mark.parametrize(
    "scope", [None, "*", "triage_jira", "*few_shot_3*", "*@*", "*typos*", "*@qwen+a", "*+case_upper"]
)
def test_other_gates_are_not_about_perturbed_cells(scope: str | None) -> None:
    assert not applies(Gate(scope=scope, metric="f1_macro", op=">=", limit=0.5), CellId.parse(PERTURBED))


def test_a_plus_in_the_name_of_a_model_is_no_perturbation() -> None:
    gate = Gate(scope="*@qwen+a", metric="f1_macro", op=">=", limit=0.5)

    assert applies(gate, CellId.parse("triage_jira-few_shot_3@qwen+a"))


def test_brackets_in_a_scope_stand_for_themselves() -> None:
    gate = Gate(scope="*@qwen[v2]", metric="f1_macro", op=">=", limit=0.5)

    assert applies(gate, CellId.parse("triage_jira-egi@qwen[v2]"))
    assert not applies(gate, CellId.parse("triage_jira-egi@qwenv"))
