"""The life of an item: evaluate its cell in setup, judge it in the call, attach the outcome to the report."""

from __future__ import annotations

import unittest
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from pytest_puma.codec.outcomes import to_lines
from pytest_puma.core import SANDBOX, NotRunError, Outcome, Responder
from pytest_puma.errors import LostError
from pytest_puma.evaluation.assess import Context, assess, unassessed
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.judge import judge
from pytest_puma.evaluation.predict import CellPredictions
from pytest_puma.evaluation.programs import check_languages
from pytest_puma.evaluation.tasks import rows_of
from pytest_puma.planning.settings import Settings
from pytest_puma.planning.shards import UNJUDGED
from pytest_puma.report.export import junit_properties
from pytest_puma.report.rows import number
from pytest_puma.session.items.collected import NAME, cell_of
from pytest_puma.session.items.failing import PumaFailure, missed_gates, represent, without_traceback
from pytest_puma.session.items.memory import give_back, peak, rare_collections, restart_peak
from pytest_puma.session.items.predictions import predicted
from pytest_puma.session.items.responders import judges_of, sandbox_of
from pytest_puma.session.progress.meter import progress_of
from pytest_puma.session.settings.config import settings_of

OUTCOME: pytest.StashKey[Outcome] = pytest.StashKey()
#: Attributes of the next report: the outcome as `puma`; `puma_unassessed`, that of a cell whose metric or judge raised,
#: with its predictions alone; `puma_unchanged`, the reason why a cell was not run.
UNSENT: pytest.StashKey[dict[str, Any]] = pytest.StashKey()
_SKIPPED = (pytest.skip.Exception, unittest.SkipTest)


def run(item: pytest.Item, cell: Cell, engine: Responder) -> Outcome:
    """Evaluate the cell and keep the outcome; skip a cell that cannot be run, with the reason."""
    give_back()
    restart_peak()
    try:
        with without_traceback(), rare_collections():
            outcome = _evaluate(item, cell, engine)
    except NotRunError as error:
        item.stash[UNSENT] = {"puma_unchanged": str(error)}
        pytest.skip(f"puma: {error}")
    # Kept answers need no model.
    most = peak() if outcome.execution.speed.prefill_tokens else 0
    execution = replace(outcome.execution, node_id=item.nodeid, peak_memory=most)
    item.stash[OUTCOME] = outcome = replace(outcome, execution=execution)
    item.stash[UNSENT] = {"puma": outcome}
    return outcome


def _evaluate(item: pytest.Item, cell: Cell, engine: Responder) -> Outcome:
    cells = [test for test in item.session.items if cell_of(test) is not None]
    progress = partial(progress_of, item.config, finished=cells.index(item), cells=len(cells))
    context = partial(_context, settings_of(item.config))
    sandbox = sandbox_of(item.config) if any(metric.asks == SANDBOX for metric in cell.scores) else None
    if sandbox is not None:
        check_languages(cell.id, rows_of(cell)[0], sandbox)
    answered = _again_if_lost(lambda: predicted(item, cell, engine, context))
    try:
        judging = partial(progress, f"{cell.id}, the judge:")
        judges = judges_of(item.config, cell)
        answered = _again_if_lost(lambda: judge(cell, answered, judges, sandbox, progress=judging))
        return assess(cell, answered, context(cell))
    except Exception:
        # A bug in a metric, or a judge that fails, must not lose what the model answered.
        item.stash[UNSENT] = {"puma_unassessed": unassessed(cell, answered, item.nodeid)}
        raise


def _again_if_lost(answer: Callable[[], CellPredictions]) -> CellPredictions:
    """Ask once more if a machine of a cluster is lost: the answers so far are in the response store."""
    try:
        return answer()
    except LostError:
        return answer()


def _context(settings: Settings, cell: Cell) -> Context:
    """What a cell is compared with."""
    return Context(
        baseline=settings.judging.baseline_of(cell),
        naive_baselines=settings.judging.naive_baselines_of(cell),
        policy=settings.judging.policy,
        no_baseline=settings.judging.why_no_baseline(cell),
        quotes=settings.storage.prompts,
        unjudged="" if settings.request.shard is None else UNJUDGED,
        grid=settings.request.grid,
    )


def prepared(item: pytest.Item) -> Generator[None, object, object]:
    """Run the fixtures of the item; a later fixture that skips the test does not hide a missed gate."""
    try:
        return (yield)
    except _SKIPPED:
        _fail_if_missed(item)
        raise


def judged(item: pytest.Item) -> Generator[None, object, object]:
    """Run the body of the test, then judge its gates: a missed gate is a failure, with sentences in its report.

    A body that fails shows the sentences too; a body that skips fails because of them.
    """
    try:
        result = yield
    except _SKIPPED:
        _fail_if_missed(item)
        raise
    except BaseException:
        if missed := _missed(item):
            item.add_report_section("call", "puma", str(missed))
        raise
    _fail_if_missed(item)
    return result


def attach(item: pytest.Item, cell: Cell, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Attach the cell to the report, and the outcome once it exists, for the controller.

    The outcome is one text, so that it also passes between processes. It goes with the setup, which computes it,
    so that no later fixture can lose it; with the next report if a plugin repeats the setup without a report.
    """
    report.puma_cell = cell.id  # type: ignore[attr-defined]
    report.puma_index = item.session.items.index(item)  # type: ignore[attr-defined]
    report.puma_collected = item.config.pluginmanager.getplugin(NAME).take()  # type: ignore[attr-defined]
    if call.excinfo is not None and isinstance(call.excinfo.value, PumaFailure):
        report.puma_missed = call.excinfo.value.missed  # type: ignore[attr-defined]
        represent(item, call.excinfo.value, report)
    outcome = item.stash.get(OUTCOME, None)
    if outcome is not None and report.when == "call" and outcome.primary:
        report.puma_value = f"{outcome.primary}={number(outcome[outcome.primary])}"  # type: ignore[attr-defined]
    unsent = item.stash.get(UNSENT, {})
    item.stash[UNSENT] = {}
    with rare_collections():
        vars(report).update({name: to_lines(it) if isinstance(it, Outcome) else it for name, it in unsent.items()})
    if outcome is not None and "puma" in unsent and settings_of(item.config).reports.junit:
        # pytest writes the properties that the item has at teardown.
        others = [entry for entry in item.user_properties if not entry[0].startswith("puma.")]
        item.user_properties[:] = [*others, *junit_properties(outcome)]
    if outcome is not None and report.when == "teardown":
        # pytest keeps its items to the end of the session; the predictions would fill the memory.
        del item.stash[OUTCOME]


def _fail_if_missed(item: pytest.Item) -> None:
    if missed := _missed(item):
        raise missed from None


def _missed(item: pytest.Item) -> PumaFailure | None:
    outcome = item.stash.get(OUTCOME, None)
    return missed_gates(outcome) if outcome is not None and outcome.failed else None
