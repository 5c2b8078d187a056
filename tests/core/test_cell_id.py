"""Cell ids: read from text, written as text, grouped along an axis."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import CellId
from pytest_puma.core.cell_id import Axis

PLAIN = CellId("triage_jira", "few_shot_3", "qwen2.5-3b")
PERTURBED = CellId("triage_jira", "few_shot_3", "qwen2.5-3b", "typos_5pct")


@pytest.mark.parametrize(
    ("text", "cell_id"),
    [
        ("triage_jira-few_shot_3@qwen2.5-3b", PLAIN),
        ("triage_jira-few_shot_3+typos_5pct@qwen2.5-3b", PERTURBED),
        ("triage-egi@qwen+lora", CellId("triage", "egi", "qwen+lora")),
        ("triage-egi@team@qwen", CellId("triage", "egi", "team@qwen")),
        ("triage-egi+case_upper@a+b@c-d", CellId("triage", "egi", "a+b@c-d", "case_upper")),
        ("triage-egi+@m", CellId("triage", "egi", "m", "")),
        ("triage-egi", CellId("triage", "egi", "")),
        ("triage@m", CellId("triage", "", "m")),
        ("triage+typos_5pct@m", CellId("triage", "", "m", "typos_5pct")),
        ("triage", CellId("triage", "", "")),
        ("@m", CellId("", "", "m")),
        ("", CellId("", "", "")),
    ],
)
def test_an_id_is_read_and_a_missing_part_is_empty(text: str, cell_id: CellId) -> None:
    assert CellId.parse(text) == cell_id


@pytest.mark.parametrize(
    ("cell_id", "text", "shown"),
    [
        (PLAIN, "triage_jira-few_shot_3@qwen2.5-3b", "few_shot_3"),
        (PERTURBED, "triage_jira-few_shot_3+typos_5pct@qwen2.5-3b", "few_shot_3+typos_5pct"),
        (CellId("triage", "egi", "a+b@c"), "triage-egi@a+b@c", "egi"),
    ],
)
def test_an_id_is_written_with_all_its_parts(cell_id: CellId, text: str, shown: str) -> None:
    assert str(cell_id) == text
    assert cell_id.shown == shown


@pytest.mark.parametrize(
    ("axis", "common", "common_name"),
    [
        ("strategy", CellId("triage_jira", "", "m", "typos_5pct"), "triage_jira+typos_5pct@m"),
        ("model", CellId("triage_jira", "few_shot_3", "", "typos_5pct"), "triage_jira-few_shot_3+typos_5pct"),
        ("perturbation", CellId("triage_jira", "few_shot_3", "m"), "triage_jira-few_shot_3@m"),
    ],
)
def test_cells_along_an_axis_have_the_other_names_in_common(axis: Axis, common: CellId, common_name: str) -> None:
    cell_id = CellId("triage_jira", "few_shot_3", "m", "typos_5pct")

    assert cell_id.without(axis) == common
    assert common.common_name == common_name


def test_a_cell_without_perturbation_lacks_nothing_on_that_axis() -> None:
    assert PLAIN.without("perturbation") == PLAIN
    assert PLAIN.without("strategy").without("model").common_name == "triage_jira"


names = st.text(st.characters(exclude_characters="-+@"))
cell_ids = st.builds(CellId, names, names, st.text(), st.none() | names)


@given(cell_ids)
def test_a_written_id_is_read_back(cell_id: CellId) -> None:
    assert CellId.parse(str(cell_id)) == cell_id


@given(cell_ids, st.sampled_from(["strategy", "model", "perturbation"]))
def test_a_removed_axis_stays_removed_and_no_other_name_changes(cell_id: CellId, axis: Axis) -> None:
    common = cell_id.without(axis)
    others = {"scenario", "strategy", "model", "perturbation"} - {axis}

    assert common.without(axis) == common
    assert not getattr(common, axis)
    assert [getattr(common, name) for name in others] == [getattr(cell_id, name) for name in others]


@given(cell_ids.filter(lambda each: each.strategy and each.model))
def test_the_common_name_of_a_whole_cell_is_its_id(cell_id: CellId) -> None:
    assert cell_id.common_name == str(cell_id)
