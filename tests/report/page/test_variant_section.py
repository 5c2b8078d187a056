"""The section on variants: the effect on each cell where it is sure, and the parts that a run has."""

from __future__ import annotations

from dataclasses import replace

from pytest_puma.core.weights import Weights
from pytest_puma.report.page.page import as_page
from pytest_puma.report.page.variants import variants_of
from tests.factories import revised
from tests.report.page.page import Page
from tests.report.page.swept import sweep, swept

SWEPT = sweep()


def test_a_change_has_a_mark_where_it_is_sure_over_all_cells() -> None:
    (table,) = variants_of(SWEPT).effects

    assert (table.model, table.variants) == ("q", ("loud-1", "loud-2"))
    marks = {line.name: [cell and cell.effect for cell in line.cells] for line in table.lines}
    assert marks == {
        "task_0-zero_shot": ["better", "better"],
        "task_1-zero_shot": ["", "worse"],
        "task_2-zero_shot": ["", ""],
    }


def test_a_single_cell_has_no_table_of_effects() -> None:
    assert variants_of(swept(plain=(20,), **{"loud-1": (30,)})).effects == ()


def test_the_page_shows_the_tables_and_names_the_harm() -> None:
    page = Page(as_page(SWEPT, None))
    assert "q+loud-2: worse than q in 1 of 3 cells (task_1-zero_shot), better in 1" in page.shown
    heads = [table[0] for table in page.tables]
    assert ["cell", "metric", "loud-1", "loud-2"] in heads
    assert ["point", "variant", "up", "across", "standing"] in heads
    assert page.summary.count("<figure") == 3 + 3, "a curve for each scenario, a picture for each pair"


def test_the_cost_of_each_model_is_that_of_the_terminal() -> None:
    weights = {"q": Weights(size=2**28, bits=16, types={"F16": 1}), "q+loud-1": Weights(size=2**27, bits=8.5, types={})}
    heads = ["model", "MB", "bits/weight", "tensors", "read/s", "written/s"]
    page = Page(as_page(replace(SWEPT, weights=weights), None))
    assert heads in [table[0] for table in page.tables], "no memory was measured"
    assert ["q", "256", "16.00", "100% F16", "-", "-"] in [row for table in page.tables for row in table]

    measured = tuple(revised(outcome, peak_memory=2**29) for outcome in SWEPT.outcomes)
    page = Page(as_page(replace(SWEPT, weights=weights, outcomes=measured), None))
    assert [*heads, "peak memory, MB"] in [table[0] for table in page.tables]
    assert ["q", "256", "16.00", "100% F16", "-", "-", "512"] in [row for table in page.tables for row in table]


def test_a_run_of_plain_models_has_no_section() -> None:
    page = Page(as_page(swept(plain=(20, 30)), None))
    assert 'id="variants"' not in page.summary


def test_variants_without_their_plain_model_get_advice() -> None:
    page = Page(as_page(swept(**{"loud-1": (20,), "loud-2": (30,)}), None))
    assert "add 0 to the list, as in steer=polite.gguf:0/4/8" in page.shown
