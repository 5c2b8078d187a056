"""The listed samples as a file, made by the browser under the policy of the page, without a request."""

import csv
import json
from pathlib import Path

import pytest
from playwright.sync_api import Page

from pytest_puma.report.page.page import as_page
from tests.browser.conftest import Opened
from tests.browser.invented import report
from tests.browser.shapes import Shape
from tests.report.page.scripted import Recorded

CELL = "triage_jira-zero_shot@script"


def downloaded(tab: Page, name: str) -> Path:
    """The file behind a button."""
    with tab.expect_download() as download:
        tab.get_by_role("button", name=name, exact=True).click()
    return download.value.path()


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


def test_a_file_of_many_megabytes_is_whole(opened: Opened) -> None:
    made = report(Shape(samples=3))
    made.blocks["t0"]["rows"][0]["replies"] = ["long \ud800" * 1_000_000]
    tab = opened(made, "cell=triage-zero_shot%40q")
    lines = json.loads(downloaded(tab, "JSON").read_text("utf-8"))
    assert len(lines[0]["reply"]) == 6_000_000
