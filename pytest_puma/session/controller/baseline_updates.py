"""Baselines during a run: missing ones, those of removed tests, and the update at the end."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

import pytest

from pytest_puma.baseline.entry import Entry
from pytest_puma.baseline.folder import Written
from pytest_puma.core import Outcome, PumaError
from pytest_puma.metrics import source_of
from pytest_puma.phrases import named
from pytest_puma.planning.settings import Settings
from pytest_puma.report.rows import number
from pytest_puma.session.items.collected import Collected
from pytest_puma.session.settings.config import is_selected
from pytest_puma.session.settings.invocation import of_git
from pytest_puma.session.settings.project import project_root

_MAX_NAMED, _MAX_LOWERED = 3, 10
#: The option `chat` of a model by what the signature of its engine says.
_CHAT = {"True": "on", "False": "off"}


class BaselineUpdater:
    """Baseline updates of a run, in the process that receives every report."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._config = config
        self._root = project_root(config)
        self._models = {model.name for model in settings.request.models}
        self._baselines = settings.judging.baselines
        self._accepts, self._prunes = settings.judging.policy.accepts, bool(config.option.puma_prune_baseline)
        self._commit = of_git(self._root).revision if self._accepts else ""
        self._measured: dict[str, Entry] = {}
        self._worse: dict[str, list[str]] = {}
        self._replaced: dict[str, str] = {}
        self._entries: list[Entry] = []
        self._faults: list[str] = []
        try:
            self._entries = self._baselines.entries()
        except PumaError as error:
            self._faults.append(str(error))

    def note(self, cells: Collection[str]) -> str | None:
        """Return the note before a run in which some cells have a baseline and others have none."""
        if self._accepts:
            return None
        stored = {entry.cell for entry in self._entries}
        without = [cell for cell in cells if cell not in stored]
        if not stored or not without:
            return None
        some = named(without, _MAX_NAMED)
        return f"puma: {len(without)} of {len(cells)} cells have no baseline: {some}; --puma-update-baseline makes one"

    def take(self, nodeid: str, outcome: Outcome) -> None:
        """Keep an outcome as the next baseline, if requested."""
        if not self._accepts:
            return
        old = next((entry for entry in self._entries if entry.cell == outcome.cell), None)
        entry = Entry.of(outcome, commit=self._commit, test=self._test(nodeid), source_of=source_of, old=old)
        self._measured[outcome.cell] = entry
        self._worse[outcome.cell] = [] if old is None else _worse(outcome, entry, old)
        self._replaced[outcome.cell] = "" if old is None else _replaced(entry, old)

    def gone(self, collected: Collected | None) -> list[Entry]:
        """Return the entries without a test, so that a renamed test does not lose its baseline unnoticed.

        The result is empty if only a part of the tests was selected, and leaves out files that were not read to the
        end: ignored, skipped, or with an error. Deselected tests exist. A perturbed cell, which may run only now and
        then, is gone if its unperturbed twin is.
        """
        if collected is None or is_selected(self._config):
            return []
        read = {(self._config.rootpath / file).resolve() for file in collected.files}
        return [
            entry
            for entry in self._entries
            if str(entry.name.without("perturbation")) not in collected.cells
            and entry.name.model in self._models
            and self._would_be(entry, read)
        ]

    def problems(self, collected: Collected | None) -> list[str]:
        """Return sentences on entries without a test, and on files that cannot be read."""
        # An update of the baselines only reports entries without a test.
        try:
            gone = [] if self._accepts or self._prunes else self.gone(collected)
        except OSError as error:
            return [*self._faults, f"the tests of the baselines cannot be found: {error}"]
        return self._faults + [
            f"{entry.cell} has a baseline, but {entry.test} no longer runs it; "
            "restore its name, or run --puma-prune-baseline"
            for entry in gone
        ]

    def finish(self, collected: Collected | None) -> list[str]:
        """Write the requested baselines; return a line for each change. Raises `PumaError` or `OSError`."""
        gone = self.gone(collected) if self._accepts or self._prunes else []
        written = self._baselines.write(list(self._measured.values()), gone if self._prunes else [])
        kept = [f"baseline: no test runs {entry.cell} any more; --puma-prune-baseline removes it" for entry in gone]
        return [*map(self._line, written), *self._changed(), *self._lowered(), *([] if self._prunes else kept)]

    def skip(self) -> list[str]:
        """Write nothing, as the run did not reach its end; return a line on this if any were requested."""
        if not self._accepts and not self._prunes:
            return []
        return ["baselines are unchanged, as the run did not reach its end"]

    def _test(self, nodeid: str) -> str:
        """Return the id of the test function relative to the root of the project, not to that of pytest."""
        file, colons, function = nodeid.partition("[")[0].partition("::")
        path = os.path.relpath(self._config.rootpath / file, self._root)
        return f"{Path(path).as_posix()}{colons}{function}"

    def _line(self, written: Written) -> str:
        counts = {"new": written.new, "changed": written.changed, "unchanged": written.same, "removed": written.gone}
        shown = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
        return f"baseline: {os.path.relpath(written.path, self._config.invocation_params.dir)}: {shown}"

    def _changed(self) -> list[str]:
        """Return a line for each sentence on what else changed since baselines that were replaced."""
        cells: dict[str, list[str]] = {}
        for cell, sentence in self._replaced.items():
            cells.setdefault(sentence, []).append(cell)
        return [f"baseline replaced: {named(alike, 1)}; {text}" for text, alike in cells.items() if text]

    def _lowered(self) -> list[str]:
        """Return a line for each accepted number that is worse than that of the baseline before."""
        lines = [line for of_cell in self._worse.values() for line in of_cell]
        rest = len(lines) - _MAX_LOWERED
        return [*lines[:_MAX_LOWERED], *([f"baseline: {rest} more numbers are worse than before"] if rest > 0 else [])]

    def _would_be(self, entry: Entry, read: Collection[Path]) -> bool:
        """Whether this run would have collected the test of an entry: its file was read, or is deleted."""
        file = (self._root / entry.test.partition("::")[0]).resolve()
        if file.exists():
            return file in read
        folders = [self._config.invocation_params.dir / argument for argument in self._config.args]
        return any(file.is_relative_to(folder.resolve()) for folder in folders)


