"""The old prompt and reply of a flip, from the run that gave them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.planning.reports import PageSettings
from pytest_puma.report.page.page import as_page
from tests.factories import cell, entry, evaluated
from tests.report.page.page import Page
from tests.report.page.scripted import moody, recorded

CELL = "triage_jira-zero_shot@script"
OLD = "20260102T030405-5"


def page(folder: Path, *earlier: str, settings: PageSettings = PageSettings()) -> Page:  # noqa: B008 - frozen
    """The page of a run whose baseline always says Major; `earlier`: the answers of the runs before it."""
    before = evaluated(cell(samples=20), "Major")
    gated = cell(samples=20, gates=("accuracy >= baseline - 0.02",))
    for number, answer in enumerate(earlier, 5 - len(earlier) + 1):
        recorded(folder, [evaluated(cell(samples=20), answer)], name=f"{OLD[:-1]}{number}")
    run = recorded(folder, [evaluated(gated, moody, baseline=entry(before))])
    return Page(as_page(run.run, run.path, settings))


def test_a_flip_has_the_prompt_and_the_reply_of_the_run_with_the_old_answers(tmp_path: Path) -> None:
    made = page(tmp_path, "Major")
    flipped = {int(row) for row in made.block("a0")["old"]}
    assert flipped
    assert made.block("h0")["old"]["run"] == OLD
    for row, text in enumerate(made.entries(CELL)):
        assert text is not None
        assert ("old" in text) == (row in flipped)
        if row in flipped:
            assert text["old"]["replies"] == ["Major"]
            assert text["old"]["prompts"] == text["prompts"]


@pytest.mark.parametrize("earlier", [(), ("Minor",)])
def test_without_a_run_with_the_old_answers_there_is_no_old_text(tmp_path: Path, earlier: tuple[str, ...]) -> None:
    made = page(tmp_path, *earlier)
    assert made.block("a0")["old"]
    assert "old" not in made.block("h0")
    assert not any("old" in text for text in made.entries(CELL) if text)


def test_of_several_runs_the_one_with_the_old_answers_counts(tmp_path: Path) -> None:
    assert page(tmp_path, "Major", "Minor").block("h0")["old"]["run"] == f"{OLD[:-1]}4"


def test_a_page_without_texts_has_no_old_ones(tmp_path: Path) -> None:
    made = page(tmp_path, "Major", settings=PageSettings(texts="none"))
    assert "t0" not in made.packed
    assert "old" not in made.block("h0")
