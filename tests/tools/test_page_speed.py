"""The bench of the HTML report, on a small run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_puma.runs.past_run import PastRun
from tests.browser.chromium import missing
from tools.chromium import CHROMIUM
from tools.page_speed import __main__ as bench
from tools.page_speed.project import CELLS, SKILL, Words, large_run

_SAMPLES = 3


def test_texts_are_as_long_as_asked_and_the_same_for_a_seed() -> None:
    words = Words()
    assert 600 <= len(words.text("a", 600)) < 650
    assert words.text("a", 600) == Words().text("a", 600) != words.text("b", 600)


def test_a_run_has_all_cells_and_each_measure_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not CHROMIUM.exists():
        missing(f"no {CHROMIUM}")
    run = large_run(tmp_path, _SAMPLES)
    cells = PastRun(run).run.outcomes
    assert [each.execution.samples for each in cells] == [_SAMPLES] * CELLS
    assert sum(each.measures["accuracy"].value for each in cells) / CELLS > SKILL / 2
    monkeypatch.setattr(sys, "argv", ["page_speed", "--run", str(run), "--starts", "1"])
    bench.main()
    printed = capsys.readouterr().out
    for what in ("written, 100 cells", "memory", "size", "ready", "first cell opens", "filter on", "next search"):
        assert f"\n{what}" in printed
    _, elements = printed.rsplit(maxsplit=1)
    assert int(elements) <= 3000
