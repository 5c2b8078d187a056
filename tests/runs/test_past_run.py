"""A finished run comes back from its folder as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.analysis.contrasts import contrasts_of
from pytest_puma.analysis.robustness import robustness
from pytest_puma.core import DataError, Execution, Invocation, Judgement, Outcome, Run
from pytest_puma.report.terminal import summary
from pytest_puma.runs.past_run import PastRun
from pytest_puma.runs.run_folder import RunFolder
from tests.factories import cell, evaluated, fault, measure, outcome, revised, run, verdict

#: What an outcome needs during its run alone.
DURING = ("predictions", "shared_prompts", "cross_cell_gates", "replicates", "contrasts", "drift")


def computed() -> tuple[Outcome, ...]:
    """A cell of labels with missed gates, a perturbed twin, and a cell with scores of its own."""
    gates = ("f1_macro >= 0.9", "accuracy >= naive.majority + 0.1 !warn")
    plain = cell(gates=gates, compared_metrics=("f1_macro",))
    perturbed = cell(perturbation="case_upper", compared_metrics=("f1_macro",))
    return (
        revised(evaluated(plain), node_id="test_t.py::test_t[a]", notes=("it is small",)),
        revised(evaluated(perturbed, "Minor"), node_id="test_t.py::test_t[b]", notes=("it is small",)),
    )


def whole_run() -> Run:
    outcomes = computed()
    invocation = Invocation(command="pytest", commit="3f" * 20, branch="main", dirty=True, ci="CI")
    return run(
        *outcomes,
        invocation=invocation,
        seconds=1.5,
        number=7,
        verdicts=(verdict("max(f1_macro over strategy) >= 0.1", "FAIL", "no", measure=measure()),),
        problems=("a problem",),
        faults=(fault(),),
        robustness=robustness(outcomes),
        contrasts=contrasts_of(outcomes, ("strategy",)),
        unchanged=("nothing to change",),
        rescored_from="another",
    )


def written(root: Path, whole: Run) -> Path:
    folder = RunFolder(root, "20260101T000000-1")
    for each in whole.outcomes:
        folder.add(each)
    folder.finish(whole)
    folder.close()
    return folder.path


def as_stored(whole: Run) -> Run:
    """The run without what only the run itself needed; notes are once for each model, counts are plain."""
    empty: dict[str, Any] = {
        each.name: each.default_factory() if callable(each.default_factory) else each.default
        for record in (Judgement, Execution)
        for each in fields(record)
        if each.name in DURING
    } | {"predictions": (), "drift": None}
    plain = (
        revised(each, confusion={gold: dict(answers) for gold, answers in each.tables.confusion.items()}, **empty)
        for each in whole.outcomes
    )
    first, *others = plain
    return replace(whole, outcomes=(first, *(revised(each, notes=()) for each in others)))


def normal(whole: Run) -> str:
    """NaN equals NaN in this text."""
    return repr(whole)


def test_a_run_comes_back_as_it_was(tmp_path: Path) -> None:
    whole = whole_run()
    read = PastRun(written(tmp_path, whole)).run
    assert normal(read) == normal(as_stored(whole))
    assert read.notes == whole.notes
    assert summary(read, "folder", 120) == summary(whole, "folder", 120)


def test_the_predictions_of_each_cell_come_back(tmp_path: Path) -> None:
    whole = whole_run()
    past = PastRun(written(tmp_path, whole))
    assert any(outcome.predictions for outcome in whole.outcomes)
    for there, was in zip(map(past.answered, past.run.outcomes), whole.outcomes, strict=True):
        assert there.predictions == was.predictions
        assert there.execution.shared_prompts == was.execution.shared_prompts


def changed(change: Callable[[dict[str, Any]], object]) -> Callable[[str], str]:
    def edit(text: str) -> str:
        record = json.loads(text)
        change(record)
        return json.dumps(record)

    return edit


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda text: text[:100], r"not JSON \(.*\); expected the run.json of a run: is the file truncated\?"),
        (lambda _: "[1]", "format None; expected 2, the run.json that this version of pytest-puma writes"),
        (lambda _: '{"tests": []}', "format None; expected 2"),
        (changed(lambda record: record.update(format=3)), "format 3; expected 2, the run.json that"),
        (changed(lambda record: record["outcomes"][0].pop("measures")), "outcomes: measures: missing"),
        (changed(lambda record: record.pop("id")), "id: missing; expected the run.json that pytest-puma wrote"),
        (changed(lambda record: record.update(problems=3)), "problems: expected a list"),
        (changed(lambda record: record["outcomes"][0].update(usage=[])), "outcomes: usage: expected an object"),
        (changed(lambda record: record["outcomes"][0].update(seconds="3")), "outcomes: seconds: expected a number"),
        (changed(lambda record: record["outcomes"][0].update(warnings=[3])), "outcomes: warnings: expected a text"),
    ],
)
def test_a_damaged_record_is_an_error_in_a_sentence(tmp_path: Path, damage: Callable[[str], str], fault: str) -> None:
    path = written(tmp_path, run(outcome())) / "run.json"
    path.write_text(damage(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(DataError, match=rf"run.json: {fault}"):
        _ = PastRun(path.parent).run


def test_a_run_that_was_cut_off_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"run.json: cannot be read \(No such file or directory\); expected"):
        _ = PastRun(tmp_path).run


def test_predictions_that_are_not_whole_are_an_error(tmp_path: Path) -> None:
    past = PastRun(written(tmp_path, whole_run()))
    first, second = past.run.outcomes
    lines = past.file.path.read_bytes().splitlines(keepends=True)
    past.file.path.write_bytes(b"".join(lines[:-2]))
    assert past.answered(first).predictions
    with pytest.raises(DataError, match=r"predictions.jsonl: 10 of the 12 predictions of triage_jira-zero_shot\+case"):
        past.answered(second)
