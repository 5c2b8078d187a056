"""The names of a run on a command line.

| RUN | the run |
|---|---|
| `last`, `last~2` | the newest finished run, the second one before it |
| `41` | the run with this number |
| `20261125T124005-4711`, `20261125T12` | the run with this name, or the only one whose name begins so |
| `main` | the newest run of this branch without uncommitted changes |
| `3f2c1d9` | the newest run of this commit without uncommitted changes: its whole hash, or 4 digits or more |

A branch or a commit that a run is compared with means another run than this one.

A text that fits several rows means the first one in this order: `last`, number, whole name, branch, commit, beginning.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from pytest_puma.core import CellId, DataError
from pytest_puma.phrases import did_you_mean, named
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.runs.index import History
from pytest_puma.runs.rows import RunRow, State

_MODEL = "--puma-model="
_LAST = re.compile(r"last(?:~(\d{1,9}))?")
_COMMIT = re.compile(r"[0-9a-f]{4,64}")
_MAX_NAMED = 3
_NONE = "there is no finished run: run a benchmark first"
_WHY_UNFINISHED: Mapping[State, str] = {
    "running": "is still running; wait for its end",
    "damaged": "has a run.json that cannot be read; run again",
    "cut off": "was cut off, so it has no run.json; the same command goes on with its kept answers",
}
_EXPECTED = "expected a number, a name or its beginning, last, last~2, a commit or a branch"


def run_in_project(text: str, root: Path, *, newer: RunRow | None = None) -> RunRow:
    """Return the run of the project in a folder that a text means; errors as in `find_run`."""
    if not runs_of(root).is_dir():
        return find_run(text, ())
    with closing(History(root)) as history:
        return find_run(text, history.runs(), history.unfinished(), newer=newer)


def find_run(
    text: str, finished: Sequence[RunRow], unfinished: Sequence[RunRow] = (), *, newer: RunRow | None = None
) -> RunRow:
    """Return the run that a text means; both lists begin with the newest. A `DataError` names similar ones.

    `newer`: the run that is compared with this one. A branch and a commit mean another run; any other text that means
    the same one is an error.
    """
    row = _find(text, finished, unfinished, other_than=None if newer is None else newer.name)
    if newer is not None and row.name == newer.name:
        fault = f"is run {row.number} itself, which is to be compared; expected another run, such as last~1"
        raise _unusable(text, fault)
    return row


def _find(text: str, finished: Sequence[RunRow], unfinished: Sequence[RunRow], *, other_than: str | None) -> RunRow:
    if (last := _LAST.fullmatch(text)) is not None:
        back = int(last[1] or 0)
        if back < len(finished):
            return finished[back]
        count = f"there are {len(finished)} finished runs; pytest-puma list shows them"
        raise _unusable(text, count if finished else _NONE)
    for name in (lambda row: str(row.number), lambda row: row.name):
        if exact := [row for row in finished if name(row) == text]:
            return exact[0]
    branch = [row for row in finished if text and row.invocation.branch == text]
    if rows := branch or _of_commit(text, finished):
        return _clean(text, rows, other_than)
    begun = [row for row in finished if text and row.name.startswith(text)]
    if len(begun) == 1:
        return begun[0]
    if begun:
        several = named((row.name for row in begun), _MAX_NAMED)
        raise _unusable(text, f"{len(begun)} names begin so: {several}; expected more of the name")
    for row in unfinished:
        if row.name == text:
            raise _unusable(text, f"the run {_WHY_UNFINISHED[row.state]}")
    names = [name for row in finished for name in (row.name, row.invocation.branch) if name]
    newest = ", ".join(f"{row.number} ({row.name})" for row in finished[:_MAX_NAMED])
    known = f"the newest are {newest}" if newest else _NONE
    raise _unusable(text, f"no such run; {did_you_mean(text, names)}{_EXPECTED}; {known}")


def _of_commit(text: str, finished: Sequence[RunRow]) -> list[RunRow]:
    if not _COMMIT.fullmatch(text):
        return []
    rows = [row for row in finished if row.invocation.commit.startswith(text)]
    commits = list(dict.fromkeys(row.invocation.commit for row in rows))
    if len(commits) > 1:
        several = named(commits, _MAX_NAMED)
        raise _unusable(text, f"{len(commits)} commits begin so: {several}; expected more digits")
    return rows


def _clean(text: str, rows: Sequence[RunRow], other_than: str | None) -> RunRow:
    """The newest run without uncommitted changes, whose code is known, if possible one of another name."""
    clean = [row for row in rows if not row.invocation.dirty]
    if not clean:
        newest = rows[0].number
        fault = f"all its runs had uncommitted changes; expected a clean one; the newest is {newest}"
        raise _unusable(text, fault)
    return next((row for row in clean if row.name != other_than), clean[0])


def _unusable(text: str, fault: str) -> DataError:
    return DataError(f"RUN {text!r}: {fault}")


def next_comparison(new: Collection[str], old: Collection[str], commands: Sequence[Sequence[str]]) -> str:
    """Return how to compare the cells of a run with those of the run before it; empty if no cell has a counterpart.

    `commands`: the words of both, the old one first, which name the models with their options. Variants of a model
    belong in one argument, which is for the user to write.
    """
    if not set(new).isdisjoint(old):
        return "pytest-puma compare last~1 last"
    plain = ([name for name in map(CellId.parse, cells) if name.variant is None] for cells in (new, old))
    names = [{name.without("model") for name in side} for side in plain]
    if names[0].isdisjoint(names[1]):
        return ""
    models = [[word for word in words if word.startswith(_MODEL)] for words in commands]
    if not all(models):
        return ""
    options = shlex.join(dict.fromkeys(word for side in models for word in side))
    return f"the same tests with {options} --puma-compare model --puma-offline"
