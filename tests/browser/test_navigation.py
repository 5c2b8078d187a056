from itertools import pairwise

from playwright.sync_api import expect

from pytest_puma.report.page.page import as_page
from tests.browser.conftest import Opened
from tests.browser.invented import report
from tests.browser.shapes import Shape
from tests.report.page.scripted import Recorded
from tests.report.page.swept import sweep, swept

CELL = "cell=triage_jira-zero_shot%40script"


def test_the_bar_stays_in_sight_and_leads_to_a_part_with_its_heading_below(opened: Opened, real: Recorded) -> None:
    tab = opened(as_page(real.run, real.path), CELL)
    for link in ("Comparison", "Samples", "Failed"):
        tab.locator("nav a", has_text=link).click()
        target = tab.locator({"Comparison": "#comparison", "Samples": "#samples", "Failed": "#verdicts"}[link])
        expect(target).to_be_in_viewport()
        bar, below = tab.locator("nav").bounding_box(), target.bounding_box()
        assert bar is not None
        assert below is not None
        assert 0 <= bar["y"] <= below["y"] - bar["height"]
    # The opened cell is still open: the address is the state of the viewer.
    assert tab.url.endswith(f"#{CELL}")


def test_the_bar_leads_to_samples_while_a_cell_is_open(opened: Opened, real: Recorded) -> None:
    tab = opened(as_page(real.run, real.path))
    samples = tab.locator("nav a", has_text="Samples")
    expect(tab.locator("nav a", has_text="Details")).to_have_count(1)
    expect(samples).to_have_count(0)
    tab.locator("#details select").first.select_option(index=1)
    expect(samples).to_have_count(1)
    tab.locator("#details select").first.select_option(index=0)
    expect(samples).to_have_count(0)


def test_tables_of_many_rows_are_laid_out_when_they_come_into_sight_and_a_link_still_leads_to_them(
    opened: Opened,
) -> None:
    many = swept(plain=(20, 30, 30), **{f"loud-{step}": (20 + step % 20, 30 - step % 7, 29) for step in range(1, 25)})
    tab = opened(as_page(many, None))
    skipped = "section => getComputedStyle(section).contentVisibility"
    assert tab.locator("main > section").evaluate_all(f"all => all.map({skipped})").count("auto") == 4
    tab.locator("nav a", has_text="Variants").click()
    bar, heading = tab.locator("nav").bounding_box(), tab.locator("#variants").bounding_box()
    assert bar is not None
    assert heading is not None
    assert 0 <= heading["y"] - bar["height"] <= 40
    assert "auto" not in opened(as_page(sweep(), None)).locator("main > section").evaluate_all(
        f"all => all.map({skipped})"
    )


def test_what_follows_a_table_of_64_variants_is_not_laid_out_with_it(opened: Opened) -> None:
    many = swept(plain=(20,), **{f"loud-{step}": (20 + step % 20,) for step in range(1, 65)})
    watched = """window.laidOut = []; addEventListener("contentvisibilityautostatechange", (event) => {
      if (!event.skipped) laidOut.push(event.target.getAttribute("aria-labelledby"));
    }, true)"""
    tab = opened(as_page(many, None), init=watched)
    tab.set_viewport_size({"width": 1280, "height": 600})
    tab.reload()
    tab.wait_for_function("laidOut.length")
    tab.wait_for_timeout(100)
    assert tab.evaluate("laidOut") == ["scenario-1"]


def test_the_summary_is_drawn_before_the_viewer_starts_but_an_opened_cell_does_not_wait(opened: Opened) -> None:
    watched = """new MutationObserver(() => {
      if (document.querySelector("header > div")) window.started ??= [performance.now(), document.readyState];
    }).observe(document, { childList: true, subtree: true })"""
    tab = opened(report(Shape()), init=watched)
    tab.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
    assert tab.evaluate("started[0] > performance.getEntriesByName('first-contentful-paint')[0].paintTime")
    assert opened(report(Shape()), CELL, init=watched).evaluate("started[1]") == "loading"


def test_a_trend_has_the_commit_and_the_day_of_a_run_and_the_limit_of_its_gate(opened: Opened) -> None:
    chart = opened(report(Shape()), "cell=triage-zero_shot%40q").locator('svg[aria-label^="Trend of"]')
    texts = chart.locator("text").all_text_contents()
    assert ">= 0.45" in texts
    assert any("2026-11-24" in text for text in texts)


def test_the_days_of_a_trend_do_not_overlap_on_a_phone(opened: Opened) -> None:
    tab = opened(report(Shape()), "cell=triage-zero_shot%40q")
    tab.set_viewport_size({"width": 390, "height": 900})
    tab.reload()
    days = tab.locator('svg[aria-label^="Trend of"] text', has_text="2026-11")
    expect(days.last).to_be_visible()
    boxes = [box for day in days.all() if (box := day.bounding_box()) is not None]
    assert len(boxes) > 2
    assert all(one["x"] + one["width"] < other["x"] for one, other in pairwise(boxes))
