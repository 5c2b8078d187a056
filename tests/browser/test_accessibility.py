from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import missing
from tests.browser.invented import Shape, report
from tests.browser.page import page

AXE = Path(__file__).parents[2] / "tools" / "viewer" / "node_modules" / "axe-core" / "axe.min.js"
RUN = report(Shape(perturbations=("typos_5pct",)), Shape(name="estimation", task="regression"))
CELL = "cell=triage-zero_shot%2Btypos_5pct%40q"
VIEWS = {"summary": "", "cell": CELL, "sample": f"{CELL}&row=J-104", "regression": "cell=estimation-zero_shot%40q"}


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_no_violation(
    browser: Browser, tmp_path: Path, view: str, theme: Literal["light", "dark"], width: int
) -> None:
    if not AXE.exists():
        missing(f"no {AXE}")
    path = tmp_path / "report.html"
    path.write_text(page(RUN), "utf-8")
    context = browser.new_context(bypass_csp=True, color_scheme=theme, viewport={"width": width, "height": 900})
    tab = context.new_page()
    tab.goto(f"{path.as_uri()}#{VIEWS[view]}")
    tab.wait_for_selector("html[data-viewer]")
    if view == "sample":
        tab.wait_for_selector(".reply pre")
    tab.add_script_tag(path=AXE)
    found = tab.evaluate("axe.run().then(found => found.violations.map(each => [each.id, each.nodes[0].html]))")
    context.close()
    assert found == []
