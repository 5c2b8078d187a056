"""Comparison of each line of a reply: the best one counts, as if the others were only talk around the answer."""

from __future__ import annotations

from collections.abc import Callable

from pytest_puma.core import Direction


def by_line(
    compare: Callable[[str, str], float], *, none: float, better: Direction = "high"
) -> Callable[[str, str], float]:
    """Return a comparison of the best line of a text with a reference; `none` for a text without any line."""
    choose = min if better == "low" else max

    def score(text: str, reference: str) -> float:
        # Each line once: a model that repeats itself writes thousands of equal ones.
        lines = dict.fromkeys(filter(str.strip, text.splitlines()))
        return choose((compare(line, reference) for line in lines), default=none)

    return score
