"""What sequences of tokens have in common."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """The number of leading tokens that two sequences share."""
    low, high = 0, min(len(left), len(right))
    # Slices compare at C speed; a loop over tokens does not.
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def carriers(texts: Sequence[tuple[int, ...]]) -> list[int]:
    """For each text the index of a longest one that begins with it: its own, where no other does."""
    # In this order whatever begins with a text follows it at once.
    order = sorted(range(len(texts)), key=texts.__getitem__)
    carried = list(range(len(texts)))
    for follower, text in pairwise(reversed(order)):
        if texts[follower][: len(texts[text])] == texts[text]:
            carried[text] = carried[follower]
    return carried
