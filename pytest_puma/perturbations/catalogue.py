"""The perturbations by name, and the parser of a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from pytest_puma.core import SettingsError
from pytest_puma.perturbations import edits, wording
from pytest_puma.perturbations.perturbation import Group, Perturbation
from pytest_puma.phrases import did_you_mean

_MAX_PERCENT = 100


class _BuiltIn(NamedTuple):
    """A change of a text; `percent` is the default share of one that has a rate."""

    change: Callable[..., str] | None
    percent: int | None = None
    protects: bool = False
    group: Group | None = None


_BUILT_IN: Mapping[str, _BuiltIn] = {
    "typos": _BuiltIn(edits.typos, 5, protects=True),
    "case_upper": _BuiltIn(edits.upper),
    "case_lower": _BuiltIn(edits.lower),
    "random_case": _BuiltIn(edits.random_case),
    "truncate": _BuiltIn(edits.truncate, 50),
    "truncate_middle": _BuiltIn(edits.truncate_middle, 50),
    "tech_noise": _BuiltIn(wording.tech_noise),
    "register_shift_informal": _BuiltIn(wording.informal, protects=True),
    "gender_swap_prefix_male": _BuiltIn(wording.man, group=Group("gender", "male")),
    "gender_swap_prefix_female": _BuiltIn(wording.woman, group=Group("gender", "female")),
    "editor": _BuiltIn(edits.editor, 10, protects=True),
    "permute": _BuiltIn(edits.permute, 10, protects=True),
    "replace": _BuiltIn(edits.replace, 10, protects=True),
    "delete": _BuiltIn(edits.delete, 10, protects=True),
    "label_order": _BuiltIn(None),
}
#: The names, with the default share.
ALL = tuple(name if entry.percent is None else f"{name}_{entry.percent}pct" for name, entry in _BUILT_IN.items())


def parse_perturbation(text: str, added: Mapping[str, Perturbation] | None = None) -> Perturbation:
    """Return the perturbation that a user names; `added` are those of plugins, by name.

    A `SettingsError` lists the existing names, and the nearest.
    """
    name = text.strip().lower().replace("-", "_")
    if added and name in added:
        return added[name]
    match = re.fullmatch(r"([a-z_]+?)(?:_([0-9]{1,3})pct)?", name)
    entry = _BUILT_IN.get(match[1]) if match else None
    if match is None or entry is None or (match[2] and entry.percent is None):
        raise SettingsError(_unknown(text, name, added or {}))
    if entry.change is None or entry.percent is None:
        return Perturbation(name=name, change=entry.change, protects=entry.protects, group=entry.group)
    percent = int(match[2] or entry.percent)
    if not 0 < percent <= _MAX_PERCENT:
        share = f"the share is {percent} %; expected {match[1]}_Npct with N from 1 to {_MAX_PERCENT}"
        msg = f"perturbation {text!r}: {share}"
        raise SettingsError(msg)
    change = partial(entry.change, rate=percent / _MAX_PERCENT)
    return Perturbation(name=f"{match[1]}_{percent}pct", change=change, protects=entry.protects)


def is_built_in(name: str) -> bool:
    """Whether a name means a built-in perturbation."""
    try:
        parse_perturbation(name)
    except SettingsError:
        return False
    return True


def _unknown(text: str, name: str, added: Mapping[str, Perturbation]) -> str:
    names = [*ALL, *added]
    families = [family for family, entry in _BUILT_IN.items() if entry.percent is not None]
    hint = did_you_mean(name, [*names, *families])
    return (
        f"perturbation {text!r} is unknown; {hint}there are: {', '.join(names)}, "
        f"and with any other share {', '.join(f'{family}_Npct' for family in families)}"
    )
