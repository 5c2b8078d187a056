"""Models from the Hugging Face hub, through `huggingface_hub` (extra `[hub]`), kept in that package's own cache.

    owner/repo:*q4_k_m.gguf

The pattern is a shell's (`*`, `?`, `[...]`, `*` crosses `/`), without regard to upper and lower case, over the GGUF
files of the repository's main branch; a file of exactly that name comes first. `HF_ENDPOINT`, `HF_HOME`, `HF_TOKEN`
and `HF_HUB_OFFLINE` work as everywhere. Without the hub, what the cache holds of the repository is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_puma.core import ModelError
from pytest_puma.models.parts import part_names

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_REFERENCE = re.compile(r"(?P<repository>[^/:]+/[^/:]+):(?P<pattern>.+)")
_SHOWN = 20
_PATIENCE = 10  # seconds


def download(reference: str) -> Path:
    """The local path of the one model that fits, of its first part if it is split.

    Only what is not in the cache is downloaded. A `ModelError` tells what fits instead, or why the hub says no.
    """
    found = _REFERENCE.fullmatch(reference)
    if found is None:
        msg = "expected hf:owner/repo:file-pattern, as in hf:Qwen/Qwen2.5-3B-Instruct-GGUF:*q4_k_m.gguf"
        raise ModelError(msg)
    try:
        from huggingface_hub import HfApi
    except ImportError:
        msg = "this needs the package huggingface_hub; install it with: pip install 'pytest-puma[hub]'"
        raise ModelError(msg) from None
    repository, pattern = found["repository"], found["pattern"]
    hub = HfApi()
    with _reasons(repository, hub.endpoint):
        files, cached = _files(hub, repository, pattern)
        names = _chosen(repository, pattern, files)
        paths = [hub.hf_hub_download(repository, name, local_files_only=cached) for name in names]
    return Path(paths[0])


def _files(hub: HfApi, repository: str, pattern: str) -> tuple[list[str], bool]:
    """The files of the repository, and whether they are only those in the cache, for want of the hub."""
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        # One request; `list_repo_files` would go on trying for half a minute, which the cache makes needless.
        about = hub.model_info(repository, timeout=_PATIENCE)
        return [file.rfilename for file in about.siblings or ()], False
    except RepositoryNotFoundError:
        raise
    except Exception:
        with suppress(FileNotFoundError):  # the cache has nothing either: then the hub's own error counts
            folder = Path(hub.snapshot_download(repository, allow_patterns=pattern, local_files_only=True))
            return [path.relative_to(folder).as_posix() for path in folder.rglob("*.gguf")], True
        raise


def _chosen(repository: str, pattern: str, files: Sequence[str]) -> tuple[str, ...]:
    """The parts of the one model that fits."""
    there = [file for file in files if file.lower().endswith(".gguf")]
    fits = [file for file in there if file == pattern]
    fits = fits or [file for file in there if fnmatchcase(file.lower(), pattern.lower())]
    models = set(map(part_names, fits))
    if not fits:
        msg = f"no GGUF file of {repository} fits {pattern!r}; it has {_listed(there) or 'none'}"
        raise ModelError(msg)
    if len(models) > 1:
        msg = f"{pattern!r} fits {len(models)} models of {repository}: {_listed(fits)}; narrow it down to one"
        raise ModelError(msg)
    (parts,) = models
    _refuse_incomplete(repository, parts, fits, there)
    return parts


def _refuse_incomplete(repository: str, parts: Sequence[str], fits: Sequence[str], there: Sequence[str]) -> None:
    if parts[0] not in fits:
        msg = f"only {', '.join(fits)} fits, one of {len(parts)} parts; ask for the first of them: {parts[0]}"
        raise ModelError(msg)
    if missing := [part for part in parts if part not in there]:
        msg = f"{repository} lacks {len(missing)} of {len(parts)} parts: {', '.join(missing[:3])}; choose another file"
        raise ModelError(msg)


def _listed(files: Iterable[str]) -> str:
    """Joined by commas, a split model once."""
    names = sorted({part_names(file)[0] for file in files})
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


@contextmanager
def _reasons(repository: str, endpoint: str) -> Iterator[None]:
    """Turn what the hub's client raises into a `ModelError`."""
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    try:
        yield
    except ModelError:
        raise
    except GatedRepoError as error:
        page = f"{endpoint}/{repository}"
        msg = f"{repository} is gated: accept its terms at {page}, then 'hf auth login' or set HF_TOKEN"
        raise ModelError(msg) from error
    except RepositoryNotFoundError as error:
        msg = (
            f"{endpoint} has no repository {repository} for you; "
            "check the name, or if it is private, 'hf auth login' or set HF_TOKEN"
        )
        raise ModelError(msg) from error
    except Exception as error:
        # requests, httpx or httpx2, by the version of huggingface_hub: their errors have no base in common.
        reason = str(error).strip().partition("\n")[0] or "no reason given"
        msg = f"cannot get it from {endpoint}, and the cache does not have it: {type(error).__name__}: {reason}"
        raise ModelError(msg) from error
