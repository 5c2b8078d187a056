"""Token sequences that are prefixes of others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def carriers(texts: Sequence[tuple[int, ...]]) -> list[int]:
    """Return, for each text, the index of a longest text that begins with it: its own index if there is no other."""
    # In sorted order, the texts that begin with a text follow it directly.
    order = sorted(range(len(texts)), key=texts.__getitem__)
    carried = list(range(len(texts)))
    for follower, text in pairwise(reversed(order)):
        if texts[follower][: len(texts[text])] == texts[text]:
            carried[text] = carried[follower]
    return carried
