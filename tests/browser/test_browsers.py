import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.conftest import Opened
from tests.browser.invented import report
from tests.browser.page import page
from tests.browser.shapes import Shape

RUN = report(Shape(samples=20))
CELL = "#cell=triage-zero_shot%40q"


def test_a_browser_without_decompression_shows_the_summary_and_a_sentence(opened: Opened) -> None:
    tab = opened(RUN, CELL, init="delete window.DecompressionStream")
    expect(tab.locator("#details")).to_contain_text("DecompressionStream")
    expect(tab.locator("#summary tbody")).to_have_count(3)


def test_without_javascript_the_summary_is_complete(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(page(RUN), "utf-8")
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto((tmp_path / "report.html").as_uri())
    assert "zero_shot" in tab.locator("#summary").inner_text()
    assert "need JavaScript" in tab.locator("#details").inner_text()
    context.close()


def test_a_path_of_any_characters_opens(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "a b#c äöü %20" / "Bericht & mehr.html"
    path.parent.mkdir()
    path.write_text(page(RUN), "utf-8")
    tab = browser.new_page()
    tab.goto(path.as_uri() + CELL)
    expect(tab.locator("#cell")).to_have_text("Cell triage-zero_shot@q")
    tab.locator("button.row").first.click()
    expect(tab.locator(".reply pre").first).to_be_visible()
    tab.close()


def test_under_the_policy_of_jenkins_the_summary_is_there(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(page(RUN), "utf-8")
    tab = browser.new_page()
    with _served(tmp_path, "sandbox; default-src 'none'; img-src 'self'; style-src 'self'") as address:
        tab.goto(f"{address}/report.html")
        assert "zero_shot" in (tab.locator("#summary").text_content() or "")
    tab.close()


def test_every_cell_of_a_large_page_keeps_few_nodes(opened: Opened) -> None:
    models = tuple("abcdefghijklmnopqrstuvwxy")
    strategies = ("few_shot_3", "cot", "option_scoring", "zero_shot")
    many = Shape(name="many", models=models, strategies=strategies, samples=3, words=5)
    tab = opened(report(Shape(strategies=("zero_shot",), samples=1000, words=5), many), CELL[1:])
    expect(tab.locator(".list tbody tr[role=row]").first).to_be_visible()
    expect(tab.locator("#summary tbody")).to_have_count(101)
    expect(tab.locator(".amount")).to_have_text("1,000 of 1,000 samples")
    assert int(json.dumps(tab.evaluate("document.querySelectorAll(':not(script)').length"))) <= 3000


class _Handler(SimpleHTTPRequestHandler):
    policy = ""

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", self.policy)
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@contextmanager
def _served(folder: Path, policy: str) -> Iterator[str]:
    handler = type("Handler", (_Handler,), {"policy": policy})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
