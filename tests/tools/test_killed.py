"""A run that is killed in the middle; tests/integration/test_recipes.py kills pytest."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tools.killed import NotKilledError, kept, kill_at

#: Keeps an answer at a time, then ends or goes on for ever.
RUN = """
import sqlite3, sys, time
connection = sqlite3.connect("store.sqlite", isolation_level=None)
connection.execute("CREATE TABLE response(id INTEGER)")
print("begins")
for number in range(int(sys.argv[1])):
    connection.execute("INSERT INTO response VALUES (?)", (number,))
while sys.argv[2] == "waits":
    time.sleep(0.01)
"""


def test_a_run_is_killed_when_its_store_has_enough_answers(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    assert kept(store) == 0
    command = [sys.executable, "-c", RUN, "5", "waits"]
    assert kill_at(3, command, store=store, cwd=tmp_path, env=os.environ) == kept(store) >= 3


def test_a_run_that_ends_before_is_an_error_with_its_output(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RUN, "2", "ends"]
    with pytest.raises(NotKilledError, match=r"exit status 0 with 2 kept answers; expected 3 .*\nbegins"):
        kill_at(3, command, store=tmp_path / "store.sqlite", cwd=tmp_path, env=os.environ)
