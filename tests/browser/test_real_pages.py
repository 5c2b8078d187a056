from playwright.sync_api import expect

from pytest_puma.report.page.page import as_page
from tests.browser.conftest import Opened
from tests.report.page.scripted import Recorded


def test_each_cell_and_a_sample_of_a_real_page_opens(opened: Opened, real: Recorded) -> None:
    tab = opened(as_page(real.run, real.path))
    for place in range(len(real.run.outcomes)):
        tab.locator("#details select").first.select_option(index=place + 1)
        # With the mouse, Playwright waits for most of a second.
        tab.locator("button.row").first.dispatch_event("click")
        # Scored labels have probabilities in place of a text.
        expect(tab.locator(".reply :is(pre, table)").first).to_be_visible()
    expect(tab.locator("#summary tbody[aria-current]")).to_have_count(1)
