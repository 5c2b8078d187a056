from pathlib import Path

from playwright.sync_api import expect

from pytest_puma.report.page.page import as_page
from tests.browser.conftest import Opened
from tests.report.page.scripted import every_kind, recorded


def test_each_cell_and_a_sample_of_a_real_page_opens(opened: Opened, tmp_path: Path) -> None:
    run = recorded(tmp_path, every_kind(tmp_path))
    tab = opened(as_page(run.run, run.path))
    for place in range(len(run.run.outcomes)):
        tab.locator("#details select").first.select_option(index=place + 1)
        tab.locator("button.row").first.click()
        # Scored labels have probabilities in place of a text.
        expect(tab.locator(".reply :is(pre, table)").first).to_be_visible()
    expect(tab.locator("#summary tbody[aria-current]")).to_have_count(1)
