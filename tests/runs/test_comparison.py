"""Two runs compared: changes, cells and samples of one run alone, and the reasons why something has no test."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.core import Generation
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.report.comparison import comparison_lines
from pytest_puma.runs.comparison import compare
from pytest_puma.runs.past_run import Older, PastRun
from pytest_puma.stats.significance import holm
from tests.factories import revised
from tests.runs.comparisons import FIRST, SECOND, by_length, compared, runs
from tests.runs.runs import keep, triaged

ZERO, EGI = "triage_jira-zero_shot@script", "triage_jira-egi@script"


def test_a_run_does_not_differ_from_itself(tmp_path: Path) -> None:
    keep(tmp_path, FIRST, [triaged(by_length), triaged(strategy="egi")])
    past = PastRun(runs_of(tmp_path) / FIRST)
    comparison = compare(past.run.outcomes, past.answered, Older.of_run("run 1", past), name="run 1")
    assert comparison.same
    assert len(comparison.cells) == 2
    assert all(cell.same and not cell.flips and not cell.differs for cell in comparison.cells)
    assert {each.change.value for each in comparison.contrasts} == {0.0}


def test_cells_and_samples_of_one_run_alone_are_named(tmp_path: Path) -> None:
    old = [triaged(samples=12), triaged(strategy="few_shot_3")]
    new = [triaged(samples=20), triaged(strategy="egi")]
    comparison = runs(tmp_path, old, new)
    assert comparison.only_old == ("triage_jira-few_shot_3@script",)
    assert comparison.only_new == (EGI,)
    (cell,) = comparison.cells
    assert not cell.only_old
    assert set(cell.only_new) == {each.sample_id for each in new[0].predictions[12:]}
    assert {each.change.n for each in cell.contrasts} == {12}
    assert cell.differs == ("the number of samples was 12 and is 20",)
    assert not cell.same


def test_more_trials_of_the_same_samples_are_trials_of_one_run_alone(tmp_path: Path) -> None:
    warm = Generation(temperature=0.7)
    few, many = (triaged(samples=size, repeats=count, generation=warm) for size, count in ((6, 2), (8, 3)))
    ids = sorted({each.sample_id for each in few.predictions})
    comparison = runs(tmp_path, [few], [many])
    (cell,) = comparison.cells
    assert (cell.only_old, len(cell.only_new)) == ((), 2)
    assert (cell.trials_old, cell.trials_new) == ((), tuple(ids))
    assert "only in run 2: 6 trials of 6 samples of triage_jira-zero_shot@script that both have" in comparison_lines(
        comparison, 200, flips=False
    )


def test_p_values_are_adjusted_for_the_whole_table(tmp_path: Path) -> None:
    gates = ("accuracy >= 0.1", "parse_failure_rate <= 1")
    old = [triaged(gates=gates, samples=40), triaged(strategy="egi", samples=40)]
    new = [triaged(by_length, gates=gates, samples=40), triaged("Trivial", strategy="egi", samples=40)]
    contrasts = runs(tmp_path, old, new).contrasts
    assert [(each.cell, each.change.metric) for each in contrasts] == [
        *((ZERO, name) for name in ("f1_macro", "accuracy", "parse_failure_rate")),
        (EGI, "f1_macro"),
    ]
    assert [each.adjusted for each in contrasts] == holm([each.p for each in contrasts])


def test_only_matching_cells_are_compared(tmp_path: Path) -> None:
    both = [triaged(), triaged(strategy="egi"), triaged(strategy="few_shot_3")]
    comparison = runs(tmp_path, both, both[:2], pattern="*-egi@*")
    assert [cell.cell for cell in comparison.cells] == [EGI]
    assert comparison.same, "few_shot_3 does not match"


def test_an_answer_that_changed_without_a_flip_is_a_difference(tmp_path: Path) -> None:
    (cell,) = runs(tmp_path, [triaged("no answer")], [triaged("nothing")]).cells
    assert cell.same, "both are parse failures"
    golds = {each.gold for each in triaged(samples=2).predictions}
    one, other, *_ = (label for label in ("Critical", "Major", "Minor", "Trivial") if label not in golds)
    (cell,) = runs(tmp_path / "b", [triaged(one, samples=2)], [triaged(other, samples=2)]).cells
    assert (cell.flips, cell.changed, cell.same) == ((), 2, False)


def test_a_changed_template_is_named_and_the_unchanged_parts_are_not(tmp_path: Path) -> None:
    old = triaged()
    new = revised(old, signature={**old.execution.signature, "template_sha256": "f" * 64})
    (cell,) = runs(tmp_path, [old], [new]).cells
    (sentence,) = cell.differs
    assert sentence.startswith("the prompt template is another one (")
    assert not cell.same


def test_a_changed_parser_is_named(tmp_path: Path) -> None:
    old = triaged()
    new = revised(old, signature={**old.execution.signature, "parser_sha256": "f" * 64})
    (cell,) = runs(tmp_path, [old], [new]).cells
    assert cell.differs == (
        f"the parser is another one ({old.execution.signature['parser_sha256'][:8]}, now ffffffff)",
    )


def test_metrics_without_a_difference_are_one_line(tmp_path: Path) -> None:
    gates = ("accuracy >= 0.1", "parse_failure_rate <= 1")
    old = [triaged(gates=gates, samples=40), triaged(strategy="egi", gates=gates, samples=40)]
    new = [triaged(by_length, gates=gates, samples=40), triaged("Trivial", strategy="egi", gates=gates, samples=40)]
    comparison = runs(tmp_path, old, new)
    shown = comparison_lines(comparison, 200, flips=False)
    assert len(comparison.contrasts) == 6
    assert not any(" parse_failure_rate " in line for line in shown)
    assert f"no difference: {ZERO} and 1 more: parse_failure_rate" in shown
    assert "Holm: over 6 tests, 2 of them without a difference" in shown


def test_what_does_not_fit_into_a_narrow_terminal_stands_below_its_row(tmp_path: Path) -> None:
    comparison = runs(tmp_path, [triaged(samples=40)], [triaged(by_length, samples=40)])
    wide, narrow = (comparison_lines(comparison, width, flips=False) for width in (200, 80))
    (row,) = (line.split() for line in wide if " f1_macro " in line)
    contrast = comparison.contrasts[0]
    assert f"{contrast.change.worse} worse; {contrast.change.better} better; {contrast.test}; p " in " ".join(narrow)
    assert f"p {row[-2]}" in " ".join(narrow)


def test_without_predictions_values_stand_side_by_side(tmp_path: Path) -> None:
    keep(tmp_path, FIRST, [triaged()])
    keep(tmp_path, SECOND, [triaged(by_length)])
    (runs_of(tmp_path) / FIRST / "predictions.jsonl").unlink()
    comparison = compared(tmp_path)
    (cell,) = comparison.cells
    assert not comparison.contrasts
    assert cell.why == "run 1 has no predictions of it any more"
    assert [each.metric for each in cell.untested] == ["f1_macro"]
    assert cell.untested[0].old != cell.untested[0].new
    assert not cell.same


def test_predictions_that_were_cut_off_are_named(tmp_path: Path) -> None:
    keep(tmp_path, FIRST, [triaged()])
    keep(tmp_path, SECOND, [triaged(by_length)])
    path = runs_of(tmp_path) / SECOND / "predictions.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-3]))
    (cell,) = compared(tmp_path).cells
    assert "9 of the 12 predictions of" in cell.why


def test_a_task_of_a_version_to_come_has_values_without_a_test(tmp_path: Path) -> None:
    old, new = triaged(), triaged(by_length)
    assert new.task is not None
    (cell,) = runs(tmp_path, [old], [replace(new, task=replace(new.task, type="ranking"))]).cells
    assert cell.why == "this version does not know its task"
    assert len(cell.untested) == 1


def test_what_the_clock_measures_is_not_compared(tmp_path: Path) -> None:
    outcome = triaged(gates=("latency_mean <= 10",))
    (cell,) = runs(tmp_path, [outcome], [triaged(gates=("latency_mean <= 10",))]).cells
    assert cell.same
    assert [each.change.metric for each in cell.contrasts] == ["f1_macro"]


@pytest.mark.parametrize("keyed", [True, False])
def test_a_flip_has_the_text_of_its_sample(tmp_path: Path, *, keyed: bool) -> None:
    old, new = triaged(), triaged(by_length)
    assert old.task is not None
    task = replace(old.task, keyed=keyed)
    (cell,) = runs(tmp_path, [replace(old, task=task)], [replace(new, task=task)]).cells
    assert cell.flips
    assert all(flip.text for flip in cell.flips)
