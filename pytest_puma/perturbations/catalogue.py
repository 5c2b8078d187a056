"""The perturbations by name, and the parser of a name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from pytest_puma.core import SettingsError
from pytest_puma.perturbations import characters, insertions, register, truncation
from pytest_puma.perturbations.perturbation import Group, Perturbation, Rated
from pytest_puma.phrases import did_you_mean

ALL = (
    "typos_5pct",
    "case_upper",
    "case_lower",
    "random_case",
    "truncate_50pct",
    "truncate_middle_50pct",
    "tech_noise",
    "register_shift_informal",
    "gender_swap_prefix_male",
    "gender_swap_prefix_female",
    "editor_10pct",
    "permute_10pct",
    "replace_10pct",
    "delete_10pct",
    "label_order",
)

_MAX_PERCENT = 100


class _Family(NamedTuple):
    """Perturbations that differ in their share, and the default share."""

    change: Rated
    percent: int
    protects: bool = False


_FAMILIES: Mapping[str, _Family] = {
    "typos": _Family(characters.typos, 5, protects=True),
    "truncate": _Family(truncation.end, 50),
    "truncate_middle": _Family(truncation.middle, 50),
    "editor": _Family(characters.editor, 10, protects=True),
    "permute": _Family(characters.permute, 10, protects=True),
    "replace": _Family(characters.replace, 10, protects=True),
    "delete": _Family(characters.delete, 10, protects=True),
}

_PLAIN: Mapping[str, Perturbation] = {
    perturbation.name: perturbation
    for perturbation in (
        Perturbation(name="case_upper", change=characters.upper),
        Perturbation(name="case_lower", change=characters.lower),
        Perturbation(name="random_case", change=characters.random_case),
        Perturbation(name="tech_noise", change=insertions.tech_noise),
        Perturbation(name="register_shift_informal", change=register.informal, protects=True),
        Perturbation(name="gender_swap_prefix_male", change=insertions.man, group=Group("gender", "male")),
        Perturbation(name="gender_swap_prefix_female", change=insertions.woman, group=Group("gender", "female")),
        Perturbation(name="label_order", change=None),
    )
}


def parse_perturbation(text: str, own: Mapping[str, Perturbation] | None = None) -> Perturbation:
    """Return the perturbation that a user names; `own` are those of plugins, by name.

    A `SettingsError` lists the existing names, and the nearest.
    """
    name = text.strip().lower().replace("-", "_")
    known = {**_PLAIN, **(own or {})}
    if name in known:
        return known[name]
    match = re.fullmatch(r"([a-z_]+?)(?:_([0-9]{1,3})pct)?", name)
    if match is None or match[1] not in _FAMILIES:
        raise SettingsError(_unknown(text, name, own or {}))
    family = _FAMILIES[match[1]]
    percent = family.percent if match[2] is None else int(match[2])
    if not 0 < percent <= _MAX_PERCENT:
        msg = (
            f"perturbation {text!r}: the share is {percent} %; expected {match[1]}_Npct with N from 1 to {_MAX_PERCENT}"
        )
        raise SettingsError(msg)
    return Perturbation(
        name=f"{match[1]}_{percent}pct",
        change=partial(family.change, rate=percent / _MAX_PERCENT),
        protects=family.protects,
    )


def is_built_in(name: str) -> bool:
    """Whether a name means a built-in perturbation."""
    try:
        parse_perturbation(name)
    except SettingsError:
        return False
    return True


def _unknown(text: str, name: str, own: Mapping[str, Perturbation]) -> str:
    names = [*ALL, *own]
    hint = did_you_mean(name, [*names, *_FAMILIES])
    return (
        f"perturbation {text!r} is unknown; {hint}there are: {', '.join(names)}, "
        f"and with any other share {', '.join(f'{family}_Npct' for family in _FAMILIES)}"
    )
