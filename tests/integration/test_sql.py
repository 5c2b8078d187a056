"""Queries that a model writes, in runs of pytest: gates on their rows, and data that are at fault."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest

from tests.integration.conftest import ONE_PROCESS, Project

ROWS = [
    {"question": "Which towns have over 100 people?", "query": "SELECT name FROM town WHERE people > 100"},
    {"question": "How many towns are there?", "query": "SELECT count(*) FROM town"},
    {"question": "Which town is the largest?", "query": "SELECT name FROM town ORDER BY people DESC LIMIT 1"},
    {"question": "Delete all towns.", "query": "SELECT name FROM town"},
]
TEST = """
import pytest
from pytest_puma import CompletionScenario

class Towns(CompletionScenario):
    name = "towns"
    data = "towns.jsonl"
    scores = ("sql.equal", "sql.rows", "sql.runs", "sql.only")

    def instruction(self, item):
        return item["question"]

    def truth(self, item):
        return item["query"]

    def context(self, item):
        rows = "INSERT INTO town VALUES ('A', 50), ('B', 120), ('C', 300)"
        return {"sql_setup": f"CREATE TABLE town (name, people); {rows};"}

@pytest.mark.puma(Towns(), strategies=["zero_shot"], gates=["sql.runs >= 0.7", "sql.equal >= 0.9"])
def test_towns(puma):
    pass
"""
ANSWERS = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend({
        "over 100": "Here:\\n```sql\\nselect name from town where people > 100 order by name;\\n```",
        "How many": "SELECT count(*) FROM town",
        "largest": "SELECT name FROM town ORDER BY people LIMIT 1",
        "Delete": "DELETE FROM town",
    })
"""


@pytest.fixture
def towns(project: Project) -> Project:
    write(project, ROWS)
    project.write(test_towns=TEST, conftest=ANSWERS)
    return project


def write(project: Project, rows: Sequence[Mapping[str, str]]) -> None:
    (project.pytester.path / "towns.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def test_gates_limit_what_the_queries_of_replies_return(towns: Project) -> None:
    result = towns.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*sql.equal *0.5*FAIL*", "*sql.runs *0.75*PASS*"])
    measures = towns.record()["outcomes"][0]["measures"]
    values = {name: measures[name]["value"] for name in ("sql.equal", "sql.rows", "sql.runs", "sql.only")}
    assert values == {"sql.equal": 0.5, "sql.rows": 0.75, "sql.runs": 0.75, "sql.only": 0.5}


@ONE_PROCESS
def test_a_gold_query_that_fails_is_an_error_of_the_cell_and_not_a_score(towns: Project) -> None:
    write(towns, [*ROWS[:3], {**ROWS[3], "query": "SELECT town FROM name"}])
    result = towns.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*does not run: no such table: name; expected statements of SQLite*"])
