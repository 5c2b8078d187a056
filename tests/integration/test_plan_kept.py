"""`--puma-plan` counts the kept answers, and its minutes are those of the rest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Project
from tests.integration.test_plan import rows
from tests.integration.test_response_store import newest

CELLS = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "egi", "option_scoring"], samples=12, max_tokens=8)
def test_triage(puma):
    pass

@pytest.mark.puma("estimation_tawos", strategies=["self_consistency_3"], samples=8, max_tokens=8)
def test_points(puma):
    pass
"""
ZERO, EGI, SCORING = (f"triage_jira-{name}@tiny" for name in ("zero_shot", "egi", "option_scoring"))
#: The place of the column behind the name of the cell.
KEPT, MINUTES = 5, 6


@pytest.fixture
def real(alone: Project) -> Project:
    """Cells of the real engine; no plan computes them."""
    alone.write(conftest="", test_all=CELLS)
    return alone


def kept(result: pytest.RunResult) -> dict[str, int]:
    """The column of a plan; empty if it has none."""
    header = next(line for line in result.outlines if line.startswith("cell "))
    return {cell: int(columns[KEPT]) for cell, columns in rows(result).items()} if " kept " in header else {}


def slow(project: Project) -> None:
    """Make the model so slow that minutes are large."""
    path = project.pytester.path / ".puma" / "throughput.json"
    entries: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({name: {**entry, "prefill": 1.0} for name, entry in entries.items()}), encoding="utf-8")


def minutes(result: pytest.RunResult, cell: str) -> float:
    return float(rows(result)[cell][MINUTES if kept(result) else KEPT].replace(",", ""))


def test_without_kept_answers_there_is_no_column(real: Project) -> None:
    assert kept(real.run("--puma-plan")) == {}
    assert not (real.pytester.path / ".puma").exists()
    real.run("-k", "zero_shot", "--puma-store=off").assert_outcomes(passed=1)
    assert kept(real.run("--puma-plan")) == {}


def test_it_counts_what_the_run_then_takes(real: Project) -> None:
    real.run("-k", "zero_shot or egi").assert_outcomes(passed=2)
    store = real.pytester.path / ".puma" / "responses.sqlite"
    before = store.read_bytes()
    planned = real.run("--puma-plan")
    planned.stdout.fnmatch_lines(["kept: answers that the run takes from the response store; the minutes are those *"])
    assert store.read_bytes() == before
    real.run().assert_outcomes(passed=4)
    taken = {each["cell"]: each["kept"]["kept"] if each["kept"] else 0 for each in newest(real)["outcomes"]}
    assert kept(planned) == taken | {"all": sum(taken.values())}
    assert taken[ZERO] == 12
    assert taken[EGI] > 12, "both turns of a conversation"
    assert taken[SCORING] == 0
    assert all(kept(real.run("--puma-plan")).values())


def test_the_minutes_are_those_of_the_rest_and_the_tokens_those_of_all(real: Project) -> None:
    real.run().assert_outcomes(passed=4)
    slow(real)
    whole, planned = real.run("--puma-plan", "--puma-store=fresh"), real.run("--puma-plan")
    assert kept(whole) == {}
    assert minutes(whole, ZERO) > 15
    assert rows(planned).keys() == rows(whole).keys() != set()
    for cell, columns in rows(planned).items():
        assert columns[:KEPT] == rows(whole)[cell][:KEPT]
        assert minutes(planned, cell) == 0


def test_a_part_of_the_answers_saves_a_part_of_the_minutes(real: Project) -> None:
    real.run("--puma-samples=8", "-k", "zero_shot").assert_outcomes(passed=1)
    slow(real)
    whole, part = real.run("--puma-plan", "--puma-store=fresh"), real.run("--puma-plan")
    assert kept(part)[ZERO] == 8
    assert 0.2 < minutes(part, ZERO) / minutes(whole, ZERO) < 0.5
    assert minutes(part, EGI) == minutes(whole, EGI)


@pytest.mark.parametrize("option", ["--puma-max-tokens=9", "--puma-strict", ",thinking=on"])
def test_answers_that_do_not_fit_are_not_counted(real: Project, option: str) -> None:
    real.run("-k", "zero_shot").assert_outcomes(passed=1)
    model = f"--puma-model={real.model}{option if option.startswith(',') else ''}"
    options = [] if option.startswith(",") else [option]
    planned = real.run("--puma-plan", "-k", "zero_shot", model, *options, model=False)
    assert kept(planned) == {}


def test_the_weights_are_not_read_for_it(real: Project, tmp_path: Path) -> None:
    copy = tmp_path / "copy" / "tiny.gguf"
    copy.parent.mkdir()
    copy.write_bytes(real.model.read_bytes())
    real.run("-k", "zero_shot").assert_outcomes(passed=1)
    # Its digest is unknown, as it never ran.
    assert kept(real.run("--puma-plan", f"--puma-model={copy}", model=False)) == {}
