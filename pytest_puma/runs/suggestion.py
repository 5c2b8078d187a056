"""The comparison that a run suggests at its end."""

from __future__ import annotations

from collections.abc import Collection

from pytest_puma.core import CellId


def next_comparison(new: Collection[str], old: Collection[str]) -> str:
    """Return how to compare the cells of a run with those of the run before it; empty if no cell has a counterpart."""
    if not set(new).isdisjoint(old):
        return "pytest-puma compare last~1 last"
    before = {name.without("model"): name.model for name in map(CellId.parse, old)}
    for name in map(CellId.parse, new):
        if (other := before.get(name.without("model"))) is not None:
            models = f"--puma-model {other} --puma-model {name.model}"
            return f"the same tests with {models} --puma-compare model --puma-offline"
    return ""
