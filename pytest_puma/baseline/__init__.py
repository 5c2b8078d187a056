"""Baselines: accepted measures and answers of cells, stored in the project's repository."""

from pytest_puma.baseline.columns import kept, rounded
from pytest_puma.baseline.entry import DATA, PARSER, SUBJECTS, Anchor, Entry, changed_parts
from pytest_puma.baseline.folder import Baselines, Written

__all__ = [
    "DATA",
    "PARSER",
    "SUBJECTS",
    "Anchor",
    "Baselines",
    "Entry",
    "Written",
    "changed_parts",
    "kept",
    "rounded",
]
