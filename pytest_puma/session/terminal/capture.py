"""Lines of ours on the terminal: whether pytest has one, and while it captures what tests write."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest


def uncaptured(config: pytest.Config) -> AbstractContextManager[None]:
    """Let the terminal show what the block writes."""
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    return nullcontext() if capture is None else capture.global_and_fixture_disabled()


def has_terminal(config: pytest.Config) -> bool:
    """Return whether pytest has its plugin `terminal`: without it there is no terminal writer."""
    return config.pluginmanager.hasplugin("terminalreporter")
