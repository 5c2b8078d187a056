"""One instruction, read as from a row of the data, and checked."""

from __future__ import annotations

from typing import Any

from pytest_puma.metrics.ifeval import Instruction, read_instructions


def instruction(kind: str, arguments: dict[str, Any] | None = None) -> Instruction:
    (read,) = read_instructions("ifeval: row 1", [kind], [arguments or {}])
    return read


def follows(kind: str, reply: str, **arguments: Any) -> bool:
    return instruction(kind, arguments).strict(reply)
