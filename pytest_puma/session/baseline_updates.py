"""Baselines on pytest's side: which cells have none, which are gone, and what a run makes of them at its end."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_puma.session.collected import Collected
from pytest_puma.session.config import model_names, settings_of
from pytest_puma.session.project import project_root
from pytest_puma.session.selection import is_selected

if TYPE_CHECKING:
    from pytest_puma.baseline import Baselines, Entry, Written
    from pytest_puma.core import Outcome

_NAMED = 3


class BaselineUpdater:
    """Of a run, in the process that sees every report."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._root = project_root(config)
        self._measured: dict[str, Entry] = {}
        self._faults: list[str] = []

    def note(self, cells: Collection[str]) -> str | None:
        """Said before the run where some of its cells have a baseline and others have none."""
        if self._accepts:
            return None
        known = {entry.cell for entry in self._entries}
        without = [cell for cell in cells if cell not in known]
        if not known or not without:
            return None
        some = ", ".join(without[:_NAMED]) + (" and others" if len(without) > _NAMED else "")
        return f"puma: {len(without)} of {len(cells)} cells have no baseline: {some}; --puma-update-baseline makes one"

    def take(self, nodeid: str, outcome: Outcome) -> None:
        """Keep what will be the baseline, where that was asked for."""
        if not self._accepts:
            return
        from pytest_puma.baseline import Entry

        old = next((entry for entry in self._entries if entry.cell == outcome.cell), None)
        self._measured[outcome.cell] = Entry.of(outcome, commit=self._commit, test=self._test(nodeid), old=old)

    def gone(self, found: Collected | None) -> list[Entry]:
        """The entries whose test is no longer there: one that was renamed must not slip through.

        Nothing is known of them where only a part of the tests was asked for, nor of those in a file that was not read
        to its end: left out, skipped, or at fault. What was deselected is there. A perturbed cell, which may be asked
        for on some days alone, is gone when its twin is.
        """
        if found is None or is_selected(self._config):
            return []
        models = model_names(self._config)
        read = {(self._config.rootpath / file).resolve() for file in found.files}
        return [
            entry
            for entry in self._entries
            if entry.twin not in found.cells and entry.model in models and self._would_be(entry, read)
        ]

    def problems(self, found: Collected | None) -> list[str]:
        """Sentences on what is gone, and on files that cannot be read."""
        # Where baselines are made anew, those that nothing asks for are told and not held against the run.
        gone = [] if self._accepts or self._config.option.puma_prune_baseline else self.gone(found)
        return self._faults + [
            f"{entry.cell} has a baseline, but {entry.test} does not ask for it any more; "
            "name it as before, or run --puma-prune-baseline"
            for entry in gone
        ]

    def finish(self, found: Collected | None) -> list[str]:
        """Write what the run was asked to, and tell it; a `PumaError` or an `OSError` where that cannot be."""
        gone = self.gone(found) if self._accepts or self._config.option.puma_prune_baseline else []
        drops = self._config.option.puma_prune_baseline
        written = self._baselines.write(list(self._measured.values()), gone if drops else [])
        kept = [f"baseline: no test asks for {entry.cell} any more; --puma-prune-baseline drops it" for entry in gone]
        return [_told(each) for each in written] + ([] if drops else kept)

    @property
    def _baselines(self) -> Baselines:
        return settings_of(self._config).baselines

    @cached_property
    def _entries(self) -> list[Entry]:
        from pytest_puma.core import PumaError

        try:
            return self._baselines.entries()
        except PumaError as error:
            self._faults.append(str(error))
            return []

    @cached_property
    def _commit(self) -> str:
        return _commit(self._root)

    @property
    def _accepts(self) -> bool:
        return settings_of(self._config).policy.accepts

    def _test(self, nodeid: str) -> str:
        """The function's id from the project's root, wherever pytest has its own."""
        file, colons, function = nodeid.partition("[")[0].partition("::")
        path = os.path.relpath(self._config.rootpath / file, self._root)
        return f"{Path(path).as_posix()}{colons}{function}"

    def _would_be(self, entry: Entry, read: Collection[Path]) -> bool:
        """Whether the entry's test would have been collected if it were there: its file was read, or is deleted."""
        file = (self._root / entry.test.partition("::")[0]).resolve()
        if file.exists():
            return file in read
        folders = [self._config.invocation_params.dir / argument for argument in self._config.args]
        return any(file.is_relative_to(folder.resolve()) for folder in folders)


def _told(written: Written) -> str:
    counts = {"new": written.new, "changed": written.changed, "as before": written.same, "dropped": written.gone}
    told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return f"baseline: {os.path.relpath(written.path)}: {told}"


def _commit(root: Path) -> str:
    """`main@3f2c1d9`, empty where there is no repository or no git."""
    try:
        commit = _git(root, "rev-parse", "--short", "HEAD")
        branch = _git(root, "rev-parse", "--abbrev-ref", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        return ""
    return commit if branch == "HEAD" else f"{branch}@{commit}"


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True)  # noqa: S603, S607
    return done.stdout.strip()
