"""A perturbation, and its application to a sample.

Some words stay unchanged if a perturbation protects them: another number or name changes the question, and another
label may reveal the answer. Identifiers are words with a digit or a character of code: `pid.cpp`, `max_rows`,
`getName`, `/srv/app`, `a=b`, `3.6`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import NamedTuple, TypeAlias

from pytest_puma.core import Sample, Scenario

# The look-ahead is only tried at the start of a word, so a long word is scanned once.
_IDENTIFIER = r"(?<!\S)(?=\S*?(?:[\d_\\/@=<>{}$#|~^]|[^\W\d_][.:]+[^\W\d_]|[a-z][A-Z]))\S+"
#: Makes another text of a text; the `Random` is its only source of randomness.
Change: TypeAlias = Callable[[str, Random], str]


class Group(NamedTuple):
    """A group of people that a text may mention: an axis such as gender, and a side of it."""

    axis: str
    side: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturbation:
    """A way to change every text of a sample, under a name of lower-case letters, digits and `_`.

    `change` is None if the texts stay and the prompt lists the labels in another order. `protects`: numbers,
    identifiers and the scenario's labels stay; `change` gets the text between them, piece by piece. `group`: the people
    that the changed text mentions. The perturbations of one axis get the same random numbers, so that two sides differ
    in nothing else.
    """

    name: str
    change: Change | None
    protects: bool = False
    group: Group | None = None


def perturb(
    scenario: Scenario, sample: Sample, perturbation: Perturbation, seed: int, texts: Sequence[str] | None = None
) -> Sample:
    """Return the perturbed sample: other texts, the same id, gold and units.

    `texts` names the fields to change; by default the text fields that the scenario declares.
    """
    change = perturbation.change
    if change is None:
        random = _random(scenario, sample, perturbation, seed, "labels")
        return replace(sample, labels=_reordered(_labels(scenario, sample), random))
    labels = (*_labels(scenario, sample), *scenario.protected) if perturbation.protects else ()
    fields = dict(sample.fields)
    for name in scenario.text_fields if texts is None else texts:
        text = fields.get(name)
        if isinstance(text, str) and text.strip():
            random = _random(scenario, sample, perturbation, seed, name)
            fields[name] = _between(text, labels, change, random) if perturbation.protects else change(text, random)
    return replace(sample, fields=fields)


def _labels(scenario: Scenario, sample: Sample) -> list[str]:
    """The labels of the scenario, or the choices of the sample."""
    return [choice.text for choice in sample.choices] or scenario.valid_labels()


def _random(scenario: Scenario, sample: Sample, perturbation: Perturbation, seed: int, field: str) -> Random:
    """Random generator seeded by these arguments alone, in any process."""
    name = perturbation.name if perturbation.group is None else perturbation.group.axis
    parts = json.dumps([seed, scenario.name, sample.id, name, field])
    return Random(int.from_bytes(hashlib.sha256(parts.encode()).digest()[:8], "big"))  # noqa: S311 - no secret


def _reordered(labels: Sequence[str], random: Random) -> tuple[str, ...]:
    """Any other order of the labels."""
    order = list(labels)
    while len(order) > 1 and order == list(labels):
        random.shuffle(order)
    return tuple(order)


def _between(text: str, labels: Iterable[str], change: Callable[[str, Random], str], random: Random) -> str:
    """Change the text between identifiers and labels, which match in upper and lower case."""
    pieces = _pattern(tuple(labels)).split(text)
    # The pattern's own matches are every second piece.
    return "".join(piece if index % 2 or not piece else change(piece, random) for index, piece in enumerate(pieces))


@cache
def _pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(filter(None, labels), key=len, reverse=True)
    names = [rf"(?<!\w)(?i:{re.escape(label)})(?!\w)" for label in longest_first]
    return re.compile(f"({'|'.join([_IDENTIFIER, *names])})")
