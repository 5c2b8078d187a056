"""Random pairs of rows with different labels. Pure: keys and labels in, keys out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import count

from pytest_puma.datasets.order import rank


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
