"""What sequences of tokens have in common."""

from __future__ import annotations

from collections.abc import Sequence


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
