"""The common prefix of two sequences: texts of prompts, or their tokens."""

from __future__ import annotations

from collections.abc import Sequence


def common_prefix(left: Sequence[str] | Sequence[int], right: Sequence[str] | Sequence[int]) -> int:
    """Return the number of leading characters or tokens that two sequences share."""
    low, high = 0, min(len(left), len(right))
    # Slices compare at C speed; a loop does not.
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
