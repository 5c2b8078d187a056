"""The folder of baselines: two files for each scenario, made for review in a pull request, stable when re-written.

`<scenario>.json` is for people; the answers of all samples lie beside it:

    {"format": 2,
     "scenario": "triage_jira",
     "cells": {
      "triage_jira-zero_shot@qwen": {
       "test": "benchmarks/test_triage_jira.py::test_triage_jira",
       "commit": "main@3f2c1d9",
       "measures": {"accuracy": {"value": 0.66, "low": 0.52, "high": 0.77, "n": 50}},
       "signature": {...},
       "answers_sha256": "5f0c..."}}}

`<scenario>.answers.jsonl` has a line a cell: its id `cell` and the columns `ids`, `answers`, `finish`, `tokens` (of the
prompt, of these cached, of the reply) and `probabilities`, and, where there are such, `trials`, `groups` and `scores`
(see `columns`). `answers_sha256` is that of the line.

A cell with the gate `no_drift` also keeps the baseline that its series started from, the anchor: `commit`, `renewals`,
the `cusum` of what was lost since, and `answers_sha256` of a line with the key `anchor`. Without the key `anchor` in
the first file, the series restarts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from pytest_puma.baseline.columns import columns_of
from pytest_puma.baseline.entry import Anchor, Entry
from pytest_puma.core import CellId, DataError
from pytest_puma.phrases import described
from pytest_puma.platform.files import regular, write_together
from pytest_puma.platform.json_text import parse_json
from pytest_puma.platform.locks import locked

FORMAT = 2
_WIDTH = 120
#: The ends of the names of the two files.
_NUMBERS, _ANSWERS = ".json", ".answers.jsonl"
#: A line that git adds.
_CONFLICT = re.compile(r"^(<{7}|\|{7}|={7}|>{7})( |$)", re.MULTILINE)
#: Lines of answers with their digests, by the cell, and True for those of the anchor.
_Lines: TypeAlias = Mapping[tuple[str, bool], tuple[Mapping[str, Any], str]]
_MAKE = "--puma-update-baseline makes one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Counts of the new, changed, unchanged and removed cells of a written file."""

    path: Path
    new: int
    changed: int
    same: int
    gone: int


