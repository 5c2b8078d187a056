"""The result of collection before any test is deselected: the cells, and the files that were read without a fault.

Under xdist only the workers collect. So the first benchmark report of each process transports this result.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest

#: The name of the registered plugin.
NAME = "puma-collected"


@dataclass(slots=True)
class Collected:
    """`cells` by id; `files` relative to pytest's root, as in node ids."""

    cells: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)

    def add(self, text: str) -> None:
        """Add the result of a process, as `Collecting.take` wrote it."""
        data = json.loads(text)
        self.cells.update(data["cells"])
        self.files.update(data["files"])


class Collecting:
    """Records the collection of this process."""

    def __init__(self) -> None:
        self._collected = Collected()
        self._faulty: set[str] = set()
        self._taken = False

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Record a cell before any plugin deselects it."""
        cell = cell_id(item)
        if cell is not None:
            self._collected.cells.add(cell)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a file; after an error or a skip, even of one class, its content is unknown."""
        file = report.nodeid.partition("::")[0]
        (self._collected.files if report.passed else self._faulty).add(file)

    def take(self) -> str | None:
        """Return the result as text for `Collected.add` at the first call, then None."""
        if self._taken:
            return None
        self._taken = True
        files = self._collected.files - self._faulty
        return json.dumps({"cells": sorted(self._collected.cells), "files": sorted(files)})


def cell_id(item: pytest.Item) -> str | None:
    """Return the id of the cell of an item, None for other tests."""
    callspec = getattr(item, "callspec", None)
    cell = None if callspec is None else callspec.params.get("_puma_cell")
    return None if cell is None else str(cell.id)


def refuse_unittest(report: pytest.CollectReport) -> None:
    """Make our marker on a `unittest` method a collection error, as such a method gets no fixtures."""
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
    """Whether the method or its class has the marker; one on the module may be meant for other tests."""
    nodes = [node for node, _ in item.iter_markers_with_node("puma")]
    return any(isinstance(node, (pytest.Function, pytest.Class)) for node in nodes)
