from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from pytest_puma.report.page.page import as_page
from tests.browser.chromium import missing
from tests.browser.invented import report
from tests.browser.page import page
from tests.browser.shapes import Shape
from tests.report.page.scripted import Recorded
from tests.report.page.swept import sweep

AXE = Path(__file__).parents[2] / "tools" / "viewer" / "node_modules" / "axe-core" / "axe.min.js"
RUN = report(Shape(perturbations=("typos_5pct",)), Shape(name="estimation", task="regression"))
_OF_COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
_BACKGROUND = "getComputedStyle(document.documentElement).backgroundColor"
CELL = "cell=triage-zero_shot%2Btypos_5pct%40q"
VIEWS = {"summary": "", "cell": CELL, "sample": f"{CELL}&row=J-104", "regression": "cell=estimation-zero_shot%40q"}


def violations(browser: Browser, path: Path, fragment: str, width: int) -> list[list[str]]:
    """Rules that a view violates by axe in the light or the dark theme, each with an element."""
    if not AXE.exists():
        missing(f"no {AXE}")
    context = browser.new_context(bypass_csp=True, color_scheme="light", viewport={"width": width, "height": 900})
    tab = context.new_page()
    tab.goto(f"{path.as_uri()}#{fragment}")
    tab.wait_for_selector("html[data-viewer]")
    if "row=" in fragment:
        tab.wait_for_selector(".reply pre")
    tab.add_script_tag(path=AXE)
    violated = _violated(tab, {})
    # A theme is a choice of colours in the style sheet: the rules about anything else find the same in both.
    light = tab.evaluate(_BACKGROUND)
    tab.emulate_media(color_scheme="dark")
    assert tab.evaluate(_BACKGROUND) != light
    violated += _violated(tab, {"runOnly": _OF_COLOURS})
    context.close()
    return violated


def _violated(tab: Page, options: dict[str, Any]) -> list[list[str]]:
    rules: list[list[str]] = tab.evaluate(
        "options => axe.run(options).then(result => result.violations.map(each => [each.id, each.nodes[0].html]))",
        options,
    )
    return rules


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_no_violation(browser: Browser, tmp_path: Path, view: str, width: int) -> None:
    path = tmp_path / "report.html"
    path.write_text(page(RUN), "utf-8")
    assert violations(browser, path, VIEWS[view], width) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_no_violation_in_the_page_of_a_real_run(
    browser: Browser, real: Recorded, tmp_path: Path, width: int
) -> None:
    path = tmp_path / "report.html"
    path.write_text(as_page(real.run, real.path), "utf-8")
    assert violations(browser, path, "", width) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_no_violation_in_the_page_of_a_sweep(browser: Browser, tmp_path: Path, width: int) -> None:
    path = tmp_path / "report.html"
    path.write_text(as_page(sweep(), None), "utf-8")
    assert violations(browser, path, "", width) == []
