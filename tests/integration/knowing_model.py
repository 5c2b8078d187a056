"""A model that answers questions for texts and for choices, and the data of their projects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.integration.conftest import Project

#: Knows all capitals but that of Peru, and always takes the choice `right`; a letter names it at its place.
KNOWING = """
import re
from pytest_puma.testing import ScriptedBackend

CAPITALS = {"italy": "Rome", "japan": "Tokyo", "norway": "Oslo", "india": "New Delhi", "peru": "Cusco"}

def answer(prompt):
    question = re.split("\\\\x02user", prompt)[-1]
    if "capital of" in question:
        country = re.search(r"capital of (\\w+)", question)[1].lower()
        return f"A: {CAPITALS[country]}"
    letter = re.search(r"^([A-Z])\\. right", question, re.MULTILINE)
    return f"Answer: {letter[1]}" if letter else "Answer: right 1"

def pytest_puma_backend(model):
    return ScriptedBackend(answer)
"""


def write_rows(project: Project, name: str, *rows: Mapping[str, Any]) -> None:
    """Write a file of JSON lines to the folder of a project."""
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (project.pytester.path / name).write_text(lines, encoding="utf-8")


def refused(project: Project, *arguments: str) -> str:
    """The output of a run whose collection fails."""
    result = project.run(*arguments)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    return result.stdout.str()
