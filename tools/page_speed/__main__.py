"""`python -m tools.page_speed`: times, sizes and memory of the HTML report of 100 cells.

    python -m tools.page_speed --samples 1000 --starts 5 [--run FOLDER]    # needs Chromium

With `--run` the page of an earlier run is measured; otherwise a run is made, for some minutes. Each start is a fresh
browser. A time ends with the frame that shows the result; the median and the largest of all starts are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from tabulate import tabulate

from tools.chromium import ARGUMENTS, CHROMIUM
from tools.page_speed.project import CELLS, large_run

#: Measures an action of a reader, until the frame in which its result is seen.
_TIMED = """
async ([action, sign]) => {
  const frame = () => new Promise(requestAnimationFrame);
  const begin = performance.now();
  new Function(action)();
  do {
    if (performance.now() - begin > 10_000) throw new Error(`never: ${sign}`);
    await frame();
  } while (!new Function(`return ${sign}`)());
  await frame();
  return performance.now() - begin;
}
"""
_LISTED = "document.querySelector('.list tr[data-index]')"
_TEXTS = "document.querySelector('.tools > label > input[type=checkbox]')"
_SEARCHED = "!document.querySelector('.tools').textContent.includes('searching ...')"


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m tools.page_speed", description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, default=1000, help="samples of a cell")
    parser.add_argument("--starts", type=int, default=5, help="fresh browsers")
    parser.add_argument("--run", type=Path, help="folder of an earlier run of this bench")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        run = options.run or large_run(home, options.samples)
        page = home / "report.html"
        print(tabulate([*_written(run, page), *_read(page, options.starts)], ["what", "median", "largest"]))


def _written(run: Path, page: Path) -> list[Sequence[object]]:
    """Write the page in a process of its own."""
    command = [sys.executable, "-m", "pytest_puma", "report", str(run.name), "-o", str(page)]
    begin = time.monotonic()
    process = subprocess.Popen(command, cwd=run.parents[2])  # noqa: S603 - our own
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)  # Popen did not wait for it
    if process.returncode:
        sys.exit(process.returncode)
    seconds = time.monotonic() - begin
    return [
        (f"written, {CELLS} cells", f"{seconds:.1f} s", ""),
        ("of that, processor", f"{usage.ru_utime + usage.ru_stime:.1f} s", ""),
        ("memory", f"{usage.ru_maxrss / 1024:.0f} MB", ""),
        ("size", f"{page.stat().st_size / 1e6:.2f} MB", ""),
    ]


def _read(page: Path, starts: int) -> list[Sequence[object]]:
    """Open the page in fresh browsers, and do what its readers do."""
    times = defaultdict[str, list[float]](list)
    nodes = 0
    for _ in range(starts):
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            # The page forbids code from strings, which this bench is.
            view = browser.new_context(bypass_csp=True, viewport={"width": 1280, "height": 900}).new_page()
            begin = time.monotonic()
            view.goto(page.as_uri())
            view.wait_for_selector("html[data-viewer=ready]", state="attached")
            times["ready"].append(1000 * (time.monotonic() - begin))
            for what, milliseconds in _actions(view).items():
                times[what].append(milliseconds)
            nodes = max(nodes, view.evaluate("document.querySelectorAll(':not(script)').length"))
            browser.close()
    rows = [(what, f"{statistics.median(each):.0f} ms", f"{max(each):.0f} ms") for what, each in times.items()]
    return [*rows, ("elements of the page", "", nodes)]


def _actions(view: Page) -> Mapping[str, float]:
    """Milliseconds of each action."""

    def timed(action: str, sign: str) -> float:
        milliseconds: float = view.evaluate(_TIMED, [action, sign])
        view.wait_for_timeout(500)  # what an action leaves to be done is not part of the next one
        return milliseconds

    def opened(cell: str) -> float:
        heading = f"document.querySelector('#cell').textContent.includes({json.dumps(cell)})"
        return timed(f"location.hash = 'cell=' + encodeURIComponent({json.dumps(cell)})", f"{heading} && {_LISTED}")

    def filtered(chip: str) -> float:
        pressed = f"document.querySelector('[data-chip={chip}]').ariaPressed"
        before = view.evaluate(pressed)
        return timed(f"document.querySelector('[data-chip={chip}]').click()", f"{pressed} !== '{before}'")

    def searched(words: str) -> float:
        typed = f"const field = document.querySelector('#search'); field.value = {json.dumps(words)}"
        return timed(f"{typed}; field.dispatchEvent(new Event('input'))", _SEARCHED)

    return {
        "first cell opens": opened("triage_jira-zero_shot_cot@alder"),
        "second cell opens": opened("triage_jira-option_scoring@birch"),
        "perturbed cell opens": opened("triage_jira-zero_shot_cot+typos_5pct@cedar"),
        "filter on": filtered("wrong"),
        "second filter": filtered("differ"),
        "filter off": filtered("wrong"),
        "texts are searchable": timed(f"{_TEXTS}.click()", f"{_TEXTS}.checked && {_LISTED}"),
        "first search of all texts": searched("dashboards"),
        "next search": searched("timeout"),
    }


if __name__ == "__main__":
    main()
