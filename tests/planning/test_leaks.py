"""Pairs of texts against the samples of a scenario."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.core import Control, SettingsError, Variant
from pytest_puma.evaluation.cell import Cell
from pytest_puma.planning.leaks import check_pairs
from tests.factories import cell, model, sample
from tests.scenarios.custom import Custom, frame

LONG = "The export of a report with more than nine columns stops after the first page on Windows."
SAMPLES = (
    sample("long", fields={"text": LONG, "gold": "yes"}, gold="yes", references=("yes", "Open the settings first")),
    sample("short", fields={"text": "Login fails again", "gold": "no"}, gold="no"),
    sample("tiny", fields={"text": "It hangs", "gold": "no"}, gold="no"),
    sample("han", fields={"text": "登录失败。", "gold": "no"}, gold="no"),
)


def _steered(folder: Path, **pair: str) -> Cell:
    """A cell whose model is steered by four pairs; the last one has these texts."""
    pairs = [*({"positive": f"LOUD {number}", "negative": f"quiet {number}"} for number in range(3)), pair]
    path = folder / "loud.jsonl"
    path.write_text("\n\n".join(json.dumps(line) for line in pairs), encoding="utf-8")
    control = Control(kind="steer", name="loud", path=path, sha256="5a")
    variant = Variant(controls=(control,))
    return replace(cell(Custom(frame())), model=replace(model(), name="q+loud-1", variant=variant))


@pytest.mark.parametrize(
    ("pair", "found"),
    [
        ({"positive": "THE EXPORT OF A REPORT WITH MORE THAN, well.", "negative": "No."}, "long"),
        ({"positive": "No.", "negative": "I read: 'columns stops after the first page on windows'!"}, "long"),
        ({"prompt": "Why does login fails again happen?", "positive": "YES", "negative": "yes"}, "short"),
        ({"positive": "OPEN THE SETTINGS FIRST, PLEASE.", "negative": "Look elsewhere."}, "long"),
        ({"positive": "为什么登录失败?", "negative": "No."}, "han"),
        ({"positive": "THE EXPORT OF A REPORT WITH MORE COLUMNS", "negative": "yes"}, None),
        ({"positive": "IT HANGS", "negative": "It hangs"}, None),
        ({"positive": "LOGIN FAILS", "negative": "login fails"}, None),
        ({"positive": "登录不失败", "negative": "No."}, None),
    ],
)
def test_a_pair_that_quotes_a_sample_is_refused_with_its_line(
    tmp_path: Path, pair: dict[str, str], found: str | None
) -> None:
    steered = _steered(tmp_path, **pair)
    if found is None:
        check_pairs([steered], SAMPLES)
        return
    with pytest.raises(SettingsError) as caught:
        check_pairs([cell(Custom(frame())), steered], SAMPLES)
    assert f"loud.jsonl, line 7: the pair quotes sample {found!r} of custom ('" in str(caught.value)


def test_a_field_that_tells_the_answer_is_no_question(tmp_path: Path) -> None:
    rows = (sample("a", fields={"text": "one two", "gold": "yes it does"}, gold="yes it does"),)
    check_pairs([_steered(tmp_path, positive="YES IT DOES", negative="yes it does")], rows)
