"""Skip or failure of a test without its browser."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def missing(what: str) -> NoReturn:
    """Skip the test, or fail where a browser is required."""
    if os.environ.get("PUMA_BROWSER") == "required":
        pytest.fail(f"PUMA_BROWSER=required, but {what}")
    pytest.skip(
        f"THE VIEWER IS NOT TESTED: {what}; install Debian's chromium, nodejs and npm, and run npm ci in tools/viewer"
    )
