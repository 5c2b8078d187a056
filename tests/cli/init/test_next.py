"""What `pytest-puma init` says to do next: a model, and the line that only the user can write."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_puma.strategies.template import PLACEHOLDER
from pytest_puma.strategies.templates import find_template
from tests.cli.init.tickets import FEW_SHOT, TICKETS, ZERO_SHOT, rows
from tests.docs.reference import ROOT

STORIES = rows(*(f"S-{n},The page number {n} is slow.,{n}" for n in range(8)), header="id,text,points")


@pytest.mark.parametrize(
    ("content", "line"),
    [(TICKETS, "What each team means: "), (STORIES, "How people decide the points: ")],
    ids=["labels", "numbers"],
)
def test_the_line_for_the_user_reaches_the_model(output: Callable[..., str], content: str, line: str) -> None:
    assert f'Both templates have a line for what you know: "{PLACEHOLDER}".' in output(content)
    for path in (ZERO_SHOT, FEW_SHOT):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(PLACEHOLDER, "as the handbook has it"), encoding="utf-8")
        template = find_template("tickets", [path.stem], project=Path.cwd())
        assert template is not None
        messages = template.render(
            "user", {"labels": ["access", "billing"], "examples": [], "text": "a", "instance": {}}
        )
        assert f"{line}as the handbook has it" in messages[-1].content.splitlines()
        assert "Nothing helps" not in messages[-1].content


def test_a_model_is_named_with_the_command_that_downloads_it(output: Callable[..., str]) -> None:
    lines = [line.strip() for line in output(TICKETS).splitlines()]
    download = next(line for line in lines if line.startswith("curl "))
    path = re.search(r"--output models/(\S+\.gguf)", download)
    assert path is not None
    assert download.endswith(f"/{path[1]}")
    assert f"pytest benchmarks/test_tickets.py --puma-model {path[1]}" in lines
    assert download in (ROOT / "README.md").read_text(encoding="utf-8")
