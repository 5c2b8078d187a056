"""Which sequences of tokens begin with others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def carriers(texts: Sequence[tuple[int, ...]]) -> list[int]:
    """For each text the index of a longest one that begins with it: its own, where no other does."""
    # In this order whatever begins with a text follows it at once.
    order = sorted(range(len(texts)), key=texts.__getitem__)
    carried = list(range(len(texts)))
    for follower, text in pairwise(reversed(order)):
        if texts[follower][: len(texts[text])] == texts[text]:
            carried[text] = carried[follower]
    return carried
