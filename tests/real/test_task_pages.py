"""The outputs that the pages of docs/tasks/ show are those of the real model that they name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from pytest_puma.core import Model
from tests.docs.reference import page_name
from tests.docs.task_pages import PAGES, read_page
from tests.real.conftest import has_avx512
from tools.readme_drift import settled

#: Pages of choices in many orders, or of long ones.
LONG = ("choice", "cloze")
_END = re.compile(r"\w+: (data/)?\w+\.(jsonl|csv) ")


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_a_page_shows_what_a_run_prints(
    path: Path, models: dict[str, Model], pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    page = read_page(path)
    pytester.makeini("[pytest]")
    page.write(pytester.path)
    file, option, _ = page.command
    assert models["smollm2"].name == "smollm2"
    # Without these kernels only the names are compared, and these rows have all of them.
    arguments = ["--puma-samples=12"] if path.stem in LONG and not has_avx512() else []
    result = pytester.runpytest_subprocess(
        "-p", "no:xdist", file, f"{option}=smollm2={models['smollm2'].path}", *arguments
    )
    lines = [line.rstrip() for line in result.stdout.lines]
    start = next(at for at, line in enumerate(lines) if re.match(r"=+ puma =+", line)) + 1
    end = next(at for at, line in enumerate(lines) if _END.match(line))
    table = [line for line in lines[start:end] if line]
    printed = [line for line in page.output if not line.startswith("pass: ")]
    assert _names(table) == _names(printed)
    if has_avx512():
        assert settled(table, printed) == printed


def _names(lines: Iterable[str]) -> list[list[str]]:
    """The names in each line of tables: no number, and no verdict, mark or group that depends on one.

    The column `s` does not count, which has no room if the seconds are many.
    """
    words = [re.findall(r"(?<!\S)[a-z][^\s\[]+", line) for line in lines if not line.startswith("*")]
    return [each for each in words if each]
