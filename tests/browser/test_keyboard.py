import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opened
from tests.browser.invented import report
from tests.browser.shapes import BETTER, WORSE, Shape

RUN = report(Shape())
CELL = "cell=triage-zero_shot%40q"


def test_the_first_flip_is_opened_and_read_by_keys_alone(opened: Opened) -> None:
    first = next(row for row, flag in enumerate(RUN.flags[0]) if flag & (WORSE | BETTER))
    tab = opened(RUN, CELL)
    tab.locator(".list").wait_for()
    tab.keyboard.press("n")
    expect(tab.locator("#sample")).to_have_text(f"Sample J-{100 + first}")
    expect(tab.locator("#sample")).to_be_focused()
    expect(tab.locator(".reply pre").nth(1)).to_be_visible()
    tab.keyboard.press("j")
    expect(tab.locator("#sample")).to_have_text(f"Sample J-{101 + first}")
    tab.keyboard.press("Escape")
    expect(tab.locator("#sample")).to_have_count(0)
    expect(tab.locator("button.row:focus")).to_have_count(1)


def test_single_keys_are_off_in_fields_and_on_demand(opened: Opened) -> None:
    tab = opened(RUN, CELL)
    tab.locator(".list").wait_for()
    tab.keyboard.press("/")
    tab.keyboard.type("w")
    expect(tab.locator("#search")).to_have_value("w")
    tab.keyboard.press("Escape")
    tab.keyboard.press("?")
    tab.get_by_label("single keys are on").uncheck()
    tab.keyboard.press("Escape")
    tab.keyboard.press("d")
    expect(tab.locator('[data-chip="differ"]')).to_have_attribute("aria-pressed", "false")
    assert "keys=off" in tab.url


@pytest.mark.parametrize("key", ["j", "n", "f", "d", "/"])
def test_a_key_for_samples_explains_itself_where_no_cell_is_open(opened: Opened, key: str) -> None:
    tab = opened(RUN, CELL)
    tab.locator(".list").wait_for()
    tab.locator("#details select").first.select_option(index=0)
    expect(tab.locator(".list")).to_have_count(0)
    tab.locator("#cell").focus()
    tab.keyboard.press(key)
    expect(tab.locator(".controls [role=status]")).to_contain_text("open a cell first")
    tab.keyboard.press("Escape")
    expect(tab.locator(".controls [role=status]")).to_be_empty()
