"""Where the browser of the tests is, and what happens without it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def missing(what: str) -> NoReturn:
    """Skip the test, or fail where a browser is required."""
    if os.environ.get("PUMA_BROWSER") == "required":
        pytest.fail(f"PUMA_BROWSER=required, but {what}")
    pytest.skip(
        f"THE VIEWER IS NOT TESTED: {what}; install Debian's chromium, nodejs and npm, and run npm ci in tools/viewer"
    )
