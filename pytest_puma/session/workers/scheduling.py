"""Scheduling of cells on the workers of pytest-xdist. Imported only if xdist runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScheduling, LoadScopeScheduling, Scheduling
from xdist.workermanage import WorkerController

from pytest_puma.session.settings.config import model_names, settings_of
from pytest_puma.session.workers.nodeid import Named, cells_in
from pytest_puma.session.workers.xdist import found_gpus, together

#: Pending tests of a worker: the running one and the next one.
_MIN_PENDING = 2
#: Maximum number of differing tests that a message names.
_MAX_NAMED = 3
#: A character that no node id contains.
_MARK = "\0"


def make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """Replace the default scheduler; None leaves a requested `--dist` to xdist."""
    return CellScheduling(config, log) if together(config) else None


class CellScheduling(LoadScheduling):
    """Chooses the scheduling when the test ids arrive: by model if some are cells, else that of xdist.

    The chosen scheduling replaces this object, so that a suite without benchmarks runs under xdist alone.
    """

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        """Decide by the ids of the first worker."""
        cells = cells_in(collection, lambda: model_names(self.config))
        chosen = ByModel(self.config, self.log, cells) if cells else LoadScheduling(self.config, self.log)
        for worker in self.nodes:
            chosen.add_node(worker)
        self.config.pluginmanager.getplugin("dsession").sched = chosen
        chosen.add_node_collection(node, collection)


class ByModel(LoadScopeScheduling):
    """Runs the cells of a model on one worker, in their order; the model with the most expensive cells first.

    With more workers than models, which is faster only on several GPUs and on a cluster, a cell and its variants run on
    any free worker; so they do if no model is loaded.
    """

    def __init__(self, config: pytest.Config, log: Producer, cells: Mapping[int, Named]) -> None:
        super().__init__(config, log)
        self._named = cells
        self._cells: dict[str, Named] = {}
        self._crashes: Counter[str] = Counter()
        models = settings_of(config).request.models
        self._loaded = {model.name: model.loaded.name for model in models}
        self._sizes = {model.loaded.name: model.size for model in models}
        computes = not all(model.is_read for model in models)
        self._apart = not computes or (len(self._sizes) < self.numnodes and self._has_devices())

    def _has_devices(self) -> bool:
        """Whether several workers compute at once: on a cluster, or each on a GPU."""
        return bool(self.config.option.puma_cluster) or len(found_gpus()) > 1

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        """Register the tests of a worker under unique ids: of several equal ids, xdist would run one."""
        tests = _numbered(collection)
        if self.collection is None:
            self._cells = {tests[index]: named for index, named in self._named.items()}
        super().add_node_collection(node, tests)
        if node not in self.registered_collections:
            self._refuse(node, tests)

    def _refuse(self, node: WorkerController, tests: Sequence[str]) -> None:
        """End the run with an error: the replacement of a crashed worker collected other tests and can run none."""
        different = sorted(test.rstrip(_MARK) for test in {*tests} ^ {*(self.collection or ())})
        text = (
            f"puma: {node.gateway.id} replaces a worker that crashed, but collected other tests than that one: "
            f"{', '.join(different[:_MAX_NAMED]) or 'the same in another order'}; expected the same tests each time. "
            "The remaining tests did not run."
        )
        report = pytest.CollectReport(nodeid=node.gateway.id, outcome="failed", longrepr=text, result=[])
        self.config.hook.pytest_collectreport(report=report)
        node.shutdown()
        if all(worker.shutting_down for worker in self.nodes):
            self.workqueue.clear()

    def remove_node(self, node: WorkerController) -> str | None:
        """Return the test that crashed a worker, if any. It does not run again, as it would crash the next worker."""
        units = self.assigned_work.pop(node)
        waiting = [(unit, nodeid) for unit in units.values() for nodeid, done in unit.items() if not done]
        if not waiting:
            return None
        unit, crashed = waiting[0]
        unit[crashed] = True
        self._crashes[self._split_scope(crashed)] += 1
        self.workqueue.update((scope, unit) for scope, unit in units.items() if not all(unit.values()))
        for worker in self.nodes:
            self._reschedule(worker)
        return crashed.rstrip(_MARK)

    def _reschedule(self, node: WorkerController) -> None:
        """Keep a worker supplied: it starts a test only if it has the next one, or knows that there is none."""
        if node not in self.registered_collections:
            # The replacement of a crashed worker gets its share after its collection.
            return
        super()._reschedule(node)
        while self.workqueue and not node.shutting_down and self._pending_of(self.assigned_work[node]) < _MIN_PENDING:
            self._assign_work_unit(node)
        if not self.workqueue and not node.shutting_down:
            node.shutdown()

    def _split_scope(self, nodeid: str) -> str:
        cell = self._cells.get(nodeid)
        if cell is None:
            return nodeid
        # Variants are measured along the replies of their plain cell, which this worker then has.
        return str(cell.name.without("variant")) if self._apart else f"@{cell.name.plain}"

    def _assign_work_unit(self, node: WorkerController) -> None:
        # xdist replaces a limited number of workers: a model that crashes them must not take all before others ran.
        first = max(self.workqueue, key=lambda scope: (-self._crashes[scope], self._cost(scope)))
        self.workqueue.move_to_end(first, last=False)
        super()._assign_work_unit(node)

    def _cost(self, scope: str) -> int:
        """Return the relative cost of the cells in a scope: the cost of a token grows with the size of the weights."""
        cells = [self._cells[nodeid] for nodeid in self.workqueue[scope] if nodeid in self._cells]
        return sum(self._sizes[self._loaded[cell.name.model]] for cell in cells)


def _numbered(nodeids: Sequence[str]) -> list[str]:
    """Make ids unique: append one mark for each equal id before."""
    seen: Counter[str] = Counter()
    numbered = []
    for nodeid in nodeids:
        numbered.append(nodeid + _MARK * seen[nodeid])
        seen[nodeid] += 1
    return numbered
