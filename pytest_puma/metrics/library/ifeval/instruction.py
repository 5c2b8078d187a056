"""The instructions of a prompt, as the rows of IFEval state them: ids of kinds, and the arguments of each.

{"instruction_id_list": ["punctuation:no_comma", "length_constraints:number_words"],
 "kwargs": [{}, {"relation": "at least", "num_words": 300}]}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from typing import Any

from pytest_puma.core import SettingsError
from pytest_puma.metrics.library.ifeval import layout, whole, words
from pytest_puma.metrics.library.ifeval.kind import Kind
from pytest_puma.phrases import there_are

#: By id.
KINDS: Mapping[str, Kind] = {**words.KINDS, **layout.KINDS, **whole.KINDS}


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction with its arguments."""

    kind: Kind
    arguments: Mapping[str, Any]

    def strict(self, reply: str) -> bool:
        """Whether the reply as it is follows the instruction; an empty one never does."""
        return bool(reply.strip()) and self.kind.follows(reply, **self.arguments)

    def loose(self, reply: str) -> bool:
        """Whether the reply follows the instruction without its first or last line, or without asterisks."""
        return any(map(self.strict, variants(reply)))


def variants(reply: str) -> tuple[str, ...]:
    """Return a reply as it is, without the first line, without the last, without both; then all four without `*`."""
    lines = reply.split("\n")
    shorter = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    return (reply, *shorter, *(each.replace("*", "") for each in (reply, *shorter)))


def read_instructions(who: str, ids: Sequence[Any], arguments: Sequence[Any]) -> tuple[Instruction, ...]:
    """Return the instructions of a prompt. Raises a `SettingsError` for an unknown kind or unusable arguments.

    `who`: the start of its message.
    """
    if not ids or len(ids) != len(arguments):
        msg = f"{who}: {len(ids)} ids in instruction_id_list and {len(arguments)} entries in kwargs; expected one each"
        raise SettingsError(msg)
    return tuple(starmap(partial(_read, who), zip(ids, arguments, strict=True)))


def _read(who: str, name: Any, arguments: Any) -> Instruction:
    if not isinstance(name, str) or name not in KINDS:
        msg = f"{who}: no kind of instruction {name!r}; {there_are(str(name), KINDS)}"
        raise SettingsError(msg)
    if arguments is not None and not isinstance(arguments, Mapping):
        msg = f"{who}: {name}: kwargs are {arguments!r}; expected a dictionary of arguments"
        raise SettingsError(msg)
    try:
        return Instruction(KINDS[name], KINDS[name].read(arguments or {}))
    except ValueError as error:
        msg = f"{who}: {name}: {error}; correct kwargs in the data"
        raise SettingsError(msg) from None
