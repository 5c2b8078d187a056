"""The place of a response store: what is refused there, and where a damaged store is put."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from pytest_puma.platform.files import regular
from pytest_puma.platform.project_folder import responses_of
from pytest_puma.responses.schema import APPLICATION

#: SQLite's log and its shared memory beside the file.
WAL, SHM = "-wal", "-shm"


def checked_place(path: Path) -> Path:
    """The path itself; an `OSError` refuses a pipe, and a link in the folder of a project, which may be from elsewhere.

    A link elsewhere is the wish of somebody who set `puma_store_path`.
    """
    return regular(path, links=not _is_default(path))


def _is_default(path: Path) -> bool:
    path = path.absolute()
    return path == responses_of(path.parent.parent)


def is_ours(path: Path) -> bool:
    """Whether a damaged file is a store: by its place, or by the `application_id` in its header.

    The file of a mistyped `puma_store_path` is none, and is never renamed.
    """
    with path.open("rb") as file:
        return _is_default(path) or file.read(72)[68:] == APPLICATION.to_bytes(4, "big")


def saving(path: Path | str) -> str:
    """How a user gets the answers of a damaged store back: by SQLite's own command."""
    return f"`sqlite3 {path} .recover` prints what can still be read"


def set_aside(path: Path) -> Path:
    """Rename a store with its log; return the new name."""
    names = (path.with_name(f"{path.stem}.damaged-{number}{path.suffix}") for number in count(1))
    aside = next(name for name in names if not name.exists())
    # The store last: if this process is killed here, the next one goes on under the same name, and SQLite deletes a log
    # without its store.
    for suffix in (WAL, SHM, ""):
        file = path.with_name(path.name + suffix)
        if file.exists():
            file.rename(aside.with_name(aside.name + suffix))
    return aside
