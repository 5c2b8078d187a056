"""Assessment of given predictions, without a model."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from pytest_puma.baseline.entry import Entry
from pytest_puma.core import Metric, Policy, Pool
from pytest_puma.evaluation.assess import Context, assess
from pytest_puma.evaluation.predict import CellPredictions
from tests.factories import Triage, cell, entry, predictions, sample
from tests.transcripts import replied


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
    assert [verdict.status for verdict in outcome.judgement.verdicts] == ["PASS", "NOT RUN"]
    assert outcome.cell == "triage-zero_shot@script"


def test_what_this_run_could_not_measure_fails_a_gate_that_wants_no_doubt() -> None:
    gates = ("latency_mean <= 1", "latency_mean <= 1 !fail", "ece <= 0.1 !fail")
    given = replace(answered("AB", "AB"), unmeasured={"clock": "is not measured: some answers are kept"})
    found = assess(cell(Triage(), gates=gates), given, Context()).judgement.verdicts
    # No reply of this strategy has what `ece` needs.
    assert [(each.status, each.fails) for each in found] == [("NOT RUN", False), ("NOT RUN", True), ("NOT RUN", False)]


def test_the_loss_of_every_answer_is_kept_as_a_score() -> None:
    outcome = assess(cell(Triage()), answered("AB", "AA"), Context())
    assert [each.loss for each in outcome.predictions] == [0.0, 1.0]


def test_metrics_of_the_cell_are_scored_on_the_way() -> None:
    short = Metric(name="is_short", score=lambda _, each: float(len(each.text) < 3))
    outcome = assess(cell(Triage(), scores=(short,)), answered("AB", "AB"), Context())
    assert outcome["is_short"] == 1


@pytest.mark.parametrize(
    "once",
    [
        Metric(name="absent", score=lambda *_: 1.0),
        Metric(name="absent", score=lambda *_: (1.0, 2.0), pool=Pool(2, lambda sums: sums[..., 0]), bounds=None),
    ],
    ids=["number", "vector"],
)
def test_a_gate_on_a_metric_that_applies_to_no_reply_fails(once: Metric) -> None:
    absent = replace(once, score=lambda *_: None)
    judged = cell(Triage(), scores=(absent,), gates=("absent <= 0.1", "absent <= baseline * 1.1"))
    given = answered("AB", "AB")
    before = entry(assess(cell(Triage(), scores=(once,), gates=("absent >= 0",)), given, Context()))
    limited, compared = assess(judged, given, Context(baseline=before)).judgement.verdicts
    assert (limited.status, limited.reason) == ("FAIL", "absent has nothing to measure (n=0)")
    assert (compared.status, compared.fails) == ("FAIL", True)
    assert compared.reason == limited.reason


def test_gates_of_a_cell_without_any_answer_fail() -> None:
    judged = cell(Triage(), gates=("brier <= 0.3", "ece[mean subject] <= 0.1"))
    given = answered("AB", "AB")
    none = tuple(replied(replace(each, answer=None), finish="overflow") for each in given.predictions)
    assert [each.status for each in assess(judged, given, Context()).judgement.verdicts] == ["NOT RUN", "NOT RUN"]
    assert [each.status for each in assess(judged, replace(given, predictions=none), Context()).judgement.verdicts] == [
        "FAIL"
    ] * 2


def test_the_same_predictions_are_assessed_against_another_baseline() -> None:
    given = answered("ABCD" * 10, "ABCD" * 9 + "AAAA")
    judged = cell(Triage(), gates=("accuracy >= baseline",))
    before = entry(assess(judged, answered("ABCD" * 10, "AB" * 20), Context()))
    assert assess(judged, given, Context(baseline=before)).judgement.verdicts[0].status == "PASS"
    assert assess(judged, given, Context()).judgement.verdicts[0].status == "NO BASELINE"


def test_matrices_are_computed_by_one_thread_without_a_change_for_others() -> None:
    def threads() -> set[int]:
        return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}

    seen = Metric(name="threads", score=lambda *_: float(max(threads())))
    with threadpool_limits(2, user_api="blas"):
        assert assess(cell(Triage(), scores=(seen,)), answered("AB", "AB"), Context())["threads"] == 1
        assert threads() == {2}


def _baseline(rows: int, answers: str) -> Entry:
    """A baseline with this number of the first samples alone."""
    whole = entry(assess(cell(Triage()), answered("ABCD" * 15, answers * 15), Context()))
    return replace(whole, answers=dict(islice(whole.answers.items(), rows)))


def test_equal_answers_to_a_few_common_samples_do_not_show_that_nothing_changed() -> None:
    judged = cell(Triage(), gates=("accuracy >= baseline", "no_regression", "accuracy >= baseline !point"))
    given = answered("ABCD" * 15, "ABCA" * 15)
    few = assess(judged, given, Context(baseline=_baseline(3, "ABCA"), policy=Policy(inconclusive="fail")))

    assert [verdict.status for verdict in few.judgement.verdicts] == ["INCONCLUSIVE", "INCONCLUSIVE", "PASS"]
    assert [verdict.fails for verdict in few.judgement.verdicts] == [True, True, False]
    assert few.judgement.verdicts[0].reason == (
        "accuracy stayed the same [0, 0] against baseline main@3f2c1d9 on the 3 samples that both have, which keeps "
        ">= baseline (0 of 3 answers went from right to wrong, 0 the other way); but these are too few to show that "
        "nothing changed"
    )
    assert "too few samples: a loss of 5 points is caught in" in few.judgement.verdicts[1].reason
    (warning,) = few.judgement.warnings
    assert warning.endswith(": 57 of 60 samples are not in baseline main@3f2c1d9; comparisons with it use the other 3")


def test_equal_answers_to_thirty_common_samples_or_to_all_pass() -> None:
    judged = cell(Triage(), gates=("accuracy >= baseline",))
    thirty = assess(judged, answered("ABCD" * 15, "ABCA" * 15), Context(baseline=_baseline(30, "ABCA")))
    assert thirty.judgement.verdicts[0].status == "PASS"
    assert ["30 of 60 samples are not in baseline" in each for each in thirty.judgement.warnings] == [True]

    judged = cell(Triage(), samples=4, gates=("accuracy >= baseline",))
    whole = assess(judged, answered("ABCD", "ABCA"), Context(baseline=_baseline(60, "ABCA")))
    assert whole.judgement.verdicts[0].status == "PASS"
    assert not any("baseline" in each for each in whole.judgement.warnings)


SHRUNK = (
    "triage-zero_shot@script: 25 of the 60 samples of baseline main@3f2c1d9 were run; comparisons with it use these"
)


@pytest.mark.parametrize(
    ("requested", "part", "warned"),
    [
        pytest.param({"samples": 25, "every": True}, {}, True, id="all rows"),
        pytest.param({"samples": 60}, {}, True, id="as many as in the baseline"),
        pytest.param({"samples": 40}, {}, True, id="more than the data have"),
        pytest.param({"samples": 25}, {}, False, id="fewer"),
        pytest.param({"samples": 60}, {"planned": 60}, False, id="stopped early"),
        pytest.param({"samples": 60}, {"complete": False}, False, id="only flips"),
        pytest.param({"samples": 60}, {"subjects": ["law"]}, False, id="other subjects"),
    ],
)
def test_data_that_shrank_are_named_unless_fewer_samples_were_requested(
    requested: dict[str, Any], part: dict[str, Any], *, warned: bool
) -> None:
    given = answered(("ABCD" * 15)[:25], ("ABCA" * 15)[:25])
    signature = {**given.signature, "subjects": part.pop("subjects", None)}
    given = replace(given, signature=signature, **part)
    judged = cell(Triage(), gates=("no_regression",), **requested)
    outcome = assess(judged, given, Context(baseline=_baseline(60, "ABCA")))
    assert [each for each in outcome.judgement.warnings if "baseline" in each] == [SHRUNK] * warned


def test_data_with_new_rows_that_lost_others_are_one_sentence() -> None:
    given = answered(("ABCD" * 15)[:25], ("ABCA" * 15)[:25])
    before = _baseline(60, "ABCA")
    before = replace(before, answers={key: each for key, each in before.answers.items() if key[0] not in {"s0", "s1"}})
    outcome = assess(cell(Triage(), samples=25, every=True), given, Context(baseline=before))
    sentence = "2 of 25 samples are not in baseline main@3f2c1d9; comparisons with it use the other 23 of its 58"
    assert [each for each in outcome.judgement.warnings if "baseline" in each] == [
        f"triage-zero_shot@script: {sentence}"
    ]


@pytest.mark.parametrize(
    ("gate", "part", "status", "warned"),
    [
        ("accuracy >= baseline - 0.05", "data", "PASS", True),
        ("no_regression", "data", "PASS", True),
        ("no_drift", "data", "PASS", True),
        ("accuracy >= baseline + 0.1", "data", "FAIL", False),
        ("accuracy >= baseline - 0.05", "template_sha256", "PASS", False),
        ("accuracy >= 0.1", "data", "PASS", False),
    ],
)
def test_changed_data_are_named_once_where_a_gate_on_the_baseline_is_judged(
    gate: str, part: str, status: str, *, warned: bool
) -> None:
    given = answered("ABCD" * 15, "ABCA" * 15)
    changed = replace(given, signature={**given.signature, part: {"file": "a.csv", "sha256": "f" * 64}})
    judged = cell(Triage(), samples=60, gates=(gate,))
    outcome = assess(judged, changed, Context(baseline=entry(assess(judged, given, Context()))))
    (verdict,) = outcome.judgement.verdicts
    sentence = "the data changed since baseline main@3f2c1d9: its answers are judged by today's labels"

    assert verdict.status == status
    assert outcome.judgement.warnings == ((f"triage-zero_shot@script: {sentence}",) if warned else ())


@pytest.mark.parametrize("gate", ["no_regression", "accuracy >= baseline + 0.9"])
def test_a_baseline_whose_number_changes_with_the_data_is_named_with_both_numbers(gate: str) -> None:
    given = answered("ABCD" * 15, "ABCA" * 15)
    # The ids name other rows now: each sample has the label of the next one.
    moved = answered("BCDA" * 15, "BCDA" * 15)
    moved = replace(moved, signature={**given.signature, "data": {"file": "a.csv", "sha256": "f" * 64}})
    judged = cell(Triage(), samples=60, gates=(gate,))
    outcome = assess(judged, moved, Context(baseline=entry(assess(judged, given, Context()))))
    (sentence,) = outcome.judgement.warnings
    assert sentence.endswith(
        "today's labels, which gives it accuracy 0.25 in place of 0.75: do its ids still name the same rows?"
    )


def test_a_run_that_becomes_the_baseline_is_not_compared_with_older_data() -> None:
    given = answered("ABCD" * 15, "ABCA" * 15)
    judged = cell(Triage(), samples=60, gates=("no_regression",))
    before = entry(
        assess(judged, replace(given, signature={**given.signature, "data": {"sha256": "f" * 64}}), Context())
    )
    assert assess(judged, given, Context(baseline=before, policy=Policy(accepts=True))).judgement.warnings == ()


def test_a_change_on_a_few_common_samples_is_judged_by_its_interval() -> None:
    judged = cell(Triage(), gates=("accuracy >= baseline - 0.9", "accuracy >= baseline + 0.9"))
    changed = assess(judged, answered("ABCD" * 15, "ABCA" * 15), Context(baseline=_baseline(8, "ABCD")))
    assert [verdict.status for verdict in changed.judgement.verdicts] == ["PASS", "FAIL"]
