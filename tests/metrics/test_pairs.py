"""Two sets of answers to the same trials: what is taken from which set, and which answers changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_puma.baseline.columns import stored
from pytest_puma.core import Flip
from tests.composed import Quiz
from tests.factories import Estimation, Triage, paired, prediction, predictions
from tests.metrics.texts import paired_texts, texts


def test_answers_that_changed_between_right_and_wrong_are_in_the_order_of_the_new_set() -> None:
    new, old = predictions("ABAB", ["B", "B", None, "A"]), predictions("ABAB", ["A", "A", "B", "A"])
    assert paired(Triage("AB"), new, old[::-1]).flips() == (
        Flip(sample_id="s0", gold="A", old="A", new="B", better=False),
        Flip(sample_id="s1", gold="B", old="A", new="B", better=True),
    )


def test_numbers_are_farther_off_or_nearer_and_a_parse_failure_is_the_farthest() -> None:
    new, old = predictions("5555", ["8", "6", "3", None]), predictions("5555", ["6", "9", "7", "99"])
    assert [(each.sample_id, each.better) for each in paired(Estimation(), new, old).flips()] == [
        ("s0", False),
        ("s1", True),
        ("s3", False),
    ]


def test_a_trial_has_its_number_if_a_sample_has_several() -> None:
    rows = [prediction("a", trial=trial, answer=answer) for trial, answer in enumerate("AAB")]
    flips = paired(Triage("AB"), rows, [replace(each, answer="B") for each in rows]).flips()
    assert [(each.sample_id, each.trial) for each in flips] == [("a", 0), ("a", 1)]


def test_texts_are_better_or_worse_by_their_scores() -> None:
    flips = paired_texts(texts([0.5, 1.0, 0.25, 0.0]), texts([0.75, 0.5, 0.25, None])).flips()
    assert [(each.sample_id, each.better, each.scores) for each in flips] == [
        ("s0", False, (0.75, 0.5)),
        ("s1", True, (0.5, 1.0)),
        ("s3", True, None),
    ]


def test_texts_that_are_right_or_wrong_have_no_scores_to_show() -> None:
    (flip,) = paired_texts(texts([0.0, 1.0]), texts([1.0, 1.0])).flips()
    assert (flip.sample_id, flip.better, flip.scores) == ("s0", False, None)


def test_a_score_of_a_number_shows_no_scores_of_texts() -> None:
    new, old = predictions("5", "8"), predictions("5", "6")
    (flip,) = paired(
        Estimation(), *([replace(each, scores={"mae": 1.0}) for each in side] for side in (new, old))
    ).flips()
    assert flip.scores is None


def test_equal_probabilities_and_those_of_a_baseline_are_the_same_for_a_metric_of_a_whole_cell() -> None:
    new = [replace(each, probabilities={"A": 1 / 3, "B": 2 / 3}) for each in predictions("ABAB", "BABB")]
    scenario = Triage("AB", metrics={"top": lambda rows: sum(max((row.probabilities or {}).values()) for row in rows)})
    change = paired(scenario, new, [stored(each, ()) for each in new]).change("top")
    assert change is not None
    assert (change.value, change.low, change.high) == (0, 0, 0)


def test_the_samples_of_the_new_set_hold_for_both() -> None:
    """Choices were reordered, another reference was added, and units and groups were corrected since the baseline."""
    new = prediction(
        gold="x", references=("x", "z"), answer="y", choices=("x", "y", "z"), units=("u",), groups={"subject": "law"}
    )
    old = prediction(gold="y", answer="z", choices=("y", "x", "z"), units=("v",), groups={"subject": "art"})
    pairs = paired(Quiz(), [new], [old])
    assert [(each.gold, each.old, each.new, each.better) for each in pairs.flips()] == [("x", "z", "y", False)]
    replicates = pairs.replicates("accuracy")
    assert replicates is not None
    assert (replicates[0].value, replicates[1].value) == (0.0, 1.0)
    assert replicates[0].samples == replicates[1].samples
    change = pairs.change("accuracy[subject=law]")
    assert change is not None
    assert change.old == 1.0


def test_fields_of_the_new_set_hold_for_both() -> None:
    own = {"long": lambda rows: sum(len(each.fields.get("text", "")) for each in rows) / len(rows)}
    new, old = (replace(predictions("A", "A")[0], fields={"text": text}) for text in ("abc", "a"))
    change = paired(Triage("AB", metrics=own), [new], [old]).change("long")
    assert change is not None
    assert (change.old, change.new) == (3.0, 3.0)


def test_pairs_are_the_trials_that_both_have() -> None:
    new = [prediction("a"), prediction("a", trial=1), prediction("b")]
    old = [prediction("b"), prediction("a", trial=1), prediction("c")]
    assert len(paired(Triage("AB"), new, old)) == 2


def test_the_decisive_metric_is_that_of_the_kind_of_task_or_the_primary_one() -> None:
    assert paired(Triage("AB"), predictions("A", "A"), predictions("A", "A")).decisive_metric == "accuracy"
    assert paired_texts(texts([1.0]), texts([1.0])).decisive_metric == "closeness"


@pytest.mark.parametrize(("better", "worse"), [("high", 1), ("low", 0)])
def test_a_change_of_scores_has_the_direction_of_the_metric(better: str, worse: int) -> None:
    change = paired_texts(texts([0.5, 0.5]), texts([0.75, 0.5]), better=better).change("closeness")
    assert change is not None
    assert (change.worse, change.better, change.scored) == (worse, 1 - worse, True)


def test_a_quotient_of_a_change_is_requested_as_such() -> None:
    pairs = paired_texts(texts([0.5, 0.5]), texts([0.25, 0.25]))
    values = [
        (each.value, each.quotient)
        for quotient in (False, True)
        if (each := pairs.change("closeness", quotient=quotient))
    ]
    assert values == [(0.25, False), (pytest.approx(2), True)]
