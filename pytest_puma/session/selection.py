"""Whether the user asked for all tests, or for some."""

from __future__ import annotations

import pytest

_OPTIONS = ("keyword", "markexpr", "puma_scenario", "puma_strategy", "puma_only_flips", "deselect", "lf", "stepwise")
#: What makes other cells than the tests' own.
_NARROWING = ("puma_model", "puma_strategy", "puma_perturb")


def is_selected(config: pytest.Config) -> bool:
    """Whether a part was asked for: by name, mark, file, scenario or strategy, what failed, or what turned."""
    return _names_files(config) or any(getattr(config.option, name, None) for name in _OPTIONS)


def is_part(config: pytest.Config) -> bool:
    """Whether cells of the project may be left out of the collection; what is deselected later is not meant."""
    narrowed = any(getattr(config.option, name, None) for name in _NARROWING)
    return narrowed or _names_files(config) or leaves_out(config)


def leaves_out(config: pytest.Config) -> bool:
    """Whether the command line says to leave files out; what the ini file always leaves out is no part of the whole."""
    return any(str(argument).startswith("--ignore") for argument in config.invocation_params.args)


def _names_files(config: pytest.Config) -> bool:
    return any("::" in argument or argument.endswith((".py", ".yaml", ".yml")) for argument in config.args)
