"""Templates of a project that define a strategy.

`prompts/<scenario>/rules.jinja` defines the strategy `rules`. It asks as `zero_shot` does, or as the strategy that its
first comment names:

    {# strategy: zero_shot_cot #}
    ...
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pytest_puma.core import SettingsError
from pytest_puma.strategies.catalogue import Strategy, is_built_in, parse_strategy
from pytest_puma.strategies.templates import NAME, SUFFIX

_DEFAULT = "zero_shot"
_COMMENT = re.compile(r"\s*\{#-?\s*strategy:\s*(.*?)\s*-?#\}")
#: Words of the option and of gates, reserved.
_TAKEN = frozenset({"all", "baseline", "naive", "per_class", "max", "min"})


def templated(prompts: Path, custom: Mapping[str, Strategy]) -> dict[str, Strategy]:
    """Return a strategy for each template in the folders of `prompts` that belongs to none of `custom`, of plugins.

    Partials (`_issue.jinja`) and files without a name like a strategy are skipped. A `SettingsError` names a file with
    an invalid name or comment.
    """
    used = {template for strategy in custom.values() for template in strategy.templates}
    chosen: dict[str, Strategy] = {}
    for path in sorted(prompts.glob(f"*/*{SUFFIX}")):
        name = path.name.removesuffix(SUFFIX)
        if name in used or is_built_in(name) or not NAME.fullmatch(name):
            continue
        if name in _TAKEN or name in custom:
            msg = f"{path}: {name!r} is taken and cannot be the name of a new strategy; rename the file"
            raise SettingsError(msg)
        strategy = _conversation(path, custom)
        if chosen.setdefault(name, strategy).name != strategy.name:
            elsewhere = f"elsewhere {name} asks as {chosen[name].name}"
            msg = f"{path}: asks as {strategy.name} does, {elsewhere}; expected one of the two"
            raise SettingsError(msg)
    return {name: replace(strategy, name=name, templates=(name,)) for name, strategy in chosen.items()}


def _conversation(path: Path, custom: Mapping[str, Strategy]) -> Strategy:
    """The strategy whose conversation a template uses."""
    try:
        comment = _COMMENT.match(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        comment = None  # reported where the template is used
    try:
        return parse_strategy(comment[1] if comment else _DEFAULT, custom)
    except SettingsError as error:
        msg = f"{path}: {error}"
        raise SettingsError(msg) from error
