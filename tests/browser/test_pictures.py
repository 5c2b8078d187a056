"""The views as pictures, compared loosely with those of the last look at them: a grid of grey levels for each view.

    PUMA_PICTURES=write pytest tests/browser/test_pictures.py    # after you looked at the changed views yourself

Another font and a few pixels more or less make no difference; a missing style or a missing half of the page does.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Literal, TypeAlias

import pytest
from playwright.sync_api import Browser, ViewportSize

from pytest_puma.report.page.page import as_page
from tests.browser.invented import report
from tests.browser.page import page
from tests.browser.shapes import Shape
from tests.report.page.scripted import Recorded

Grid: TypeAlias = list[list[int]]

KNOWN = Path(__file__).with_name("pictures.json")
WRITES = os.environ.get("PUMA_PICTURES") == "write"
CELL = "cell=triage-zero_shot%2Btypos_5pct%40q"
#: Fragment and topmost element of each view: of an invented report, but for the summary, which is that of a run.
VIEWS = {
    "summary": (None, "h1"),
    "cell": (CELL, "#cell"),
    "sample": (f"{CELL}&row=J-104", "#sample"),
    "regression": ("cell=estimation-zero_shot%40q", "#cell"),
}
SCREENS = [f"{view} {theme}" for view in VIEWS for theme in ("light", "dark")]
#: On a narrow screen, another font moves everything.
SIZE: ViewportSize = {"width": 1280, "height": 900}
COLUMNS, ROWS = 16, 18
#: Grey levels by which a field may differ, and the share of fields that may differ more.
LEVELS, SHARE = 8, 0.2
#: Charts and texts arrive after the first paint: the page has been as high for half a second.
_SETTLED = """() => {
  const now = performance.now(), height = document.documentElement.scrollHeight;
  if (window.settling?.height !== height) window.settling = { height, since: now };
  return now - window.settling.since > 500;
}"""
_GREYS = """async ([picture, columns, rows]) => {
  const image = new Image();
  image.src = picture;
  await image.decode();
  const canvas = new OffscreenCanvas(columns, rows), context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(image, 0, 0, columns, rows);
  const { data } = context.getImageData(0, 0, columns, rows);
  const grey = (place) => Math.round((data[4 * place] + data[4 * place + 1] + data[4 * place + 2]) / 3);
  return Array.from({ length: rows }, (_, y) => Array.from({ length: columns }, (_, x) => grey(y * columns + x)));
}"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, real: Recorded) -> dict[str, Path]:
    """The page of a run with every kind of task, and that of an invented report, whose cells have every chart."""
    folder = tmp_path_factory.mktemp("pages")
    invented = report(Shape(perturbations=("typos_5pct",)), Shape(name="estimation", task="regression"))
    texts = {"run": as_page(real.run, real.path), "invented": page(invented)}
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, "utf-8")
    return {name: folder / f"{name}.html" for name in texts}


@pytest.fixture
def seen(browser: Browser, pages: Mapping[str, Path]) -> Iterator[Callable[..., Grid]]:
    """Open a screen, change it by a script, and return the mean grey level of each field."""
    # The pictures are read in a page of its own, as the policy of ours loads nothing.
    reader = browser.new_page()

    def grid(screen: str, change: str = "0") -> Grid:
        view, theme = screen.split()
        fragment, top = VIEWS[view]
        path = pages["run" if fragment is None else "invented"]
        scheme: Literal["light", "dark"] = "dark" if theme == "dark" else "light"
        with closing(browser.new_context(viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")) as context:
            tab = context.new_page()
            tab.goto(f"{path.as_uri()}#{fragment or ''}")
            tab.wait_for_selector("html[data-viewer]")
            tab.wait_for_selector(top)
            tab.evaluate(change)
            tab.wait_for_function(_SETTLED)
            tab.evaluate("(top) => document.querySelector(top)?.scrollIntoView()", top)
            picture = f"data:image/png;base64,{base64.b64encode(tab.screenshot()).decode()}"
        greys: Grid = reader.evaluate(_GREYS, [picture, COLUMNS, ROWS])
        return greys

    yield grid
    reader.close()


def differing(one: Grid, other: Grid) -> float:
    """The share of fields whose grey levels differ by more than the tolerance."""
    pairs = zip(chain.from_iterable(one), chain.from_iterable(other), strict=True)
    fields = [abs(here - there) > LEVELS for here, there in pairs]
    return sum(fields) / len(fields)


@pytest.fixture(scope="module")
def last_look() -> Iterator[dict[str, Grid]]:
    """The grids of the last look; with PUMA_PICTURES=write, those of today replace them."""
    grids: dict[str, Grid] = json.loads(KNOWN.read_text("utf-8"))
    yield grids
    if WRITES:
        rows = {screen: ",\n".join(map(json.dumps, grids[screen])) for screen in SCREENS}
        KNOWN.write_text(
            "{" + ",\n".join(f'"{screen}": [\n{each}\n]' for screen, each in rows.items()) + "}\n", "utf-8"
        )


@pytest.mark.parametrize("screen", SCREENS)
def test_a_view_looks_as_it_did(seen: Callable[..., Grid], last_look: dict[str, Grid], screen: str) -> None:
    today = seen(screen)
    if WRITES:
        last_look[screen] = today
    assert differing(today, last_look[screen]) <= SHARE


#: What breaks a view, and a view that shows it.
BROKEN = {
    "no style": ("document.querySelectorAll('style').forEach((each) => each.remove())", "summary light"),
    "no summary": ("document.querySelector('#summary').remove()", "summary dark"),
    "no details": ("document.querySelector('#details').replaceChildren()", "sample light"),
    "the other theme": ("document.documentElement.dataset.theme = 'dark'", "regression light"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_view_is_seen(seen: Callable[..., Grid], last_look: Mapping[str, Grid], what: str) -> None:
    breaks, screen = BROKEN[what]
    assert differing(seen(screen, breaks), last_look[screen]) > SHARE


@pytest.mark.parametrize("view", VIEWS)
def test_another_font_makes_no_difference(seen: Callable[..., Grid], last_look: Mapping[str, Grid], view: str) -> None:
    screen = f"{view} light"
    assert differing(seen(screen, "document.body.style.fontFamily = 'serif'"), last_look[screen]) <= SHARE
