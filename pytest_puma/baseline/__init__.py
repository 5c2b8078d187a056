"""Baselines: accepted measures and answers of cells, stored in the project's repository."""

from pytest_puma.baseline.columns import kept, rounded
from pytest_puma.baseline.entry import Anchor, Entry
from pytest_puma.baseline.folder import Baselines, Written
from pytest_puma.baseline.signature import DATA, PARSER, SUBJECTS, changed_parts

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
