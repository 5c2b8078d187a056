"""The run folders of a project in the order in which they began, `.puma/runs.txt`; and the removal of old predictions.

    20261125T101500-77
    20261125T103012-95

So no clock that was wrong for a day hides the newest run. Folders that are not in the file are older than those that
are, in the order of their names: somebody copied them.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_puma.platform.files import PRIVATE, append, regular
from pytest_puma.platform.locks import is_locked, locked
from pytest_puma.platform.project_folder import runs_of

PREDICTIONS, RECORD = "predictions.jsonl", "run.json"
#: Why a run with a record may have no predictions.
REMOVED = (
    "those of older runs are removed (ini key puma_keep_runs), and a run in which every cell ended in an error has none"
)
_NAME = "runs.txt"


def add_run(folder: Path) -> None:
    """Make a run folder the newest one. Raises an `OSError`."""
    path = regular(folder.parent.parent / _NAME, links=False)
    with locked(folder.parent):
        append(path, [f"{folder.name}\n"], end=path.stat().st_size if path.exists() else 0, mode=PRIVATE)


def oldest_first(runs: Path, name: str) -> list[Path]:
    """Return the files of this name in a folder of run folders."""
    order = {name: position for position, name in enumerate(_names(runs.parent / _NAME))}
    return sorted(runs.glob(f"*/{name}"), key=lambda path: (order.get(path.parent.name, -1), *_age(path)))


def newest_run(runs: Path) -> Path | None:
    """Return the `run.json` of the newest finished run in a folder of run folders, None if there is none."""
    return next(reversed(oldest_first(runs, RECORD)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunedRuns:
    """The number of runs whose predictions were removed, their size in bytes, and the reasons why others were not."""

    runs: int = 0
    size: int = 0
    faults: tuple[str, ...] = ()


def prune(root: Path, *, keep: int, protected: Collection[Path]) -> PrunedRuns:
    """Remove the predictions, which fill the disk, of all runs of a project but the newest `keep`; records stay.

    A run that another process still writes stays, and so do the `protected` folders and those behind a link.
    """
    stay = {folder.resolve() for folder in protected}
    sizes: list[int] = []
    faults: list[str] = []
    for file in oldest_first(runs_of(root), PREDICTIONS)[:-keep]:
        folder = file.parent
        # Another run may have removed it since it was listed.
        with suppress(FileNotFoundError):
            try:
                if folder.resolve() not in stay and not folder.is_symlink() and not is_locked(folder):
                    size = file.stat().st_size
                    file.unlink()
                    sizes.append(size)
            except PermissionError as error:
                faults.append(str(error))
    return PrunedRuns(runs=len(sizes), size=sum(sizes), faults=tuple(faults))


def _names(path: Path) -> list[str]:
    try:
        return regular(path, links=False).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _age(path: Path) -> tuple[str, int]:
    """The second in the name of the folder, which copying keeps, then the time of the file."""
    try:
        written = path.stat().st_mtime_ns
    except FileNotFoundError:  # another run has removed it since it was listed
        written = 0
    return path.parent.name.partition("-")[0], written
