"""Which worker of pytest-xdist runs which cell. Imported where xdist runs alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScheduling, LoadScopeScheduling
from xdist.workermanage import WorkerController

from pytest_puma.models import weights_size
from pytest_puma.session.config import model_names, settings_of
from pytest_puma.session.nodeid import Named, cells_in

#: Tests that wait at a worker: one that it runs, and one that it knows to come.
_ENOUGH = 2
#: Of tests that differ, so many are named.
_NAMED = 3
#: No node id has it.
_MARK = "\0"


class Undecided(LoadScheduling):
    """Waits for the ids of the tests: xdist's own scheduling where none is a cell, else by model.

    What was chosen takes its place, so that nothing of ours is left in a suite without benchmarks.
    """

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        """The first worker's ids decide."""
        cells = cells_in(collection, lambda: model_names(self.config))
        chosen = ByModel(self.config, self.log, cells) if cells else LoadScheduling(self.config, self.log)
        for each in self.nodes:
            chosen.add_node(each)
        self.config.pluginmanager.getplugin("dsession").sched = chosen
        chosen.add_node_collection(node, collection)


class ByModel(LoadScopeScheduling):
    """The cells of a model on one worker, in their order; the model with the dearest cells first.

    With more workers than models, which pays on GPUs alone, every cell goes where there is room.
    """

    def __init__(self, config: pytest.Config, log: Producer, cells: Mapping[int, Named]) -> None:
        super().__init__(config, log)
        self._named = cells
        self._cells: dict[str, Named] = {}
        self._sizes = {model.name: weights_size(model.path) for model in settings_of(config).models}
        self._apart = len(self._sizes) < self.numnodes and _many_gpus()

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        """The tests of a worker, under ids that differ: xdist would run one of several that have the same."""
        tests = _numbered(collection)
        if self.collection is None:
            self._cells = {tests[place]: named for place, named in self._named.items()}
        super().add_node_collection(node, tests)
        if node not in self.registered_collections:
            self._refuse(node, tests)

    def _refuse(self, node: WorkerController, tests: Sequence[str]) -> None:
        """The replacement of a worker that crashed has other tests: it can run none, so the run ends and says so."""
        others = sorted(test.rstrip(_MARK) for test in {*tests} ^ {*(self.collection or ())})
        text = (
            f"puma: {node.gateway.id} replaces a worker that crashed, but collected other tests than that one: "
            f"{', '.join(others[:_NAMED]) or 'the same in another order'}; expected the same tests each time. "
            "What had not run by then was left out."
        )
        report = pytest.CollectReport(nodeid=node.gateway.id, outcome="failed", longrepr=text, result=[])
        self.config.hook.pytest_collectreport(report=report)
        node.shutdown()
        if all(each.shutting_down for each in self.nodes):
            self.workqueue.clear()

    def remove_node(self, node: WorkerController) -> str | None:
        """The test that a worker died of, if any. It is not run again: it would take down the next worker too."""
        units = self.assigned_work.pop(node)
        waiting = [(unit, nodeid) for unit in units.values() for nodeid, done in unit.items() if not done]
        if not waiting:
            return None
        unit, died_of = waiting[0]
        unit[died_of] = True
        self.workqueue.update((scope, unit) for scope, unit in units.items() if not all(unit.values()))
        for each in self.nodes:
            self._reschedule(each)
        return died_of.rstrip(_MARK)

    def _reschedule(self, node: WorkerController) -> None:
        """Give a worker what it needs to go on: it runs no test before it knows the next, or that there is none."""
        if node not in self.registered_collections:
            # The replacement of a worker that crashed: it gets its share when it has collected.
            return
        super()._reschedule(node)
        while self.workqueue and not node.shutting_down and self._pending_of(self.assigned_work[node]) < _ENOUGH:
            self._assign_work_unit(node)
        if not self.workqueue and not node.shutting_down:
            node.shutdown()

    def _split_scope(self, nodeid: str) -> str:
        cell = self._cells.get(nodeid)
        return nodeid if cell is None or self._apart else f"@{cell.model}"

    def _assign_work_unit(self, node: WorkerController) -> None:
        dearest = max(self.workqueue, key=self._cost)
        self.workqueue.move_to_end(dearest, last=False)
        super()._assign_work_unit(node)

    def _cost(self, scope: str) -> int:
        """Of the cells in it: what a token costs goes with the size of the weights."""
        cells = [self._cells[nodeid] for nodeid in self.workqueue[scope] if nodeid in self._cells]
        return sum(self._sizes[cell.model] for cell in cells)


def _numbered(nodeids: Sequence[str]) -> list[str]:
    """Each behind as many marks as there are equal ones before it."""
    seen: Counter[str] = Counter()
    numbered = []
    for nodeid in nodeids:
        numbered.append(nodeid + _MARK * seen[nodeid])
        seen[nodeid] += 1
    return numbered


def _many_gpus() -> bool:
    from pytest_puma.engine.native import gpus

    return len(gpus()) > 1
