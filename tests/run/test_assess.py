"""Assessment of given predictions, without a model."""

from __future__ import annotations

from threadpoolctl import threadpool_info, threadpool_limits

from pytest_puma.core import Metric
from pytest_puma.run.assess import Context, assess
from pytest_puma.run.predict import CellPredictions
from tests.factories import Triage, cell, entry, predictions, sample


def answered(golds: str, answers: str) -> CellPredictions:
    made = tuple(predictions(golds, answers))
    return CellPredictions(
        samples=tuple(sample(each.sample_id, gold=each.gold) for each in made),
        predictions=made,
        planned=len(made),
        hidden=frozenset(),
        signature={
            "data": None,
            "template_sha256": "t",
            "perturbation": None,
            "samples": len(made),
            "seed": 42,
            "generation": {},
            "engine": {},
        },
    )


def test_predictions_become_an_outcome_without_an_engine() -> None:
    outcome = assess(
        cell(Triage(), gates=("accuracy >= 0.5", "ece <= 0.1")), answered("ABCD" * 5, "ABCA" * 5), Context()
    )
    assert outcome["accuracy"] == 0.75
    assert [verdict.status for verdict in outcome.verdicts] == ["PASS", "NOT RUN"]
    assert outcome.cell == "triage-zero_shot@script"


def test_the_loss_of_every_answer_is_kept_as_a_score() -> None:
    outcome = assess(cell(Triage()), answered("AB", "AA"), Context())
    assert [each.loss for each in outcome.predictions] == [0.0, 1.0]


def test_metrics_of_the_cell_are_scored_on_the_way() -> None:
    short = Metric(name="is_short", score=lambda _, each: float(len(each.text) < 3))
    outcome = assess(cell(Triage(), scores=(short,)), answered("AB", "AB"), Context())
    assert outcome["is_short"] == 1


def test_the_same_predictions_are_assessed_against_another_baseline() -> None:
    given = answered("ABCD" * 10, "ABCD" * 9 + "AAAA")
    judged = cell(Triage(), gates=("accuracy >= baseline",))
    before = entry(assess(judged, answered("ABCD" * 10, "AB" * 20), Context()))
    assert assess(judged, given, Context(baseline=before)).verdicts[0].status == "PASS"
    assert assess(judged, given, Context()).verdicts[0].status == "NO BASELINE"


def test_matrices_are_computed_by_one_thread_without_a_change_for_others() -> None:
    def threads() -> set[int]:
        return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}

    seen = Metric(name="threads", score=lambda *_: float(max(threads())))
    with threadpool_limits(2, user_api="blas"):
        assert assess(cell(Triage(), scores=(seen,)), answered("AB", "AB"), Context())["threads"] == 1
        assert threads() == {2}