class Baselines:
    """The baselines of a project. Each file is read once, and again before it is written.

    Methods raise a `DataError` for an unusable file.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read = cache(self._reading)

    def find(self, scenario: str, cell: str) -> Entry | None:
        """Return the entry of a cell, None if it has none."""
        return self._read(scenario).get(cell)

    def of(self, scenario: str) -> list[Entry]:
        """Return the entries of a scenario."""
        return list(self._read(scenario).values())

    def entries(self) -> list[Entry]:
        """Return the entries of all scenarios."""
        names = {path.name.removesuffix(end) for end in (_NUMBERS, _ANSWERS) for path in self.folder.glob(f"*{end}")}
        return [entry for name in sorted(names) for entry in self.of(name)]

    def why_missing(self, cell: CellId) -> str:
        """Return why a cell has no baseline, and what to do."""
        expected = f"{cell.scenario}{_NUMBERS}"
        names = sorted(path.name for path in self.folder.glob(f"*{_NUMBERS}"))
        renamed = next((name for name in names if name.casefold() == expected.casefold()), expected)
        if expected not in names and renamed != expected:
            return f"{self.folder} has {renamed}; expected {expected}: rename it and the file of answers beside it"
        stored = [entry.name for entry in self.of(cell.scenario)]
        models = sorted(name.model for name in stored if name.without("model") == cell.without("model"))
        if not models:
            return f"there is no baseline yet; {_MAKE}"
        available = f"there is no baseline for {cell.model!r}; there are baselines for {', '.join(models)}"
        return f"{available}: give the model this name, or {_MAKE}"

    def write(self, entries: Sequence[Entry], gone: Sequence[Entry] = ()) -> list[Written]:
        """Add or replace entries, and remove those that are gone; all other entries stay.

        An entry with the content of the old one keeps its commit, so that the file does not change.
        """
        scenarios = sorted({entry.name.scenario for entry in (*entries, *gone)})
        if not scenarios:
            return []
        self.folder.mkdir(parents=True, exist_ok=True)
        with locked(self.folder):
            # Another run may have written in the meantime.
            self._read.cache_clear()
            return [self._merge(scenario, entries, {entry.cell for entry in gone}) for scenario in scenarios]

    def _merge(self, scenario: str, entries: Iterable[Entry], gone: Collection[str]) -> Written:
        old = self._read(scenario)
        kept = {cell: entry for cell, entry in old.items() if cell not in gone}
        new = {entry.cell: _renewed(entry, old.get(entry.cell)) for entry in entries if entry.name.scenario == scenario}
        changed = sum(entry is not old[cell] for cell, entry in new.items() if cell in old)
        self._write(scenario, kept | new)
        return Written(
            path=self._files(scenario)[0],
            new=len(new.keys() - old.keys()),
            changed=changed,
            same=len(kept) - changed,
            gone=len(old) - len(kept),
        )

    def _files(self, scenario: str) -> tuple[Path, Path]:
        return self.folder / f"{scenario}{_NUMBERS}", self.folder / f"{scenario}{_ANSWERS}"

    def _reading(self, scenario: str) -> dict[str, Entry]:
        path, beside = self._files(scenario)
        try:
            if not path.exists() and not beside.exists():
                return {}
            data = parse_json(_text(path))
            _check_format(path, data["format"])
            read = [(parse_json(text), _digest(text)) for text in _text(beside).split("\n") if text]
            lines = {(line["cell"], "anchor" in line): (line, digest) for line, digest in read}
            return {cell: _entry(path, cell, head, lines) for cell, head in data["cells"].items()}
        except FileNotFoundError as error:
            fault = f"no file {beside.name} beside it" if path.exists() else f"no such file beside {beside.name}"
            raise _unusable(path, fault) from error
        except (OSError, LookupError, TypeError, ValueError, AttributeError) as error:
            raise _unusable(path, f"it cannot be read ({described(error)})") from error

    def _write(self, scenario: str, entries: Mapping[str, Entry]) -> None:
        """Write both files; delete them if no cell is left."""
        path, beside = self._files(scenario)
        if not entries:
            path.unlink(missing_ok=True)
            beside.unlink(missing_ok=True)
            return
        written = {cell: _written(entries[cell]) for cell in sorted(entries)}
        data = {"format": FORMAT, "scenario": scenario, "cells": {cell: head for cell, (head, _) in written.items()}}
        answers = "".join(f"{line}\n" for _, lines in written.values() for line in lines)
        write_together({beside: answers, path: _spread(data) + "\n"})


def _entry(path: Path, cell: str, head: Mapping[str, Any], lines: _Lines) -> Entry:
    """Make the entry of a cell of its parts in both files."""
    faults = {
        False: f"the answers of {cell} are not those that its measures come from",
        True: f"the anchor's answers of {cell} are not those that were written",
    }

    def answers(part: Mapping[str, Any], *, anchor: bool) -> Mapping[str, Any]:
        line, digest = lines.get((cell, anchor), ({}, ""))
        if digest != part["answers_sha256"]:
            raise _unusable(path, faults[anchor])
        return line

    current = answers(head, anchor=False)
    first = Anchor.read(head["anchor"], answers(head["anchor"], anchor=True)) if "anchor" in head else None
    return Entry.read(cell, head, current, first)


def _written(entry: Entry) -> tuple[dict[str, Any], list[str]]:
    """Return the head and the lines of an entry, for the two files."""
    line = _line({"cell": entry.cell} | columns_of(entry.answers))
    head = entry.head() | {"answers_sha256": _digest(line)}
    if entry.anchor is None:
        return head, [line]
    first = _line({"anchor": True, "cell": entry.cell} | columns_of(entry.anchor.answers))
    return head | {"anchor": head["anchor"] | {"answers_sha256": _digest(first)}}, [line, first]


def _renewed(new: Entry, old: Entry | None) -> Entry:
    """Return the old entry if its content is the same, else the new one; the same answers add nothing to a drift."""
    if old is None or _evidence(new) != _evidence(old):
        return new
    return old if _content(new) == _content(old) else replace(new, anchor=new.anchor and old.anchor)


def _content(entry: Entry) -> str:
    return _line(replace(entry, anchor=None, commit="", kept="").head() | columns_of(entry.answers))


def _evidence(entry: Entry) -> Any:
    """The part of the answers that a comparison reads."""
    return {key: (answer.answer, answer.probabilities, answer.scores) for key, answer in entry.answers.items()}


def _line(data: Mapping[str, Any]) -> str:
    return json.dumps(data, allow_nan=False, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _spread(data: Any, depth: int = 0) -> str:
    """Return JSON with a line for each value without nested objects, if it is short enough."""
    flat = json.dumps(data, allow_nan=False, ensure_ascii=False)
    nested = isinstance(data, dict) and any(isinstance(value, dict) for value in data.values())
    if not isinstance(data, dict) or (not nested and len(flat) <= _WIDTH):
        return flat
    indent = " " * (depth + 1)
    entries = [f"{indent}{json.dumps(key)}: {_spread(value, depth + 1)}" for key, value in data.items()]
    return "{\n" + ",\n".join(entries) + "\n" + " " * depth + "}"


def _text(path: Path) -> str:
    text = regular(path).read_text(encoding="utf-8")
    if marker := _CONFLICT.search(text):
        line = text.count("\n", 0, marker.start()) + 1
        remedy = "take both files of one side, and run --puma-update-baseline for the cells of the other"
        msg = f"baseline {path}, line {line}: holds a merge conflict; {remedy}"
        raise DataError(msg)
    return text


def _check_format(path: Path, found: Any) -> None:
    if isinstance(found, int) and found > FORMAT:
        msg = (
            f"baseline {path}: format {found} is of a newer pytest-puma; this version reads {FORMAT}; "
            "upgrade pytest-puma, or delete both files and run --puma-update-baseline"
        )
        raise DataError(msg)
    if found != FORMAT:
        raise _unusable(path, f"format {found!r}; expected {FORMAT}")


def _unusable(path: Path, fault: str) -> DataError:
    remedy = "restore both files from version control, or delete them and run --puma-update-baseline"
    return DataError(f"baseline {path}: {fault}; {remedy}")
