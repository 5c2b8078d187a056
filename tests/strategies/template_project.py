"""A project with prompt templates, and the variables that they are filled with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_puma.core import Message
from pytest_puma.strategies.template import Template
from pytest_puma.strategies.templates import find_template

VARIABLES: dict[str, Any] = {
    "title": "Login fails",
    "description": "Since Monday.",
    "labels": ["Critical", "Trivial"],
    "examples": [],
    "instance": {"title": "Login fails"},
}


class TemplateProject:
    """A project's folder with templates of the scenario `triage_jira` or another."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, source: str, name: str = "zero_shot", scenario: str = "mine") -> Path:
        path = self.root / "prompts" / scenario / f"{name}.jinja"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
        return path

    def find(self, *names: str, scenario: str = "mine") -> Template:
        return find_template(scenario, names or ("zero_shot",), project=self.root)

    def render(self, source: str, turn: str = "user") -> tuple[Message, ...]:
        self.write(source)
        return self.find().render(turn, VARIABLES)