def _replaced(new: Entry, old: Entry) -> str:
    """Return what else changed since the old baseline, empty if nothing did; the words are those of gates on it."""
    samples, kept = ({sample for sample, _ in entry.answers} for entry in (old, new))
    lost = len(samples - kept)
    gone = [f"{lost} of the {len(samples)} samples of the old one are not in the new one"] if lost else []
    changed = old.changed(new.signature)
    sentence = "; ".join([*gone, *([f"changed since: {', '.join(changed)}"] if changed else [])])
    was, now = (entry.signature.get("engine", {}).get("chat") for entry in (old, new))
    if was == now or was not in _CHAT or now not in _CHAT:
        return sentence
    # A model has one name with and without `chat=off`, and the name identifies its baselines.
    return (
        f"{sentence}; it had chat={_CHAT[was]}, this run has chat={_CHAT[now]}: to keep both, restore the old one from "
        "version control, and give this model another name: --puma-model NAME=FILE"
    )


def _worse(outcome: Outcome, new: Entry, old: Entry) -> list[str]:
    """Return a line for the primary metric and each metric of a gate that is worse than in the old baseline."""
    metrics = dict.fromkeys((outcome.primary, *(verdict.gate.metric for verdict in outcome.judgement.verdicts)))
    lines = []
    for name in (metric for metric in metrics if metric in new.measures and metric in old.measures):
        value, before = new.measures[name]["value"], old.measures[name]["value"]
        better = outcome.measures[name].better
        if before is None or value == before or better == "neither":
            continue
        if value is None or (value < before) == (better == "high"):
            word, aside = ("raised", ", where less is better") if better == "low" else ("lowered", "")
            lines.append(f"baseline {word}: {name} {_from_to(before, value)} ({outcome.cell}){aside}")
    return lines


def _from_to(before: float, value: float | None) -> str:
    """Return both numbers with as many digits as tell them apart."""
    texts = number(before), "nothing" if value is None else number(value)
    return " -> ".join(texts if texts[0] != texts[1] else (f"{before:g}", f"{value:g}"))
