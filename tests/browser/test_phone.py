"""The page on a narrow screen, as wide as a phone."""

import pytest
from playwright.sync_api import Page, expect

from pytest_puma.report.page.page import as_page
from tests.browser.conftest import Opened
from tests.browser.invented import report
from tests.browser.shapes import Shape
from tests.report.page.scripted import Recorded

CELL = "cell=triage-zero_shot%2Btypos_5pct%40q"


def overflow(tab: Page) -> int:
    """The pixels by which the page is wider than the screen."""
    tab.set_viewport_size({"width": 390, "height": 800})
    return int(tab.evaluate("document.documentElement.scrollWidth - innerWidth"))


def test_a_cell_of_the_summary_is_a_card_with_its_verdict_beside_its_strategy(opened: Opened, real: Recorded) -> None:
    tab = opened(as_page(real.run, real.path))
    expect(tab.locator(".of-cell").first).to_be_hidden()
    assert overflow(tab) == 0
    # Nothing of the cells is beyond the edge of a box that scrolls.
    assert tab.evaluate("[...document.querySelectorAll('table.cells')].every(each => each.scrollWidth <= innerWidth)")
    card = tab.locator("table.cells tbody").first
    name, verdict = (card.locator(each).bounding_box() for each in ("th a", ".of-cell"))
    assert name is not None
    assert verdict is not None
    assert abs(name["y"] - verdict["y"]) < name["height"]
    assert verdict["x"] + verdict["width"] <= 390
    for metric, gate in zip(card.locator(".metric").all(), card.locator(".gate").all(), strict=True):
        expect(metric).to_be_visible()
        expect(gate).to_be_visible()


@pytest.mark.parametrize("table", ["changes", "labels"])
def test_a_row_of_the_summary_is_a_card_without_an_edge_to_scroll_to(
    opened: Opened, real: Recorded, table: str
) -> None:
    tab = opened(as_page(real.run, real.path))
    assert overflow(tab) == 0
    shown = tab.locator(f"table.{table} tbody td:not(:empty)")
    boxes = [box for each in shown.all() if (box := each.bounding_box()) is not None]
    assert boxes
    assert all(box["x"] + box["width"] <= 390 for box in boxes)


def test_an_opened_sample_is_as_wide_as_the_screen(opened: Opened) -> None:
    tab = opened(report(Shape(perturbations=("typos_5pct",))), f"{CELL}&row=J-104")
    expect(tab.locator(".reply pre").first).to_be_visible()
    assert overflow(tab) == 0
