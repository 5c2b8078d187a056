from pathlib import Path
from typing import Literal, TypeAlias

import pytest
from playwright.sync_api import Browser

from pytest_puma.report.page.page import as_page
from tests.browser.chromium import missing
from tests.browser.invented import report
from tests.browser.page import page
from tests.browser.shapes import Shape
from tests.report.page.scripted import every_kind, recorded

Theme: TypeAlias = Literal["light", "dark"]

AXE = Path(__file__).parents[2] / "tools" / "viewer" / "node_modules" / "axe-core" / "axe.min.js"
RUN = report(Shape(perturbations=("typos_5pct",)), Shape(name="estimation", task="regression"))
CELL = "cell=triage-zero_shot%2Btypos_5pct%40q"
VIEWS = {"summary": "", "cell": CELL, "sample": f"{CELL}&row=J-104", "regression": "cell=estimation-zero_shot%40q"}


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a real run, with the summary of every kind of task."""
    folder = tmp_path_factory.mktemp("real")
    run = recorded(folder, every_kind(folder))
    path = folder / "report.html"
    path.write_text(as_page(run.run, run.path), "utf-8")
    return path


def violations(browser: Browser, path: Path, fragment: str, theme: Theme, width: int) -> list[list[str]]:
    """Rules that a view violates by axe, each with an element."""
    if not AXE.exists():
        missing(f"no {AXE}")
    context = browser.new_context(bypass_csp=True, color_scheme=theme, viewport={"width": width, "height": 900})
    tab = context.new_page()
    tab.goto(f"{path.as_uri()}#{fragment}")
    tab.wait_for_selector("html[data-viewer]")
    if "row=" in fragment:
        tab.wait_for_selector(".reply pre")
    tab.add_script_tag(path=AXE)
    violated: list[list[str]] = tab.evaluate(
        "axe.run().then(result => result.violations.map(each => [each.id, each.nodes[0].html]))"
    )
    context.close()
    return violated


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_no_violation(browser: Browser, tmp_path: Path, view: str, theme: Theme, width: int) -> None:
    path = tmp_path / "report.html"
    path.write_text(page(RUN), "utf-8")
    assert violations(browser, path, VIEWS[view], theme, width) == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_violation_in_the_page_of_a_real_run(
    browser: Browser, real: Path, theme: Theme, width: int
) -> None:
    assert violations(browser, real, "", theme, width) == []
