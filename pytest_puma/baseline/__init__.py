"""Baselines: what cells measured and answered when somebody last said that it was good, kept in the repository."""

from pytest_puma.baseline.entry import TIMED, Anchor, Entry
from pytest_puma.baseline.folder import Baselines, Written

__all__ = ["TIMED", "Anchor", "Baselines", "Entry", "Written"]
