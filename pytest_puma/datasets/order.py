"""Random order that depends on the seed and the names of its items alone.

The rank of a row is a hash of the seed and the row's key. So the order does not change if rows move in the file, and
its first n rows are the first n of any longer draw.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import count
from typing import Any, TypeVar

from pytest_puma.task_types.regression import number_text

Label = TypeVar("Label", bound=Hashable)
Item = TypeVar("Item")

# The reason for a gold answer is no part of the question: with and without it, a row is the same.
_NOT_CONTENT = frozenset({"rationale"})
_ID_BYTES = 6


def rank(seed: int, *names: object) -> int:
    """Return a 64-bit hash of the seed and the names: equal for equal arguments, on every machine."""
    text = "\x1f".join(str(part) for part in (seed, *names))
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def content_id(instance: Mapping[str, Any]) -> str:
    """Return the name of a row without a key: 12 hexadecimal digits of a hash of its content."""
    content = [(name, plain_text(instance[name])) for name in sorted(instance) if name not in _NOT_CONTENT]
    return blake2b(json.dumps(content).encode(), digest_size=_ID_BYTES).hexdigest()


def plain_text(value: Any) -> str:
    """Return a cell's value as text, `''` for a missing one."""
    # pandas converts a column of integers to floats if one of them is missing.
    return "" if value is None else number_text(value) if isinstance(value, float) else str(value)


def grouped(items: Iterable[Item], label: Callable[[Item], Label]) -> dict[Label, list[Item]]:
    """Return the items of each label in their order; none for other labels."""
    groups: dict[Label, list[Item]] = defaultdict(list)
    for item in items:
        groups[label(item)].append(item)
    return groups


def rounds(groups: Mapping[Label, Sequence[Item]], turns: Callable[[int], Iterable[Label]]) -> Iterator[Item]:
    """Yield one item of each group per round, in the order of `turns(round)`; an empty group is skipped."""
    for turn in count():
        if all(turn >= len(group) for group in groups.values()):
            return
        for label in turns(turn):
            if turn < len(groups[label]):
                yield groups[label][turn]
