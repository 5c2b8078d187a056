"""Texts of data in the output of a run."""

from __future__ import annotations

import pytest

from tests.integration.conftest import TRIAGE, Project


def test_data_cannot_write_lines_of_their_own(alone: Project) -> None:
    """A sample's id and text, and what the model says of it."""
    alone.write(
        conftest="""
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend({}, default="::error::said \\x1b[31m")
""",
        test_mood="""
import pandas as pd
import pytest
from pytest_puma import Scenario

class Mood(Scenario):
    name = "mood"
    task_type = "classification"
    key = "id"
    text_fields = ("text",)

    def sample(self, n, seed=42):
        rows = [(f"T-{i}\\n::error::owned", "\\x1b[2J\\x00 \\u202e ![x](http://e.com) @team", "sad") for i in range(4)]
        return pd.DataFrame(rows, columns=["id", "text", "mood"]).head(n)

    def gold_label(self, instance):
        return instance["mood"]

    def valid_labels(self):
        return ["sad", "glad"]

    def parse_response(self, response):
        return response

@pytest.mark.puma(Mood(), strategies=["zero_shot"], samples=4, gates=["accuracy >= 0.9"])
def test_mood(puma):
    pass
""",
    )
    prompts = alone.pytester.path / "prompts" / "mood"
    prompts.mkdir(parents=True)
    (prompts / "zero_shot.jinja").write_text("How? {{ text }}", encoding="utf-8")
    result = alone.run("--puma-report=md:run.md")

    text = result.stdout.str()
    assert r"  T-0\n::error::owned: answered" in text
    assert not [each for each in text if each in "\x1b\x00\u202e"]
    assert not [line for line in text.split("\n") if line.lstrip().startswith("::")]


@pytest.mark.parametrize("columns", [80, 100, 120, 200])
def test_no_line_of_a_table_is_wider_than_the_terminal(
    alone: Project, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    alone.write(
        test_triage=TRIAGE.replace('["zero_shot"]', '["zero_shot", "contextual_anchoring"]').replace(
            "samples=8", "samples=8, gates=['per_class.Critical.recall >= 0', 'parse_failure_rate <= 0.05']"
        )
    )
    perturbed = ("--puma-perturb=gender_swap_prefix_female,label_order", "--puma-compare=strategy")
    lines = alone.run(*perturbed).outlines
    lines += alone.run("--puma-plan").outlines if columns == 80 else []

    rules = [place for place, line in enumerate(lines) if line.startswith("-") and set(line) == {"-", " "}]
    assert len(rules) == (4 if columns == 80 else 3)
    for place in rules:
        table = lines[place - 1 : next(at for at in range(place + 1, len(lines)) if _ends(lines[at]))]
        assert max(map(len, table)) <= columns, table
    words = {word.rstrip(",") for line in lines for word in line.split()}
    assert {"per_class.Critical.recall", "contextual_anchoring+gender_swap_prefix_female"} <= words


def _ends(line: str) -> bool:
    """Behind the last row of a table: a sentence or the next title."""
    return line.startswith(("* ", "===")) or ": " in line


def test_an_error_of_the_collection_cannot_write_lines_of_its_own(alone: Project) -> None:
    rows = "key,priority,title,description\nA-1\x1b[31m,::error::\x00,title,text\n"
    (alone.pytester.path / "rows.csv").write_text(rows, encoding="utf-8")
    alone.write(test_triage=TRIAGE)
    result = alone.run("--puma-data=triage_jira=rows.csv")

    assert result.ret == 2
    assert not [each for each in result.stdout.str() if each in "\x1b\x00"]
    assert not [line for line in result.outlines if line.lstrip().startswith("::")]
