"""Models from the Hugging Face hub, downloaded by `huggingface_hub` (extra `[hub]`) into that package's own cache.

    owner/repo:*q4_k_m.gguf

The pattern is a shell pattern (`*`, `?`, `[...]`; `*` also matches `/`), case-insensitive, over the GGUF files of the
repository's main branch; a file of exactly that name takes precedence. `HF_ENDPOINT`, `HF_HOME`, `HF_TOKEN` and
`HF_HUB_OFFLINE` work as usual. If the hub cannot be reached, files in the cache are used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_puma.core import ModelError
from pytest_puma.models.parts import part_names
from pytest_puma.platform.installation import install_extra

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_REFERENCE = re.compile(r"(?P<repository>[^/:]+/[^/:]+):(?P<pattern>.+)")
_SHOWN = 20
_TIMEOUT = 10  # seconds


def download(reference: str) -> Path:
    """Return the local path of the only model that matches, of its first part if it is split.

    Only files missing from the cache are downloaded. A `ModelError` lists the matching files if they are not one model,
    or gives the hub's reason.
    """
    return _find(reference, _files)


def find_cached(reference: str) -> Path:
    """Return the path of the only cached model that matches, without any connection; a `ModelError` if none does."""
    return _find(reference, lambda *place: (_cached(*place), True))


def _find(reference: str, files_of: Callable[[HfApi, str, str], tuple[list[str], bool]]) -> Path:
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        msg = "expected hf:owner/repo:file-pattern, as in hf:Qwen/Qwen2.5-3B-Instruct-GGUF:*q4_k_m.gguf"
        raise ModelError(msg)
    try:
        from huggingface_hub import HfApi
    except ImportError:
        msg = f"this needs the package huggingface_hub; install it with: {install_extra('hub')}"
        raise ModelError(msg) from None
    repository, pattern = match["repository"], match["pattern"]
    hub = HfApi()
    with _reasons(repository, hub.endpoint):
        files, cached = files_of(hub, repository, pattern)
        names = _chosen(repository, pattern, files)
        paths = [hub.hf_hub_download(repository, name, local_files_only=cached) for name in names]
    return Path(paths[0])


def _files(hub: HfApi, repository: str, pattern: str) -> tuple[list[str], bool]:
    """The files of the repository, and whether they come from the cache because the hub cannot be reached."""
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        # One request; `list_repo_files` would retry for half a minute, which is useless if the cache has the file.
        info = hub.model_info(repository, timeout=_TIMEOUT)
        return [file.rfilename for file in info.siblings or ()], False
    except RepositoryNotFoundError:
        raise
    except Exception:
        with suppress(FileNotFoundError):  # the cache has nothing either: then report the hub's own error
            return _cached(hub, repository, pattern), True
        raise


def _cached(hub: HfApi, repository: str, pattern: str) -> list[str]:
    """The files of the repository in the cache."""
    folder = Path(hub.snapshot_download(repository, allow_patterns=pattern, local_files_only=True))
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*.gguf")]


def _chosen(repository: str, pattern: str, files: Sequence[str]) -> tuple[str, ...]:
    """The parts of the only model that matches."""
    there = [file for file in files if file.lower().endswith(".gguf")]
    fits = [file for file in there if file == pattern]
    fits = fits or [file for file in there if fnmatchcase(file.lower(), pattern.lower())]
    models = set(map(part_names, fits))
    if not fits:
        msg = f"no GGUF file of {repository} matches {pattern!r}; it has {_listed(there) or 'none'}"
        raise ModelError(msg)
    if len(models) > 1:
        msg = f"{pattern!r} matches {len(models)} models of {repository}: {_listed(fits)}; narrow it down to one"
        raise ModelError(msg)
    (parts,) = models
    _refuse_incomplete(repository, parts, fits, there)
    return parts


def _refuse_incomplete(repository: str, parts: Sequence[str], fits: Sequence[str], there: Sequence[str]) -> None:
    if parts[0] not in fits:
        msg = f"only {', '.join(fits)} matches, one of {len(parts)} parts; name the first of them: {parts[0]}"
        raise ModelError(msg)
    if missing := [part for part in parts if part not in there]:
        msg = f"{repository} lacks {len(missing)} of {len(parts)} parts: {', '.join(missing[:3])}; choose another file"
        raise ModelError(msg)


def _listed(files: Iterable[str]) -> str:
    """The files joined by commas, a split model once."""
    names = sorted({part_names(file)[0] for file in files})
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


@contextmanager
def _reasons(repository: str, endpoint: str) -> Iterator[None]:
    """Turn exceptions of the hub's client into a `ModelError`."""
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
        # requests, httpx or httpx2, by the version of huggingface_hub: their errors have no common base class.
        reason = str(error).strip().partition("\n")[0] or "no reason given"
        msg = f"cannot get it from {endpoint}, and the cache does not have it: {type(error).__name__}: {reason}"
        raise ModelError(msg) from error
