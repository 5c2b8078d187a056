"""One item: open its engine, evaluate its cell in setup, judge it in the call, attach the outcome to the report."""

from __future__ import annotations

import unittest
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from pytest_puma.core import Backend, Model, Outcome, PumaError, UnchangedError
from pytest_puma.engine.engine import Engine
from pytest_puma.report.junit import properties
from pytest_puma.report.rows import number
from pytest_puma.run.assess import Context
from pytest_puma.run.cell import Cell
from pytest_puma.run.evaluate import evaluate
from pytest_puma.session.collected import NAME, cell_id
from pytest_puma.session.config import settings_of
from pytest_puma.session.failing import Told, fault, missed_gates, represent
from pytest_puma.session.memory import give_back
from pytest_puma.session.progress import progress_of
from pytest_puma.store.serialize import to_json

OUTCOME: pytest.StashKey[Outcome] = pytest.StashKey()
#: Why a perturbed cell was not run.
UNCHANGED: pytest.StashKey[str] = pytest.StashKey()
_SKIPPED = (pytest.skip.Exception, unittest.SkipTest)


@contextmanager
def open_engine(config: pytest.Config, model: Model) -> Iterator[Engine]:
    """The engine of a model, closed at the end."""
    backend: Backend | None = config.hook.pytest_puma_backend(model=model)
    with _said_plainly():
        engine = Engine(_native(config, model) if backend is None else backend)
    try:
        yield engine
    finally:
        engine.close()


def run(item: pytest.Item, cell: Cell, engine: Engine) -> Outcome:
    """Evaluate the cell; the outcome stays with the item. A cell whose perturbation changes no prompt is skipped."""
    give_back()
    try:
        with _said_plainly():
            outcome = _evaluate(item, cell, engine)
    except UnchangedError as error:
        item.stash[UNCHANGED] = str(error)
        pytest.skip(f"puma: {error}")
    item.stash[OUTCOME] = outcome = replace(outcome, node_id=item.nodeid)
    return outcome


def _evaluate(item: pytest.Item, cell: Cell, engine: Engine) -> Outcome:
    settings = settings_of(item.config)
    context = Context(
        baseline=settings.baseline_of(cell),
        naive_baselines=settings.naive_baselines_of(cell),
        policy=settings.policy,
    )
    return evaluate(
        cell,
        engine,
        context,
        project=settings.project,
        progress=progress_of(item.config, cell),
        determinism=settings.determinism,
        only=None if settings.only is None else settings.only.get(cell.id),
        stop_early=settings.stop_early,
    )


def prepared(item: pytest.Item) -> Generator[None, object, object]:
    """The item's fixtures; one that skips behind the benchmark is no way round a missed gate."""
    try:
        return (yield)
    except _SKIPPED:
        _fail_if_missed(item)
        raise


def judged(item: pytest.Item) -> Generator[None, object, object]:
    """The test's own body, then its gates: a missed one is a failure, whose report shows the sentences.

    A body that fails itself shows them too; one that skips fails by them.
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


def attach(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Put on the report what the controller must know: which cell it is of, and, once it is there, the outcome.

    The outcome is one JSON string, which reaches the controller with xdist too. It goes with the setup, in which it was
    computed, so that no fixture behind it loses it.
    """
    report.puma_cell = cell_id(item)  # type: ignore[attr-defined]
    report.puma_place = item.session.items.index(item)  # type: ignore[attr-defined]
    report.puma_collected = item.config.pluginmanager.getplugin(NAME).tell()  # type: ignore[attr-defined]
    if report.when == "setup" and UNCHANGED in item.stash:
        report.puma_unchanged = item.stash[UNCHANGED]  # type: ignore[attr-defined]
    if call.excinfo is not None and isinstance(call.excinfo.value, Told):
        report.puma_missed = call.excinfo.value.missed  # type: ignore[attr-defined]
        represent(item, call.excinfo.value, report)
    outcome = item.stash.get(OUTCOME, None)
    if outcome is not None and report.when == "call" and outcome.primary:
        report.puma_value = f"{outcome.primary}={number(outcome[outcome.primary])}"  # type: ignore[attr-defined]
    if outcome is not None and report.when == "setup":
        report.puma = to_json(outcome)  # type: ignore[attr-defined]
        if settings_of(item.config).junit:
            # pytest writes them with the report of the teardown, which copies what the item has then.
            others = [each for each in item.user_properties if not each[0].startswith("puma.")]
            item.user_properties[:] = [*others, *properties(outcome)]
    if outcome is not None and report.when == "teardown":
        # pytest keeps its items to the end of the session; thousands of predictions need not stay with them.
        del item.stash[OUTCOME]


def _fail_if_missed(item: pytest.Item) -> None:
    if missed := _missed(item):
        raise missed from None


def _missed(item: pytest.Item) -> Told | None:
    outcome = item.stash.get(OUTCOME, None)
    return missed_gates(outcome) if outcome is not None and outcome.failed else None


@contextmanager
def _said_plainly() -> Iterator[None]:
    """What cannot be done is said in a sentence: our own traceback would tell a user nothing."""
    try:
        yield
    except UnchangedError:
        raise
    except PumaError as error:
        raise fault(error) from None


def _native(config: pytest.Config, model: Model) -> Backend:
    from pytest_puma.engine.native import NativeBackend
    from pytest_puma.models import weights_digest
    from pytest_puma.session.xdist import own_share

    share = own_share(config)
    threads = settings_of(config).threads or share.threads
    return NativeBackend(model, threads=threads, gpu=share.gpu, digest=weights_digest(model.path))
