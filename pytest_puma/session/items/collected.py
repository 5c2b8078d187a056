"""The result of collection before any test is deselected: the cells, and the files that were read without a fault.

Under xdist only the workers collect. So the first benchmark report of each process transports this result.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from _pytest.nodes import Node

    from pytest_puma.evaluation.cell import Cell

#: The name of the registered plugin.
NAME = "puma-collected"
#: Of an item: the conversations that this part of a run holds of its cell; absent if it holds all.
PART: pytest.StashKey[slice] = pytest.StashKey()


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
        cell = cell_of(item)
        if cell is not None:
            self._collected.cells.add(cell.id)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a file; after an error or a skip, even of one class, its content is unknown."""
        file = report.nodeid.partition("::")[0]
        (self._collected.files if report.passed else self._faulty).add(file)

    # The last moment: until then, hooks of others may add markers.
    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Refuse markers that came after the cells were made: of `pytest.param`, or of `add_marker`."""
        tests = dict.fromkeys(item.nodeid.partition("[")[0] for item in session.items if _is_late(item))
        expected = "expected @pytest.mark.puma(...) on the function itself, and its argument: def test(puma): ..."
        origin = "but from pytest.param or from add_marker, where it makes no cells"
        refuse(session, session.items, [f"{test}: has the puma marker, {origin}; {expected}" for test in tests])

    def take(self) -> str | None:
        """Return the result as text for `Collected.add` at the first call, then None."""
        if self._taken:
            return None
        self._taken = True
        files = self._collected.files - self._faulty
        return json.dumps({"cells": sorted(self._collected.cells), "files": sorted(files)})


def cell_of(item: pytest.Item) -> Cell | None:
    """Return the cell of an item, None for other tests."""
    callspec = getattr(item, "callspec", None)
    cell: Cell | None = None if callspec is None else callspec.params.get("_puma_cell")
    return cell


def refuse(session: pytest.Session, items: list[pytest.Item], faults: Collection[str]) -> None:
    """End the collection with these faults, if there are any.

    Under xdist a `UsageError` would be an internal error.
    """
    if not faults:
        return
    from pytest_puma.report import escape

    text = "\n".join(escape.terminal(f"puma: {fault}") for fault in faults)
    report = pytest.CollectReport(nodeid="", outcome="failed", longrepr=text, result=[])
    session.config.hook.pytest_collectreport(report=report)
    # A worker continues after collection errors.
    items[:] = [item for item in items if cell_of(item) is None and not _is_late(item)]


def _is_late(item: pytest.Item) -> bool:
    """Whether an item has a marker of its own that made no cell, unlike that of its function."""
    if cell_of(item) is None:
        return bool(marks(item))
    written = list(map(id, getattr(getattr(item, "obj", None), "pytestmark", ())))
    return any(id(mark) not in written for mark in marks(item))


def refuse_unused(collector: pytest.Collector, report: pytest.CollectReport) -> None:
    """Make our marker a collection error on a `unittest` method, and on a class or module none of whose tests take it.

    A module with classes is left alone: their tests are not known yet.
    """
    tests = [item for item in report.result if isinstance(item, pytest.Function)]
    marked = [item.nodeid for item in tests if _is_unittest(item) and _is_marked(item)]
    if marked:
        fault = (
            f"{marked[0]}: has the puma marker, but methods of unittest.TestCase get no fixtures; "
            "expected a function, or a method of a class that is no TestCase"
        )
    elif tests and len(tests) == len(report.result) and marks(collector) and not any(map(cell_of, tests)):
        fault = f"{collector.nodeid}: has the puma marker, but none of its tests has the argument puma; expected one"
    else:
        return
    report.outcome, report.result, report.longrepr = "failed", [], f"puma: {fault}"


def marks(node: Node) -> list[pytest.Mark]:
    """Our markers of a node, without those of its parents."""
    return [mark for mark in node.own_markers if mark.name == "puma"]


def _is_unittest(item: pytest.Function) -> bool:
    unittest = sys.modules.get("unittest")
    return unittest is not None and item.cls is not None and issubclass(item.cls, unittest.TestCase)


def _is_marked(item: pytest.Function) -> bool:
    """Whether the method or its class has the marker; one on the module may be meant for other tests."""
    nodes = [node for node, _ in item.iter_markers_with_node("puma")]
    return any(isinstance(node, (pytest.Function, pytest.Class)) for node in nodes)
