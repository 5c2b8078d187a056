"""The misses and flips below a gate."""

from __future__ import annotations

import pytest

from pytest_puma.core import Message
from pytest_puma.metrics import score
from pytest_puma.report.terminal import flip_lines, misses, worst_misses
from tests.factories import Estimation, Triage, flip, outcome, prediction, predictions, revised, verdict


def test_the_worst_misses_are_parse_failures_then_the_largest_errors() -> None:
    answered = score(Estimation(), (), predictions(["3", "3", "3", "5", "5"], ["1", "3", "34", None, "8"]))
    assert [each.sample_id for each in worst_misses(answered)] == ["s3", "s2", "s4", "s0"]


def test_among_labels_the_surest_miss_is_the_worst() -> None:
    unsure = prediction("unsure", answer="B", probabilities={"A": 0.4, "B": 0.6})
    sure = prediction("sure", answer="B", probabilities={"A": 0.1, "B": 0.9})
    right = prediction("right", probabilities={"A": 1.0})
    answered = score(Triage(), (), [unsure, right, sure])
    assert [each.sample_id for each in worst_misses(answered)] == ["sure", "unsure"]


def test_without_a_wrong_answer_there_are_no_misses() -> None:
    assert misses(outcome()) == []


def test_below_a_regression_new_misses_come_first_with_the_earlier_answer() -> None:
    answered = score(
        Triage(), (), [prediction(f"s{row}", answer="B", probabilities={"B": 0.9 - row / 10}) for row in range(7)]
    )
    fall = verdict("accuracy >= baseline", "FAIL")
    flipped = (flip("s6", new="B"), flip("s5", new="B"), flip("s9", better=True))
    one = outcome(predictions=tuple(answered), flips=flipped, verdicts=(fall,))
    lines = misses(one)
    assert lines[1] == "the worst 5 of 7 misses, first the 2 that are worse than in the baseline:"
    assert [line.split(":")[0].strip() for line in lines[2::3]] == ["s5", "s6", "s0", "s1", "s2"]
    assert lines[2].endswith("gold is A, was A")
    assert lines[8].endswith("gold is A")
    of_value = revised(one, verdicts=(verdict("accuracy >= 0.9", "FAIL"), verdict("accuracy >= baseline")))
    assert misses(of_value)[1] == "the worst 5 of 7 misses:"
    assert misses(of_value)[2].startswith("  s0: ")


def test_a_new_miss_of_a_trial_or_of_a_score_shows_what_it_was() -> None:
    trials = score(Triage(), (), [prediction("s", trial=trial, answer="B", raw=("B",)) for trial in range(2)])
    one = outcome(
        predictions=tuple(trials),
        samples=1,
        trials=2,
        flips=(flip("s", trial=1, old="A", new="B", scores=(0.75, 0.25)),),
        verdicts=(verdict("no_regression", "FAIL", p=0.01),),
    )
    assert misses(one)[2] == "  s #2: answered B, gold is A, was A, score 0.75 to 0.25"


def test_a_miss_names_its_trial_if_samples_have_several() -> None:
    trials = tuple(prediction("s", trial=trial, answer="B", raw=("B",)) for trial in range(2))
    assert misses(outcome(predictions=trials, samples=1, trials=2))[2].startswith("  s #1: answered B")
    assert misses(outcome(predictions=trials[:1], samples=1, trials=1))[2].startswith("  s: answered B")


def test_a_miss_shows_its_texts_and_a_scored_one_its_probabilities() -> None:
    scored = prediction("s", answer="B", raw=("",), probabilities={"A": 0.125, "B": 0.875})
    written = prediction("t", answer="B", raw=("B,\nI say",))
    lines = misses(outcome(verdicts=(verdict("mae <= 0", "FAIL"),), predictions=(scored, written)))
    assert [line.strip() for line in lines if "raw" in line] == ["raw    B 87.5%, A 12.5%", "raw    'B, I say'"]


def test_a_miss_shows_what_its_prompt_has_of_its_own() -> None:
    shared = (Message(role="user", content="Which team? "),)
    texts = ("My invoice is wrong.", f"{'My password is refused. ' * 9}Reply with the team only.", "")
    missed = tuple(
        prediction(str(n), answer="B", prompts=((Message(role="user", content=text),),)) for n, text in enumerate(texts)
    )
    whole = outcome(predictions=missed, shared_prompts=(shared,))
    lines = [line.strip() for line in misses(whole) if line.strip().startswith("prompt ")]
    assert lines == [
        "prompt My invoice is wrong.",
        (
            "prompt My password is refused. My password is refused. My ... "
            "My password is refused. Reply with the team only."
        ),
        "prompt Which team?",
    ]


def test_the_end_that_all_prompts_share_is_not_shown() -> None:
    missed = tuple(
        prediction(str(n), answer="B", prompts=((Message(role="user", content=f"<item>\n{text}</item>\nTeam?"),),))
        for n, text in enumerate(("My invoice is wrong.", f"{'No password works. ' * 9}It is refused."))
    )
    lines = [
        line.strip()
        for line in misses(outcome(predictions=missed, shared_prompts=((),)))
        if line.strip().startswith("prompt ")
    ]
    assert lines[0] == "prompt <item> My invoice is wrong"
    assert lines[1].endswith(" It is refused")


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ("unparsed", "no answer, as the parser found none in the reply (unparsed)"),
        ("overflow", "no answer, as the prompt is longer than the context (overflow)"),
        ("refused", "no answer (refused)"),
        ("", "no answer"),
    ],
)
def test_a_missing_answer_has_its_cause_in_words(failure: str, words: str) -> None:
    missed = prediction("s", answer=None, failure=failure, raw=("hm",))
    assert misses(outcome(predictions=(missed,)))[2] == f"  s: {words}, gold is A"


def test_a_flip_of_a_sample_without_a_key_shows_its_text() -> None:
    changed = (flip("3f2c1d9a0b1e", new="B", text="My password is refused."), flip("T-1", better=True))
    assert flip_lines("triage-zero_shot@m", changed)[1:] == [
        "  worse   3f2c1d9a0b1e (My password is refused.): gold is A, was A, is B",
        "  better  T-1: gold is A, was B, is A",
    ]
