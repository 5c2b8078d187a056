"""Files of the Hugging Face hub, downloaded by `huggingface_hub` (extra `[hub]`) into that package's own cache.

    hf:owner/set@3f2c1d9                 the file of a split: the only one with its name, as `data/test-00000.parquet`
    hf:owner/set@3f2c1d9:main/*.jsonl    the only one of the files that match the pattern

The revision of a data set is required: one that changes would change the numbers. Places of models are described in
`models/sources.py`. `HF_ENDPOINT`, `HF_HOME`, `HF_TOKEN` and `HF_HUB_OFFLINE` work as usual. If the hub cannot be
reached, files in the cache are used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from pytest_puma.core import DataError
from pytest_puma.errors import PumaError
from pytest_puma.phrases import described, named
from pytest_puma.platform.installation import install_extra

if TYPE_CHECKING:
    from huggingface_hub import HfApi

HUB = "hf:"
_TIMEOUT = 10  # seconds
_REFERENCE = re.compile(r"hf:(?P<name>[\w.-]+/[\w.-]+)@(?P<revision>[\w./-]+?)(?::(?P<pattern>.+))?")
_FORMATS = (".parquet", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".jsonl.gz")


class HubError(Exception):
    """The hub has no such repository, or refuses it, or cannot be reached; the message is a sentence for the user."""


def download(
    name: str,
    choose: Callable[[Sequence[str]], Sequence[str]],
    *,
    kind: Literal["model", "dataset"] = "model",
    revision: str | None = None,
    connect: bool = True,
) -> Path:
    """Return the local path of the first of the files that `choose` returns from all files of a repository.

    Only files missing from the cache are downloaded; without `connect`, the cache alone is read. Raises a `HubError`,
    and the `PumaError` of `choose`.
    """
    try:
        from huggingface_hub import HfApi
        from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError
    except ImportError as error:
        msg = f"this needs the package huggingface_hub; install it with: {install_extra('hub')}"
        raise HubError(msg) from error
    hub = HfApi()
    try:
        files, cached = _files(hub, name, kind, revision) if connect else (_cached(hub, name, kind, revision), True)
        get = partial(hub.hf_hub_download, name, revision=revision, repo_type=kind, local_files_only=cached)
        paths = [get(file) for file in choose(files)]
        return Path(paths[0])
    except PumaError:
        raise
    except GatedRepoError as error:
        msg = f"{name} is gated: accept its terms at {hub.endpoint}/{name}, then 'hf auth login' or set HF_TOKEN"
        raise HubError(msg) from error
    except RepositoryNotFoundError as error:
        msg = (
            f"{hub.endpoint} has no repository {name} for you; "
            "check the name, or if it is private, 'hf auth login' or set HF_TOKEN"
        )
        raise HubError(msg) from error
    except Exception as error:
        # requests, httpx or httpx2, by the version of huggingface_hub: their errors have no common base class.
        msg = f"cannot get it from {hub.endpoint}, and the cache does not have it: {described(error)}"
        raise HubError(msg) from error


def _files(hub: HfApi, name: str, kind: str, revision: str | None) -> tuple[list[str], bool]:
    """The files of the repository, and whether they come from the cache because the hub cannot be reached."""
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        # One request; `list_repo_files` would retry for half a minute, which is useless if the cache has the file.
        describe = hub.dataset_info if kind == "dataset" else hub.model_info
        info = describe(name, revision=revision, timeout=_TIMEOUT)
        return [file.rfilename for file in info.siblings or ()], False
    except RepositoryNotFoundError:
        raise
    except Exception:
        with suppress(FileNotFoundError):  # the cache has nothing either: then report the hub's own error
            return _cached(hub, name, kind, revision), True
        raise


def _cached(hub: HfApi, name: str, kind: str, revision: str | None) -> list[str]:
    """The files of the repository in the cache."""
    folder = Path(hub.snapshot_download(name, repo_type=kind, revision=revision, local_files_only=True))
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def dataset_file(reference: str, split: str) -> Path:
    """Return the downloaded file of a split, from the hub's cache if it is there.

    A `DataError` reports a wrong reference, a missing library, no connection, and a split with no file or several.
    """
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        msg = f"found {reference!r}; expected hf:owner/set@revision, with a commit or tag as the revision"
        raise DataError(msg)
    choose = partial(_file_of_split, reference, split, match["pattern"] or "*")
    try:
        return download(match["name"], choose, kind="dataset", revision=match["revision"])
    except HubError as error:
        msg = f"{reference}: {error}; or give a local file with --puma-data"
        raise DataError(msg) from error


def _file_of_split(reference: str, split: str, pattern: str, files: Sequence[str]) -> list[str]:
    rows = [file for file in files if file.endswith(_FORMATS) and fnmatchcase(file, pattern)]
    fitting = [file for file in rows if _is_of(split, file)]
    if len(fitting) == 1:
        return fitting
    found = f"{len(fitting)} files of the split {split!r}" if fitting else f"no file of the split {split!r}"
    advice = f"add a pattern, as in {reference}:*{split}*; there are: {named(fitting or rows, 10)}"
    msg = f"{reference}: found {found}; expected one: {advice}"
    raise DataError(msg)


def _is_of(split: str, file: str) -> bool:
    """Whether the name of the file, or of its folder, has the split as a word."""
    path = PurePosixPath(file)
    return any(split in re.split(r"[^A-Za-z]+", part) for part in (path.name, path.parent.name))
