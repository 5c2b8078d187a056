"""What collection found before anything was deselected: the cells, and the files that were read without a fault.

Where workers run, they alone collect. So the first report of a benchmark from each process tells it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest

#: Registered under this name.
NAME = "puma-collected"


@dataclass(slots=True)
class Collected:
    """`files` are relative to pytest's root, as in node ids."""

    cells: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)

    def add(self, text: str) -> None:
        """What a process told."""
        told = json.loads(text)
        self.cells.update(told["cells"])
        self.files.update(told["files"])


class Collecting:
    """Listens while this process collects."""

    def __init__(self) -> None:
        self._found = Collected()
        self._faulty: set[str] = set()
        self._told = False

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Before any plugin deselects it, with a word or without."""
        cell = cell_id(item)
        if cell is not None:
            self._found.cells.add(cell)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """An error and a skip leave it open what is in the file, also where only a class of it has them."""
        file = report.nodeid.partition("::")[0]
        (self._found.files if report.passed else self._faulty).add(file)

    def tell(self) -> str | None:
        """As text that `Collected.add` reads, the first time; None then."""
        if self._told:
            return None
        self._told = True
        files = self._found.files - self._faulty
        return json.dumps({"cells": sorted(self._found.cells), "files": sorted(files)})


def cell_id(item: pytest.Item) -> str | None:
    """The id of an item's cell, None for an item that is not ours."""
    callspec = getattr(item, "callspec", None)
    cell = None if callspec is None else callspec.params.get("_puma_cell")
    return None if cell is None else str(cell.id)


def refuse_unittest(report: pytest.CollectReport) -> None:
    """Make it a collection error that a `unittest` method has our marker: it gets no fixtures, so no benchmark."""
    methods = [item for item in report.result if isinstance(item, pytest.Function) and _is_unittest(item)]
    marked = [item.nodeid for item in methods if _is_marked(item)]
    if marked:
        report.outcome, report.result = "failed", []
        report.longrepr = (
            f"puma: {marked[0]}: has the puma marker, but methods of unittest.TestCase get no fixtures; "
            "expected a function, or a method of a class that is no TestCase"
        )


def _is_unittest(item: pytest.Function) -> bool:
    import unittest

    return item.cls is not None and issubclass(item.cls, unittest.TestCase)


def _is_marked(item: pytest.Function) -> bool:
    """By itself or by its class; the mark of a whole module is for those that can take it."""
    nodes = [node for node, _ in item.iter_markers_with_node("puma")]
    return any(isinstance(node, (pytest.Function, pytest.Class)) for node in nodes)
