"""Selected tests: whether the user runs the whole project or a part of it."""

from __future__ import annotations

import pytest

_OPTIONS = ("keyword", "markexpr", "puma_scenario", "puma_strategy", "puma_only_flips", "deselect", "lf", "stepwise")
#: Options that replace the cells of the tests.
_NARROWING = ("puma_model", "puma_strategy", "puma_perturb", "puma_rescore")


def is_selected(config: pytest.Config) -> bool:
    """Whether only a part of the tests runs: by name, mark, file, scenario, strategy, last failures or flips."""
    return _names_files(config) or any(getattr(config.option, name, None) for name in _OPTIONS)


def is_part(config: pytest.Config) -> bool:
    """Whether the collection may lack cells of the project; later deselection does not count."""
    narrowed = any(getattr(config.option, name, None) for name in _NARROWING)
    return narrowed or _names_files(config) or leaves_out(config)


def leaves_out(config: pytest.Config) -> bool:
    """Whether the command line ignores files; files that the ini file ignores are no part of the project."""
    return any(str(argument).startswith("--ignore") for argument in config.invocation_params.args)


def _names_files(config: pytest.Config) -> bool:
    return any("::" in argument or argument.endswith((".py", ".yaml", ".yml")) for argument in config.args)
