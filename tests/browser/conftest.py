from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import missing
from tests.browser.page import page
from tests.browser.shapes import Report
from tests.report.page.scripted import Recorded, every_kind, recorded
from tools.chromium import ARGUMENTS, CHROMIUM

Opened = Callable[..., Page]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium, until the last test of this folder: as long as Playwright runs, no test can start an event loop.

    Without it the tests are skipped, or fail where PUMA_BROWSER=required.
    """
    if not CHROMIUM.exists():
        missing(f"no {CHROMIUM}")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="package")
def real(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A real run with every kind of task."""
    folder = tmp_path_factory.mktemp("real")
    return recorded(folder, every_kind(folder))


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    """Open the page of a report at a fragment and wait for its viewer; no message and no request may occur."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    problems: list[str] = []

    def opened_page(report: Report | str, fragment: str = "", *, init: str = "", policy: bool = True) -> Page:
        path = tmp_path / "report.html"
        text = report if isinstance(report, str) else page(report, policy=policy)
        path.write_text(text, "utf-8", errors="replace")
        tab = context.new_page()
        tab.on("console", lambda message: problems.append(f"{message.type}: {message.text}"))
        tab.on("pageerror", lambda error: problems.append(f"error: {error}"))
        tab.on("dialog", lambda dialog: problems.append(f"dialog: {dialog.message}"))
        tab.on("request", lambda request: problems.extend([] if request.url.startswith("file:") else [request.url]))
        if init:
            tab.add_init_script(init)
        tab.goto(f"{path.as_uri()}#{fragment}")
        tab.wait_for_selector("html[data-viewer]")
        return tab

    yield opened_page
    context.close()
    assert not problems
