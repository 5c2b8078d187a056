import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opened
from tests.browser.invented import report
from tests.browser.shapes import BETTER, DIFFERS, FAILED, OVERFLOW, RIGHT, SURE, WORSE, Shape

RUN = report(Shape(perturbations=("typos_5pct",)))
CELL = "cell=triage-zero_shot%40q"
BITS = {"failed": FAILED, "worse": WORSE, "better": BETTER, "differ": DIFFERS, "overflow": OVERFLOW, "sure": SURE}


@pytest.mark.parametrize("chip", ["wrong", *BITS])
def test_the_count_of_a_chip_is_that_of_the_data_and_of_the_list(opened: Opened, chip: str) -> None:
    flags = RUN.flags[0]
    expected = sum(not flag & RIGHT if chip == "wrong" else bool(flag & BITS[chip]) for flag in flags)
    tab = opened(RUN, CELL)
    tab.locator("summary", has_text="columns:").click()
    tab.get_by_role("button", name="all", exact=True).click()
    button = tab.locator(f'[data-chip="{chip}"]')
    expect(button.locator(".count")).to_have_text(str(expected))
    if expected:
        button.click()
        expect(tab.locator(".amount")).to_have_text(f"{expected} of 200 samples")


def test_the_chip_of_differing_answers_counts_those_of_the_shown_columns(opened: Opened) -> None:
    tab = opened(RUN, CELL)
    tab.locator("summary", has_text="columns:").click()
    tab.get_by_role("button", name="this cell alone").click()
    expect(tab.locator('[data-chip="differ"] .count')).to_have_text("0")


def test_a_number_of_the_confusion_matrix_filters(opened: Opened) -> None:
    tab = opened(RUN, CELL)
    entry = tab.locator("button.entry").nth(1)
    number = (entry.text_content() or "").split()[0]
    entry.click()
    expect(tab.locator(".amount")).to_have_text(f"{number} of 200 samples")


def test_a_search_covers_texts_on_demand(opened: Opened) -> None:
    tab = opened(RUN, CELL)
    tab.locator("#search").fill("eror")
    expect(tab.locator(".amount")).to_have_text("0 of 200 samples")
    tab.get_by_label("in all texts").check()
    expect(tab.locator(".amount")).not_to_have_text("0 of 200 samples")
