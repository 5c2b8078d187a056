"""The outputs that the pages of docs/tasks/ show are those of the real model that they name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from pytest_puma.core import Model
from pytest_puma.platform.bundled import bundled_folder
from tests.docs.reference import page_name
from tests.docs.task_pages import PAGES, read_page
from tests.real.conftest import has_avx512
from tools.readme_drift import settled

#: As few samples as have all rows of a page's table: `naive.tfidf` learns from ten.
FEW = {"several-turns": 2, "own-metric": 2}
#: Pages whose table has rows that depend on the answers: groups with the worst values, gates that were missed.
WITH_ROWS_OF_ITS_ANSWERS = ("choice", "regression")
_END = re.compile(r"\w+: (data/)?\w+\.(jsonl|csv) ")


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_a_page_shows_what_a_run_prints(
    path: Path, models: dict[str, Model], pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    page = read_page(path)
    pytester.makeini("[pytest]")
    file, option, _ = page.command
    model, arguments = models["smollm2"].path, []
    if not has_avx512():
        # Only the names are compared, and so few samples, in so few orders, have all of them.
        model = model if path.stem in WITH_ROWS_OF_ITS_ANSWERS else bundled_folder("models") / "puma-tiny.gguf"
        arguments = [f"--puma-samples={FEW.get(path.stem, 10)}"]
        page.files[file] = page.files[file].replace("orders = 4", "orders = 2")
    page.write(pytester.path)
    result = pytester.runpytest_subprocess("-p", "no:xdist", file, f"{option}=smollm2={model}", *arguments)
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

    The columns `tokens` and `s` do not count, which have no room if the seconds are many.
    """
    words = [re.findall(r"(?<!\S)(?!tokens\b)[a-z][^\s\[]+", line) for line in lines if not line.startswith("*")]
    return [each for each in words if each]
