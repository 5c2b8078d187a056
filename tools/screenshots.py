"""The pictures of the HTML page in the documentation: a real run of the demonstration model with a spoiled prompt.

    python -m tools.screenshots    # needs Chromium; writes docs/page.png and docs/page-sample.png

The first run becomes the baseline; the second one reads only the beginning of each issue.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tools.chromium import ARGUMENTS, CHROMIUM

ROOT = Path(__file__).parents[1]
CELL = "triage_jira-zero_shot@puma-tiny"
BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "few_shot_3", "option_scoring"], samples=100,
                  gates=["f1_macro >= 0.45", "no_regression"])
def test_triage(puma):
    pass
"""
SPOILED = "<issue>\nTitle: {{ title }}\nDescription: {{ description[:60] }}\n</issue>\n"
_WIDTH, _HEIGHT = 1280, 900
#: Milliseconds in which charts are drawn, which move what is below.
_SETTLED = 1000


def main() -> None:
    """Run both benchmarks, and take the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        page = _spoiled_run(Path(folder))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            view = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme="light")
            view.goto(page.as_uri())
            view.wait_for_selector("#details h2")
            view.screenshot(path=ROOT / "docs" / "page.png")
            # From the line that failed to the first worse answer.
            view.click(f"main a:has-text('{CELL}')")
            view.wait_for_selector("#samples")
            view.keyboard.press("f")
            view.keyboard.press("n")
            view.wait_for_selector(".sample .replies")
            view.wait_for_timeout(_SETTLED)
            view.screenshot(path=ROOT / "docs" / "page-sample.png")
            browser.close()


def _spoiled_run(home: Path) -> Path:
    """Return the page of a run whose prompt shows too little."""
    (home / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (home / "test_triage.py").write_text(BENCHMARK, encoding="utf-8")
    _pytest(home, "--puma-update-baseline")
    prompts = home / "prompts" / "triage_jira"
    shutil.copytree(ROOT / "prompts" / "triage_jira", prompts)
    (prompts / "_issue.jinja").write_text(SPOILED, encoding="utf-8")
    _pytest(home, "--puma-flips", "--puma-report=html:report.html")
    return home / "report.html"


def _pytest(home: Path, *arguments: str) -> None:
    """Run pytest; failed gates are what the pictures show."""
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", *arguments]
    result = subprocess.run(command, cwd=home, check=False, capture_output=True, text=True)  # noqa: S603 - our own
    if result.returncode not in {0, 1}:
        sys.exit(result.stdout + result.stderr)


if __name__ == "__main__":
    main()
