"""Queries in a reply, run on a database in memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_puma.core import SettingsError
from pytest_puma.metrics.library.sql_metrics import candidates
from tests.metrics.library.replies import score

NAMES = ("sql.runs", "sql.only", "sql.rows", "sql.equal")
SETUP = """
Pragma Foreign_Keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE city (name TEXT, land TEXT, people INT, area REAL);
INSERT INTO city VALUES ('Graz', 'AT', 300, 127.5), ('Linz', 'AT', 200, 96.0), ('Bern', 'CH', 130, 51.6),
    ('Wels', 'AT', 60, NULL);
CREATE TABLE digit (i INT);
INSERT INTO digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
COMMIT;
"""
GOLD = "SELECT name FROM city WHERE land = 'AT'"
BIG = "FROM digit a, digit b, digit c, digit d, digit e, digit f, digit g, digit h, digit k"
#: 30 seconds of computing on most machines, in which SQLite never looks at its number of steps.
LONG = "SELECT " + ", ".join(f"printf('%.*c', 2000000000, '{letter}')" for letter in "wxyz")


def scores(text: str, *golds: str) -> list[float]:
    return [score(name, text, *(golds or (GOLD,)), sql_setup=SETUP) for name in NAMES]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GOLD, [1, 1, 1, 1]),
        (f"{GOLD};", [1, 1, 1, 1]),
        (f"```sql\n{GOLD};\n```", [1, 1, 1, 1]),
        # Letters of "sql" are no part of the fence: this one must stay a query.
        ("select name from city where land='AT'", [1, 1, 1, 1]),
        ("-- Austria\nSELECT name\n\nFROM city\nWHERE land = 'AT' -- end", [1, 1, 1, 1]),
        ("WITH a AS (SELECT * FROM city WHERE land = 'AT') SELECT name FROM a ORDER BY people", [1, 1, 1, 1]),
        ("VALUES ('Wels'), ('Linz'), ('Graz')", [1, 1, 1, 1]),
        (f"Here it is:\n```sql\n{GOLD}\n```\nIt has three rows.", [1, 0, 1, 1]),
        (f"Use `{GOLD}` here.", [1, 0, 1, 1]),
        (f"CREATE TABLE t AS\n{GOLD}", [0, 0, 0, 0]),
        # A model that makes the table of the question once more.
        (f"First:\n```sql\nCREATE TABLE city (name TEXT);\n\n{GOLD};\n```\nDone.", [1, 0, 1, 1]),
        ("INSERT INTO city VALUES ('A', 'AT', 1, 1);\nSELECT name FROM city WHERE land = 'AT'", [1, 0, 1, 1]),
        # What a chat model writes around a query: a bare "sql", names of parts, an invented result, JSON, other quotes.
        (f"sql\n{GOLD};", [1, 0, 1, 1]),
        (f"Sure!\nSQLQuery: {GOLD}\nSQLResult: Graz, Linz\nAnswer: two", [1, 0, 1, 1]),
        ('{"query": "SELECT name\\nFROM city"}', [0, 0, 0, 0]),
        (f'{{"query": "{GOLD}"}}', [1, 0, 1, 1]),
        (f"'''sql\n{GOLD}\n'''", [1, 0, 1, 1]),
        ("SELECT name\nFROM city\nWHERE land = 'AT'\n* It takes the towns of Austria.", [1, 0, 1, 1]),
        (f"The query is {GOLD}; it lists them.", [1, 0, 1, 1]),
        (f"With this query you get them:\n\n{GOLD}\n\nSelect it.", [1, 0, 1, 1]),
        ("SELECT land FROM city LIMIT 3", [1, 1, 1, 0]),
        ("SELECT name FROM city", [1, 1, 0, 0]),
        ("SELECT name, land FROM city WHERE land = 'AT'", [1, 1, 1, 0]),
        ("SELECT town FROM city", [0, 1, 0, 0]),  # a query, but of a column that does not exist
        ("SELECT name FROM", [0, 0, 0, 0]),
        ("SELECT name FROM city; SELECT 1", [1, 0, 0, 0]),
        ("I cannot write SQL.", [0, 0, 0, 0]),
        ("", [0, 0, 0, 0]),
        ("SELECT 'a\0b'", [0, 0, 0, 0]),
        ("SELECT '\ud800'", [0, 1, 0, 0]),
    ],
)
def test_a_reply_is_run_as_a_query(text: str, expected: list[int]) -> None:
    assert scores(text) == expected


@pytest.mark.parametrize(
    ("gold", "text", "equal"),
    [
        ("SELECT name FROM city ORDER BY people", "SELECT name FROM city ORDER BY people DESC", 0),
        ("SELECT name FROM city\norder  by people", "SELECT name FROM city ORDER BY area", 1),
        ("SELECT * FROM (SELECT name FROM city ORDER BY people)", "SELECT name FROM city ORDER BY name", 1),
        (
            "SELECT name, rank() OVER (ORDER BY people) FROM city",
            "SELECT name, rank() OVER (ORDER BY people) FROM city ORDER BY 1",
            1,
        ),
        ("SELECT 'order by', name FROM city -- order by", "SELECT 'order by', name FROM city ORDER BY name", 1),
        ("SELECT land FROM city", "SELECT DISTINCT land FROM city", 0),
        ("SELECT land FROM city", "VALUES ('AT'), ('AT'), ('CH'), ('CH')", 0),  # duplicates count
        ("SELECT 2", "SELECT 2.0", 1),
        ("SELECT 2", "SELECT '2'", 0),
        ("SELECT 12345678901234", "SELECT 12345678901235", 0),
        ("SELECT 0.3", "SELECT 0.1 + 0.2", 1),
        ("SELECT area FROM city WHERE name = 'Wels'", "SELECT NULL", 1),
        ("SELECT name AS a FROM city", "SELECT name AS b FROM city", 1),
        ("SELECT 1 WHERE 0", "SELECT 2 WHERE 0", 1),
        ("SELECT CAST(x'ff' AS TEXT)", "SELECT CAST(x'ff' AS TEXT)", 1),
    ],
)
def test_rows_are_compared(gold: str, text: str, equal: int) -> None:
    assert scores(text, gold)[3] == equal


def test_any_gold_query_will_do() -> None:
    golds = ("SELECT 1 UNION SELECT 2", "SELECT 3")
    assert scores("SELECT 3", *golds) == [1, 1, 1, 1]
    assert scores("VALUES (4), (5)", *golds) == [1, 1, 1, 0]
    assert scores("VALUES (4), (5), (6)", *golds) == [1, 1, 0, 0]


@pytest.mark.parametrize(
    "text",
    [
        "ATTACH '/etc/passwd' AS p",
        "PRAGMA database_list",
        "SELECT * FROM pragma_database_list",
        "PRAGMA query_only=OFF",
        "SELECT load_extension('/tmp/evil.so')",
        "SELECT LOAD_EXTENSION('/tmp/evil.so', 'init')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT readfile('/etc/passwd')",
        "SELECT writefile('stolen', 'x')",
        "INSERT INTO city VALUES ('X', 'X', 0, 0)",
        "WITH a AS (SELECT 1) DELETE FROM city",
        "DROP TABLE city",
        "CREATE TEMP TABLE t AS SELECT 1",
        "CREATE VIRTUAL TABLE v USING fts5(x)",
        "UPDATE sqlite_master SET name = 'x'",
        "EXPLAIN SELECT 1",
        "BEGIN",
    ],
)
def test_nothing_but_reading_runs(text: str) -> None:
    runs, _, rows, equal = scores(text)
    assert (runs, rows, equal) == (0, 0, 0)
    assert scores("SELECT count(*) FROM city", "VALUES (4)") == [1, 1, 1, 1]


@pytest.mark.parametrize("place", ["setup", "reply"])
@pytest.mark.parametrize("statement", ["VACUUM INTO '{}'", "ATTACH '{}' AS f; CREATE TABLE f.t (i)"])
def test_no_file_is_written(statement: str, place: str, tmp_path: Path) -> None:
    file = tmp_path / "written.db"
    text = statement.format(file)
    if place == "reply":
        assert scores(text) == [0, 0, 0, 0]
    else:
        with pytest.raises(
            SettingsError, match=r"does not run the context's 'sql_setup': (not authorized|authorization denied)"
        ):
            score("sql.runs", "SELECT 1", "SELECT 1", sql_setup=text)
    assert not file.exists()


@pytest.mark.parametrize(
    "text",
    [
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c",
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION SELECT i + 1 FROM c) SELECT max(i) FROM c",
        f"SELECT count(*) {BIG}",
        f"SELECT * {BIG}",
        f"SELECT a.i {BIG} ORDER BY random()",
        "SELECT randomblob(1000000000)",
        "SELECT length(zeroblob(2000000000))",
        LONG,
        "SELECT replace(printf('%.*c', 9999999, 'x'), 'x', 'xxx')",
        "SELECT group_concat(hex(randomblob(100000)), '') FROM digit a, digit b, digit c, digit d",
        f"SELECT {'(' * 9999}1{')' * 9999}",
    ],
)
def test_a_query_without_end_or_measure_does_not_run(text: str) -> None:
    runs, _, rows, equal = scores(text)
    assert (runs, rows, equal) == (0, 0, 0)
    assert scores(GOLD) == [1, 1, 1, 1]


def test_a_function_of_tables_is_read() -> None:
    assert scores("SELECT value FROM json_each('[1, 2]')", "VALUES (2), (1)") == [1, 1, 1, 1]


@pytest.mark.parametrize("name", NAMES)
def test_none_applies_to_samples_without_a_query(name: str) -> None:
    assert score(name, GOLD, GOLD, sql_setup=None) is None
    assert score(name, GOLD, sql_setup=SETUP) is None


@pytest.mark.parametrize(
    ("setup", "gold", "problem"),
    [
        ("CREATE TABLE t AS SELECT load_extension('/tmp/evil.so')", GOLD, "'sql_setup': not authorized"),
        ("PRAGMA writable_schema=ON", GOLD, "'sql_setup': not authorized"),
        ("CREATE TABLE", GOLD, "SQLite does not run the context's 'sql_setup': incomplete input"),
        (SETUP, "SELECT town FROM city", r"a gold query of \['SELECT town FROM city'\] does not run: no such column"),
        (SETUP, "DROP TABLE city", "does not run: not authorized"),
        (SETUP, f"SELECT count(*) {BIG}", "does not run: interrupted"),
        (SETUP, LONG, "need over 5 seconds of computing"),
        (5, GOLD, "has 5 as 'sql_setup'; expected statements that build"),
    ],
)
def test_a_fault_of_the_data_is_no_wrong_answer(setup: object, gold: str, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        score("sql.equal", "SELECT 1", gold, sql_setup=setup)


def test_the_whole_reply_is_the_first_candidate() -> None:
    assert candidates("SELECT 1; then") == ["SELECT 1; then", "SELECT 1"]
    assert candidates("See: SELECT a\nFROM b") == ["See: SELECT a\nFROM b", "SELECT a\nFROM b", "SELECT a"]


def test_the_plugin_does_not_import_sqlite() -> None:
    program = "import sys, pytest_puma.metrics.library; sys.exit('sqlite3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0  # noqa: S603 - this interpreter
