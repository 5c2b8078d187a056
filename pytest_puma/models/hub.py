"""Models from the Hugging Face hub, through `huggingface_hub` (extra `[hub]`), kept in that package's own cache.

    owner/repo:*q4_k_m.gguf

The pattern is a shell's (`*`, `?`, `[...]`, `*` crosses `/`), without regard to upper and lower case, over the GGUF
files of the repository's main branch; a file of exactly that name comes first. `HF_ENDPOINT`, `HF_HOME`, `HF_TOKEN`
and `HF_HUB_OFFLINE` work as everywhere. Without the hub, what the cache holds of the repository is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_puma.core import ModelError
from pytest_puma.models.parts import part_names

_REFERENCE = re.compile(r"(?P<repository>[^/:]+/[^/:]+):(?P<pattern>.+)")
_SHOWN = 20


def download(reference: str) -> Path:
    """The local path of the one model that fits, of its first part if it is split.

    Only what is not in the cache is downloaded. A `ModelError` tells what fits instead, or why the hub says no.
    """
    found = _REFERENCE.fullmatch(reference)
    if found is None:
        msg = "expected hf:owner/repo:file-pattern, as in hf:Qwen/Qwen2.5-3B-Instruct-GGUF:*q4_k_m.gguf"
        raise ModelError(msg)
    try:
        from huggingface_hub import hf_hub_download
    except ImportError:
        msg = "this needs the package huggingface_hub; install it with: pip install 'pytest-puma[hub]'"
        raise ModelError(msg) from None
    repository, pattern = found["repository"], found["pattern"]
    with _reasons(repository):
        files, cached = _files(repository, pattern)
        names = _chosen(files, pattern)
        paths = [hf_hub_download(repository, name, local_files_only=cached) for name in names]
    return Path(paths[0])


def _files(repository: str, pattern: str) -> tuple[list[str], bool]:
    """The files of the repository, and whether they are only those that the cache has, for want of the hub."""
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError

    try:
        return HfApi().list_repo_files(repository), False
    except RepositoryNotFoundError:
        raise
    except Exception:  # whatever the HTTP library beneath raises; see _reasons
        try:
            folder = Path(snapshot_download(repository, allow_patterns=pattern, local_files_only=True))
        except FileNotFoundError:
            folder = None
        if folder is None:
            raise
        return [path.relative_to(folder).as_posix() for path in folder.rglob("*.gguf")], True
