"""The listed samples as a file, made by the browser under the policy of the page, without a request."""

import csv
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Download, Page, expect

from pytest_puma.report.page.page import as_page
from tests.browser.conftest import Opened
from tests.browser.invented import report
from tests.browser.shapes import Shape
from tests.report.page.scripted import Recorded

CELL = "triage_jira-zero_shot@script"


def saved(tab: Page, name: str) -> Download:
    """The file behind a button, and its name."""
    with tab.expect_download() as download:
        tab.get_by_role("button", name=name, exact=True).click()
    return download.value


def downloaded(tab: Page, name: str) -> Path:
    """The file behind a button."""
    return saved(tab, name).path()


@pytest.mark.parametrize("name", ["CSV", "JSON"])
def test_a_file_has_the_samples_that_the_filters_leave(opened: Opened, real: Recorded, name: str) -> None:
    tab = opened(as_page(real.run, real.path), f"cell={CELL}&chips=wrong&columns={CELL}")
    file = downloaded(tab, name).read_text("utf-8")
    lines = json.loads(file) if name == "JSON" else list(csv.DictReader(file.splitlines(keepends=True)))
    wrong = [prediction for prediction in real.predictions(CELL) if prediction.loss != 0]
    assert wrong
    assert [(line["sample"], line["gold"], line["answer"] or None, line["reply"]) for line in lines] == [
        (prediction.sample_id, prediction.gold, prediction.answer, "\n".join(prediction.raw)) for prediction in wrong
    ]
    assert {line["cell"] for line in lines} == {CELL}


def test_a_file_is_named_after_all_its_cells_and_its_lines_are_counted_beside_the_buttons(opened: Opened) -> None:
    tab = opened(report(Shape(samples=3)), "cell=triage-zero_shot%40q&columns=triage-zero_shot%40q")
    amount = tab.locator(".downloads .note")
    expect(amount).to_have_text("3 lines: 3 samples of zero_shot")
    assert saved(tab, "JSON").suggested_filename == "triage-zero_shot@q.json"
    tab.locator("summary", has_text="columns:").click()
    tab.get_by_role("button", name="all", exact=True).click()
    expect(amount).to_contain_text("3 samples of")
    download = saved(tab, "JSON")
    assert download.suggested_filename == "triage.json"
    expect(amount).to_have_text(re.compile(rf"^{len(json.loads(download.path().read_text('utf-8')))} lines: "))


def test_a_file_of_many_megabytes_is_whole(opened: Opened) -> None:
    made = report(Shape(samples=3))
    made.blocks["t0"]["rows"][0]["replies"] = ["long \ud800" * 1_000_000]
    tab = opened(made, "cell=triage-zero_shot%40q")
    lines = json.loads(downloaded(tab, "JSON").read_text("utf-8"))
    assert len(lines[0]["reply"]) == 6_000_000
