"""Removal of the predictions of older runs, which fill the disk. Their records stay."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_puma.platform.locks import is_locked
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.runs.run_folder import PREDICTIONS
from pytest_puma.runs.run_order import oldest_first


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """The number of runs whose predictions were removed, their size in bytes, and the reasons why others were not."""

    runs: int = 0
    size: int = 0
    faults: tuple[str, ...] = ()


def prune(root: Path, *, keep: int, protected: Collection[Path]) -> Pruned:
    """Remove the predictions of all runs of a project but the newest `keep`.

    A run that another process still writes stays, and so do the `protected` folders and those behind a link.
    """
    files = oldest_first(runs_of(root), PREDICTIONS)[:-keep]
    stay = {folder.resolve() for folder in protected}
    sizes: list[int] = []
    faults: list[str] = []
    for file in files:
        if file.parent.resolve() not in stay and not file.parent.is_symlink():
            _remove(file, sizes, faults)
    return Pruned(runs=len(sizes), size=sum(sizes), faults=tuple(faults))


def _remove(file: Path, sizes: list[int], faults: list[str]) -> None:
    # Another run may have removed it since it was listed.
    with suppress(FileNotFoundError):
        try:
            if not is_locked(file.parent):
                size = file.stat().st_size
                file.unlink()
                sizes.append(size)
        except PermissionError as error:
            faults.append(str(error))
