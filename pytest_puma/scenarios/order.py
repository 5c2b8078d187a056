"""Seeded order that depends on nothing but the seed and the names of the things in it.

The rank of a row is a hash of the seed and the row's key. So the order stays the same when rows are
moved about in the file, and the first n of it are the first n of any longer draw.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import count
from typing import Any, TypeVar

from pytest_puma.task_types.regression import number_text

Label = TypeVar("Label", bound=Hashable)
Item = TypeVar("Item")

# The reason for a gold answer belongs to a pool's row, not to the question: with and without it, it is the same row.
_NOT_CONTENT = frozenset({"rationale"})
_ID_BYTES = 6


def rank(seed: int, *names: object) -> int:
    """A 64-bit hash of the seed and the names: equal for equal arguments, on every machine."""
    text = "\x1f".join(str(part) for part in (seed, *names))
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def content_id(instance: Mapping[str, Any]) -> str:
    """The name of a row that has no key: 12 hexadecimal digits of a hash of its content."""
    content = [(name, plain_text(instance[name])) for name in sorted(instance) if name not in _NOT_CONTENT]
    return blake2b(json.dumps(content).encode(), digest_size=_ID_BYTES).hexdigest()


def plain_text(value: Any) -> str:
    """A cell's value as text, `''` for a missing one."""
    # pandas turns a column of whole numbers into fractions as soon as one of them is missing.
    return "" if value is None else number_text(value) if isinstance(value, float) else str(value)


def rounds(groups: Mapping[Label, Sequence[Item]], turns: Callable[[int], Iterable[Label]]) -> Iterator[Item]:
    """One item of each group per round, in the order that `turns(round)` gives; an empty group is passed over."""
    for turn in count():
        if all(turn >= len(group) for group in groups.values()):
            return
        for label in turns(turn):
            if turn < len(groups[label]):
                yield groups[label][turn]
