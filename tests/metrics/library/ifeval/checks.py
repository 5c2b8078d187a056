"""One instruction, read as from a row of the data, and checked; and texts in two languages."""

from __future__ import annotations

from typing import Any

from pytest_puma.metrics.library.ifeval import Instruction, read_instructions

#: Over 120 letters each: for a shorter text, the library of languages loads its numbers for 12 seconds.
ENGLISH = (
    "the cow stood in the old barn while the rain fell on the roof and the farmer went home to his family "
    "and slept until the bright and early morning of the next day."
)
GERMAN = (
    "Die Kuh stand in der alten Scheune, als der Regen auf das Dach fiel und der Bauer nach Hause ging "
    "und bis zum anderen Morgen mit seiner Familie schlief."
)


def instruction(kind: str, arguments: dict[str, Any] | None = None) -> Instruction:
    (read,) = read_instructions("ifeval: row 1", [kind], [arguments or {}])
    return read


def follows(kind: str, reply: str, **arguments: Any) -> bool:
    return instruction(kind, arguments).strict(reply)
