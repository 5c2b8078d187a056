"""A finished run of two cells, to be loaded."""

from __future__ import annotations

from pathlib import Path

from pytest_puma.core import Outcome
from pytest_puma.runs.run_folder import RunFolder
from tests import factories
from tests.factories import cell, revised, run, verdict

GATES = ("accuracy >= 0.2", "f1_macro >= baseline")
BEST = verdict("max(accuracy over strategy) >= 0.9", "FAIL", "no")


def evaluated(strategy: str, reply: str = "Answer: Major") -> Outcome:
    outcome = factories.evaluated(cell(strategy=strategy, gates=GATES), lambda _: reply)
    return revised(outcome, node_id=f"test_t.py::test_t[{strategy}]")


def finished_folder(root: Path) -> Path:
    """A finished run of two cells, one of which ran twice."""
    written = RunFolder(root, "20260101T000000-1")
    first, again = evaluated("egi", "no idea"), revised(evaluated("egi"), attempt=2)
    outcomes = (evaluated("zero_shot"), again)
    for outcome in (first, *outcomes):
        written.add(outcome)
    written.finish(run(*outcomes, id="1", verdicts=(BEST,)))
    return written.path
