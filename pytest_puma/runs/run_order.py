"""The order of a project's runs: `.puma/runs.txt` has the name of each run folder, in the order in which they began.

    20261125T101500-77
    20261125T103012-95

So no clock that was wrong for a day hides the newest run. Folders that are not in the file are older than those that
are, in the order of their names: somebody copied them.
"""

from __future__ import annotations

from pathlib import Path

from pytest_puma.platform.files import PRIVATE, append, regular
from pytest_puma.platform.locks import locked

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
