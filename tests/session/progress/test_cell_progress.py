from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from pytest_puma.session.progress.cell_progress import CellProgress, read

START = CellProgress(cell="a-b@c", answered=0, samples=1200, kept=0, speed=0.0, left=-1.0)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "a-b@c 0 of 1,200 samples"),
        ({"answered": 7, "kept": 2000}, "a-b@c 7 of 1,200 samples, 2,000 answers kept"),
        ({"speed": 1234.5}, "a-b@c 0 of 1,200 samples, 1,234 tokens/s"),
        ({"left": 0.4}, "a-b@c 0 of 1,200 samples, about 0 s left"),
        ({"left": 89.4}, "a-b@c 0 of 1,200 samples, about 89 s left"),
        ({"left": 90.0}, "a-b@c 0 of 1,200 samples, about 2 min left"),
        (
            {"answered": 1000, "kept": 10, "speed": 80.0, "left": 3600.0},
            "a-b@c 1,000 of 1,200 samples, 10 answers kept, 80 tokens/s, about 60 min left",
        ),
    ],
)
def test_progress_is_a_line(changes: dict[str, int], line: str) -> None:
    assert str(CellProgress(**(asdict(START) | changes))) == line


def test_progress_passes_through_a_file(tmp_path: Path) -> None:
    file = tmp_path / "gw0"
    file.write_text(json.dumps(asdict(START)), encoding="utf-8")
    assert read(file) == START


@pytest.mark.parametrize("text", ["", '{"cell": "a-b', "[]", '{"cell": 1}'])
def test_a_file_in_the_middle_of_writing_is_no_progress(tmp_path: Path, text: str) -> None:
    file = tmp_path / "gw0"
    assert read(file) is None
    file.write_text(text, encoding="utf-8")
    assert read(file) is None
