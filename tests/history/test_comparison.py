"""Two runs compared: what changed, what only one of them has, and why something has no test."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Generation, Metric, Outcome, Pool, metric
from pytest_puma.history.comparison import RunComparison, Values, compare
from pytest_puma.history.older import OlderRun
from pytest_puma.planning.scores import used_scores
from pytest_puma.planning.settings import Registry
from pytest_puma.scenarios import TriageJiraScenario
from pytest_puma.stats import holm
from pytest_puma.store.past_run import PastRun
from pytest_puma.store.project_folder import runs_of
from tests.factories import cell, entry, evaluated
from tests.history.runs import keep, triaged

FIRST, SECOND = "20261101T100000-1", "20261102T100000-1"
ZERO, EGI = "triage_jira-zero_shot@script", "triage_jira-egi@script"


def by_length(prompt: str) -> str:
    return ("Major", "Minor", "Critical")[len(prompt) % 3]


def runs(root: Path, old: Sequence[Outcome], new: Sequence[Outcome], *, pattern: str = "*") -> RunComparison:
    keep(root, FIRST, old)
    keep(root, SECOND, new)
    return compared(root, pattern=pattern)


def compared(root: Path, *, pattern: str = "*") -> RunComparison:
    old, new = (PastRun(runs_of(root) / name) for name in (FIRST, SECOND))
    return compare(new.run.outcomes, new.answered, OlderRun("run 1", old), name="run 2", pattern=pattern)


def test_a_run_does_not_differ_from_itself(tmp_path: Path) -> None:
    keep(tmp_path, FIRST, [triaged(by_length), triaged(strategy="egi")])
    past = PastRun(runs_of(tmp_path) / FIRST)
    comparison = compare(past.run.outcomes, past.answered, OlderRun("run 1", past), name="run 1")
    assert comparison.same
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
    new = replace(old, signature={**old.signature, "template_sha256": "f" * 64})
    (cell,) = runs(tmp_path, [old], [new]).cells
    (sentence,) = cell.differs
    assert sentence.startswith("the prompt template is another one (")
    assert not cell.same


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


def forget(*names: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        for outcome in record["outcomes"]:
            for name in names:
                del outcome[name]
        (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")

    return edit


def test_a_run_of_an_older_version_is_compared_by_the_task_of_the_other_one(tmp_path: Path) -> None:
    expected = runs(tmp_path, [triaged()], [triaged(by_length)])
    for name in (FIRST, SECOND):
        forget("task")(runs_of(tmp_path) / name)
        told = compared(tmp_path)
        if name == FIRST:
            assert told.contrasts == expected.contrasts
    assert [cell.why for cell in told.cells] == ["both runs are of versions that did not store the task"]


def test_a_task_of_a_version_to_come_has_values_without_a_test(tmp_path: Path) -> None:
    old, new = triaged(), triaged(by_length)
    assert new.task is not None
    (cell,) = runs(tmp_path, [old], [replace(new, task=replace(new.task, type="ranking"))]).cells
    assert cell.why == "this version knows no task of the type 'ranking'"
    assert len(cell.untested) == 1


def test_what_the_clock_measures_is_not_compared(tmp_path: Path) -> None:
    outcome = triaged(gates=("latency_mean <= 10",))
    (cell,) = runs(tmp_path, [outcome], [triaged(gates=("latency_mean <= 10",))]).cells
    assert cell.same
    assert [each.change.metric for each in cell.contrasts] == ["f1_macro"]


# -- metrics of a project ------------------------------------------------------------------------


@metric(better="low", unit="characters", bounds=None)
def reply_length(sample: object, prediction: object) -> float:  # noqa: ARG001 - of one signature
    return float(len(prediction.text))  # type: ignore[attr-defined]


def first_share(predictions: Sequence[object]) -> float:
    return sum(each.answer == "Major" for each in predictions) / len(predictions)  # type: ignore[attr-defined]


class Measured(TriageJiraScenario):
    name = "measured"
    template_folder = "triage_jira"

    def metrics(self) -> dict[str, Metric]:
        return {"first_share": Metric(name="first_share", score=first_share, per="cell")}


def measured(answer: str | Callable[[str], str], *scores: Metric, gate: str) -> Outcome:
    return triaged(answer, scenario=Measured(), scores=scores, gates=(gate,), samples=30)


def test_a_metric_of_the_project_is_tested_by_its_stored_scores(tmp_path: Path) -> None:
    gate = "reply_length <= 100"
    (cell,) = runs(
        tmp_path, [measured("Major", reply_length, gate=gate)], [measured(by_length, reply_length, gate=gate)]
    ).cells
    contrast = cell.contrasts[1]
    assert (contrast.change.metric, contrast.test, contrast.change.n) == ("reply_length", "permutation", 30)
    assert contrast.change.old == 5
    assert not cell.untested


def test_a_metric_of_a_whole_cell_has_values_without_a_test(tmp_path: Path) -> None:
    gate = "first_share >= 0"
    (cell,) = runs(tmp_path, [measured("Major", gate=gate)], [measured("Minor", gate=gate)]).cells
    assert cell.untested == (Values(metric="first_share", old=1.0, new=0.0),)
    assert cell.why == "only its scenario can compute it"
    assert [each.change.metric for each in cell.contrasts] == ["f1_macro"]


def test_a_pool_of_the_project_has_values_without_a_test(tmp_path: Path) -> None:
    pooled = Metric(
        name="ratio", score=lambda _, __: (1.0, 2.0), pool=Pool(width=2, combine=lambda sums: sums[:, 0] / sums[:, 1])
    )
    gate = "ratio >= 0"
    (cell,) = runs(tmp_path, [measured("Major", pooled, gate=gate)], [measured("Minor", pooled, gate=gate)]).cells
    assert [each.metric for each in cell.untested] == ["ratio"]


@pytest.mark.parametrize("keyed", [True, False])
def test_a_flip_has_the_text_of_its_sample_if_the_id_is_a_hash(tmp_path: Path, *, keyed: bool) -> None:
    old, new = triaged(), triaged(by_length)
    assert old.task is not None
    task = replace(old.task, keyed=keyed)
    (cell,) = runs(tmp_path, [replace(old, task=task)], [replace(new, task=task)]).cells
    assert cell.flips
    assert all(bool(flip.text) is not keyed for flip in cell.flips)


# -- kinds of tasks ------------------------------------------------------------------------------


def answered(
    name: str, strategy: str, metrics: Sequence[str], answer: str | Callable[[str], str], **fields: Any
) -> Outcome:
    """A cell of a known scenario, with the scores that it declares."""
    registry = Registry()
    scenario = registry.known_scenario(name, where="here")()
    scores = used_scores(scenario, registry, metrics)
    options = {name: fields.pop(name) for name in ("baseline",) if name in fields}
    made = cell(
        scenario,
        strategy,
        scores=scores,
        gates=[f"{metric} >= baseline - 1 !point" for metric in metrics],
        compared_metrics=tuple(dict.fromkeys((scenario.primary_metric(), *metrics))),
        **fields,
    )
    outcome = evaluated(made, answer, **options)
    return replace(outcome, node_id=f"test_t.py::test_t[{outcome.cell}]")


def moody(prompt: str) -> str:
    said = prompt.rpartition("\x03")[2]
    return ("3", "Major", "B", "5 of them", "Minor", "8")[len(said) % 6]


@pytest.mark.parametrize(
    ("name", "strategy", "metrics", "fields"),
    [
        ("triage_jira", "option_scoring", ("brier", "ece", "accuracy"), {}),
        ("triage_jira", "zero_shot", ("accuracy",), {"repeats": 2, "generation": Generation(temperature=0.5)}),
        ("prioritization_jira", "zero_shot", ("accuracy",), {}),
        ("estimation_tawos", "zero_shot", ("rmse",), {}),
        ("commonsense_mini", "zero_shot", ("accuracy_chars",), {}),
        ("commonsense_mini", "cloze_scoring", ("accuracy_chars",), {}),
        ("translate_mini", "zero_shot", ("bleu", "chrf", "exact_match.loose"), {}),
    ],
)
def test_each_kind_of_task_has_the_numbers_of_a_gate_without_its_scenario(
    tmp_path: Path, name: str, strategy: str, metrics: Sequence[str], fields: dict[str, Any]
) -> None:
    old = answered(name, strategy, metrics, "3", **fields)
    new = answered(name, strategy, metrics, moody, baseline=entry(old), **fields)
    assert new.contrasts
    (same,) = runs(tmp_path / "same", [new], [new]).cells
    assert same.same
    (told,) = runs(tmp_path / "other", [old], [new]).cells
    assert (told.why, told.untested) == ("", ())
    assert [replace(each, against="", adjusted=0.0) for each in told.contrasts] == [
        replace(each, against="", adjusted=0.0) for each in new.contrasts
    ]
    assert [each.sample_id for each in told.flips] == [each.sample_id for each in new.flips]
    by_gate = [verdict.change for verdict in new.verdicts if verdict.change is not None]
    told_by_metric = {each.change.metric: each.change for each in told.contrasts}
    assert [told_by_metric[change.metric] for change in by_gate] == by_gate
