"""The example of docs/first-benchmark.md prints what the page shows, and the page names each part of the doctor."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_puma.cli import main
from tests.cli.test_doctor import PARTS
from tests.docs.reference import ROOT

PAGE = (ROOT / "docs" / "first-benchmark.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_example_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (rows,) = (text for language, text in BLOCKS if language == "csv")
    command, _, shown = next(text for language, text in BLOCKS if language == "console").partition("\n")
    Path("tickets.csv").write_text(rows, encoding="utf-8")
    assert main(command.split()[2:]) == 0
    assert capsys.readouterr().out == shown


def test_each_part_of_the_doctor_is_shown() -> None:
    (shown,) = (text for language, text in BLOCKS if language == "console" and text.startswith("$ pytest-puma doctor"))
    assert re.findall(r"^(?:ok|advice) +(\S+)", shown, re.MULTILINE) == [*PARTS, "sandbox"]
