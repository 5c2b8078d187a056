"""Data sets of the Hugging Face hub, each split one file at a fixed revision.

    hf:owner/set@3f2c1d9                 the file of a split: the only one with its name, as `data/test-00000.parquet`
    hf:owner/set@3f2c1d9:main/*.jsonl    the only one of the files that match the pattern

The revision is required: a data set that changes would change the numbers. `HF_ENDPOINT`, `HF_HOME`, `HF_TOKEN` and
`HF_HUB_OFFLINE` work as usual. If the hub cannot be reached, files in the cache are used.
"""

from __future__ import annotations

import re
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_puma.core import DataError
from pytest_puma.errors import one_line
from pytest_puma.platform.installation import install_extra

if TYPE_CHECKING:
    from huggingface_hub import HfApi

HUB = "hf:"
_TIMEOUT = 10  # seconds
_REFERENCE = re.compile(r"hf:(?P<name>[\w.-]+/[\w.-]+)@(?P<revision>[\w./-]+?)(?::(?P<pattern>.+))?")
_FORMATS = (".parquet", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".jsonl.gz")


def dataset_file(reference: str, split: str) -> Path:
    """Return the downloaded file of a split, from the hub's cache if it is there.

    A `DataError` reports a wrong reference, a missing library, no connection, and a split with no file or several.
    """
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        msg = f"found {reference!r}; expected hf:owner/set@revision, with a commit or tag as the revision"
        raise DataError(msg)
    try:
        from huggingface_hub import HfApi
    except ImportError as error:
        msg = f"{reference} needs huggingface-hub; install it with: {install_extra('hub')}"
        raise DataError(msg) from error
    name, revision, hub = match["name"], match["revision"], HfApi()
    try:
        files, cached = _files(hub, name, revision)
        chosen = _chosen(reference, split, match["pattern"] or "*", files)
        return Path(hub.hf_hub_download(name, chosen, revision=revision, repo_type="dataset", local_files_only=cached))
    except DataError:
        raise
    except Exception as error:  # the errors of requests and httpx have no common base class
        msg = (
            f"{reference}: cannot get it from {hub.endpoint}, and the cache does not have it ({type(error).__name__}: "
            f"{one_line(error)}); check the name and the revision, or give a local file with --puma-data"
        )
        raise DataError(msg) from error


def _files(hub: HfApi, name: str, revision: str) -> tuple[list[str], bool]:
    """The files of the data set, and whether they come from the cache because the hub cannot be reached."""
    try:
        info = hub.dataset_info(name, revision=revision, timeout=_TIMEOUT)
        return [file.rfilename for file in info.siblings or ()], False
    except Exception:
        with suppress(FileNotFoundError):  # the cache has nothing either: then report the hub's own error
            folder = Path(hub.snapshot_download(name, revision=revision, repo_type="dataset", local_files_only=True))
            return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()], True
        raise


def _chosen(reference: str, split: str, pattern: str, files: list[str]) -> str:
    rows = [file for file in files if file.endswith(_FORMATS) and fnmatchcase(file, pattern)]
    fitting = [file for file in rows if _is_of(split, file)]
    if len(fitting) == 1:
        return fitting[0]
    found = f"{len(fitting)} files of the split {split!r}" if fitting else f"no file of the split {split!r}"
    there = ", ".join((fitting or rows)[:10]) or "no data files"
    msg = f"{reference}: found {found}; expected one: add a pattern, as in {reference}:*{split}*; there are: {there}"
    raise DataError(msg)


def _is_of(split: str, file: str) -> bool:
    """Whether the name of the file, or of its folder, has the split as a word."""
    path = PurePosixPath(file)
    return any(split in re.split(r"[^A-Za-z]+", part) for part in (path.name, path.parent.name))
