"""The examples of docs/tasks/ run, and print the tables of their pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_puma.task_types import KINDS
from tests.docs.reference import ROOT, page_name
from tests.docs.task_pages import PAGES, read_page, table_rows
from tests.integration.conftest import Project

#: A reply that has an answer, after the cue of the page. Two rows of the regression have none.
_REPLIES = {"choice.md": "Answer: A", "cloze.md": "Answer: a", "completion.md": "A: Cairo"}
_BACKEND = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend({{"lamp": "no", "zip": "no"}}, default={reply!r})
"""
#: Values depend on the model, so the three worst groups do, too.
_SLICE = re.compile(r"\[\w+=.*\]")


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_an_example_runs_as_its_page_says(
    path: Path, pytester: pytest.Pytester, gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    page = read_page(path)
    pytester.makeini("[pytest]")
    page.write(pytester.path)
    file, option, model = page.command
    assert (file, option) == (next(iter(page.files)), "--puma-model")
    project = Project(pytester, gguf, 0)
    project.write(conftest=_BACKEND.format(reply=_REPLIES.get(path.name, "good 3")))
    result = project.run(file, f"{option}={model.partition('=')[0]}={gguf}", model=False)
    assert result.parseoutcomes().get("errors", 0) == 0
    run = [line.rstrip() for line in result.stdout.lines]
    start = next(at for at, line in enumerate(run) if re.match(r"=+ puma =+", line))
    rows, printed = (_without_groups(table_rows(lines)) for lines in (run[start:], page.output))
    assert rows == printed


def _without_groups(rows: set[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(strategy, _SLICE.sub("[group]", metric)) for strategy, metric in rows}


def test_the_index_has_each_kind_of_task_and_each_page() -> None:
    index = (ROOT / "docs" / "tasks" / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\((\w[\w-]*\.md)\)", index)) == {path.name for path in PAGES}
    for kind in KINDS.values():
        assert kind.name in index.lower()
        assert f"`{kind.primary_metric or 'scores'}`" in index
