"""Fetch the chat templates that llama.cpp collects, for the tests: `python -m tools.chat_templates`.

They are those of the models that people run, in the source package of llama-cpp-python (77 MB), which pip downloads.
The templates go into the user's cache. They belong to their authors, so that none is copied into this project.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

from pytest_puma.models.search import user_cache
from pytest_puma.platform.files import write_whole

_PACKAGE = "llama-cpp-python"
_INSIDE = "/vendor/llama.cpp/models/templates/"


def folder() -> Path:
    """Return the folder of the templates of the installed llama-cpp-python; it may not exist."""
    return user_cache() / "chat_templates" / version(_PACKAGE)


def fetch() -> int:
    """Download the templates, if they are not there; return their number."""
    target = folder()
    if not target.is_dir():
        with tempfile.TemporaryDirectory() as temporary:
            _extract(_download(Path(temporary)), target)
    return len(list(target.glob("*.jinja")))


def _download(into: Path) -> Path:
    """The source package of the installed version; it is not built."""
    subprocess.run(  # noqa: S603 - this interpreter's own pip
        [
            sys.executable,
            *("-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:"),
            *("--no-build-isolation", "--dest", str(into), f"{_PACKAGE}=={version(_PACKAGE)}"),
        ],
        check=True,
    )
    (package,) = into.glob("*.tar.gz")
    return package


def _extract(package: Path, target: Path) -> None:
    staged = package.parent / "templates"
    with tarfile.open(package) as archive:
        for member in archive:
            if _INSIDE in member.name and member.name.endswith(".jinja") and (file := archive.extractfile(member)):
                write_whole(staged / Path(member.name).name, file.read().decode())
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(staged, target)


if __name__ == "__main__":
    print(f"{fetch()} chat templates in {folder()}")
