"""The common prefix of two sequences, texts of prompts or their tokens; and the common end of texts."""

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


def common_end(texts: Sequence[str]) -> str:
    """Return the longest common end that begins with a whole word; none of a single text, which is all its own."""
    if len(texts) < 2:  # noqa: PLR2004 - nothing is common to one
        return ""
    backwards = [text[::-1] for text in texts]
    first, last = min(backwards), max(backwards)
    end = first[: common_prefix(first, last)][::-1]
    if end in texts:
        return end
    return end[next((index for index, letter in enumerate(end) if not letter.isalnum()), len(end)) :]
