"""Data sets of the Hugging Face hub, each split one file at a fixed revision.

    hf:owner/set@3f2c1d9                 the file of a split: the only one with its name, as `data/test-00000.parquet`
    hf:owner/set@3f2c1d9:main/*.jsonl    the only one of the files that match the pattern

The revision is required: a data set that changes would change the numbers.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from pytest_puma.core import DataError

HUB = "hf:"
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
        from huggingface_hub import HfApi, hf_hub_download
    except ImportError as error:
        msg = f"{reference} needs huggingface-hub; install it with: pip install 'pytest-puma[hub]'"
        raise DataError(msg) from error
    name, revision = match["name"], match["revision"]
    try:
        files = HfApi().list_repo_files(name, revision=revision, repo_type="dataset")
        chosen = _chosen(reference, split, match["pattern"] or "*", files)
        return Path(hf_hub_download(name, chosen, revision=revision, repo_type="dataset"))
    except DataError:
        raise
    except Exception as error:  # the errors of requests and httpx have no common base class
        reason = " ".join(str(error).split())[:200]
        msg = f"{reference}: cannot be read ({type(error).__name__}: {reason}); give a local file with --puma-data"
        raise DataError(msg) from error


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
