"""Commands that install further libraries, by the way in which this package is installed.

pip and uv record the folder that they installed from in `direct_url.json` (PEP 610):

    {"url": "file:///home/ada/pytest-puma", "dir_info": {"editable": true}}

There the command for the extra `text` is `pip install -e '/home/ada/pytest-puma[text]'`.
"""

from __future__ import annotations

import json
import shlex
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

_PACKAGE = "pytest-puma"


def install(requirements: str) -> str:
    """Return the command that installs requirements. An environment that uv made has no pip of its own."""
    return f"{'uv ' * (_record('INSTALLER') == 'uv')}pip install {requirements}"


def install_extra(name: str) -> str:
    """Return the command that installs an extra of this package."""
    origin = json.loads(_record("direct_url.json") or "{}")
    folder = Path(url2pathname(urlsplit(origin.get("url", "")).path))
    if "dir_info" not in origin or not folder.is_dir():
        # No index needs to have the package: the installed one is taken for it.
        return install(f"'{_PACKAGE}[{name}]'")
    option = "-e " * bool(origin["dir_info"].get("editable"))
    return install(option + shlex.quote(f"{folder}[{name}]"))


def _record(file: str) -> str:
    """The text of a file in the metadata of this package; empty if there is none."""
    try:
        return (distribution(_PACKAGE).read_text(file) or "").strip()
    except PackageNotFoundError:
        return ""
