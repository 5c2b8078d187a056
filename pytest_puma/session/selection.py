"""Whether the user asked for all tests, or for some."""

from __future__ import annotations

import pytest

_OPTIONS = ("keyword", "markexpr", "puma_scenario", "puma_strategy", "deselect", "lf", "stepwise")


def is_selected(config: pytest.Config) -> bool:
    """Whether a part of the tests was asked for: by name, mark, file, scenario or strategy, or those that failed."""
    parts = any("::" in argument or argument.endswith((".py", ".yaml", ".yml")) for argument in config.args)
    return parts or any(getattr(config.option, name, None) for name in _OPTIONS)
