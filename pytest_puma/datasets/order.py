"""Random order, and random pairs, that depend on the seed and the names of the items alone.

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


def draw_pairs(labels: Mapping[str, str], seed: int) -> Iterator[tuple[str, str]]:
    """Yield pairs of keys with different labels, disjoint until the keys are used up; then keys recur, but no pair.

    The pairs depend on the seed, the keys and their labels, not on the order of the mapping.
    """
    used_pairs: set[frozenset[str]] = set()
    for turn in count():
        before = len(used_pairs)
        for pair in _match(labels, seed=seed, turn=turn, used_pairs=used_pairs):
            used_pairs.add(frozenset(pair))
            yield pair
        if len(used_pairs) == before:
            return


def place_gold(pairs: Iterable[tuple[str, str]], *, ranks: Mapping[str, int], seed: int) -> Iterator[tuple[str, str]]:
    """Yield the pairs as (A, B): of two successive pairs, one has the lower rank as A, the other as B.

    So A and B are the better answer equally often, up to one pair at any length.
    """
    for number, pair in enumerate(pairs):
        block, second = divmod(number, 2)
        low, high = sorted(pair, key=ranks.__getitem__)
        low_is_a = (rank(seed, "gold", block) + second) % 2 == 0
        yield (low, high) if low_is_a else (high, low)


def _match(
    labels: Mapping[str, str], *, seed: int, turn: int, used_pairs: set[frozenset[str]]
) -> Iterator[tuple[str, str]]:
    """One round, each key at most once. Each pair has a key of the largest group, so that few keys are left over."""
    ranks = {key: rank(seed, "pair", turn, key) for key in labels}
    groups: dict[str, dict[str, None]] = defaultdict(dict)
    for key in sorted(labels, key=ranks.__getitem__, reverse=True):
        groups[labels[key]][key] = None
    while len(groups) > 1:
        largest = max(groups, key=lambda label: (len(groups[label]), ranks[next(reversed(groups[label]))]))
        first, _ = groups[largest].popitem()
        remaining = [group for label, group in groups.items() if label != largest]
        partner = _partner(first, remaining, ranks=ranks, used_pairs=used_pairs)
        if partner is not None:
            del groups[labels[partner]][partner]
            yield first, partner
        for label in [label for label, group in groups.items() if not group]:
            del groups[label]


def _partner(
    first: str, groups: Iterable[dict[str, None]], *, ranks: Mapping[str, int], used_pairs: set[frozenset[str]]
) -> str | None:
    """The next key of any of the groups that is not yet in a pair with `first`."""
    fresh = (
        next((key for key in reversed(group) if frozenset((first, key)) not in used_pairs), None) for group in groups
    )
    return min((key for key in fresh if key is not None), key=ranks.__getitem__, default=None)
