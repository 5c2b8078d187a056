"""The sentences about a cell that every report shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_puma.analysis.cautions import on_answers, on_repeats, on_slow_metrics
from pytest_puma.core import SANDBOX, Prediction, Response, Transcript, Turn
from pytest_puma.scenarios import EstimationTawosScenario, TriageJiraScenario
from tests.factories import prediction, sample


def failed(cause: str, times: int, parsed: str | None = None) -> list[Prediction]:
    return [prediction(cause, gold="Major", answer=None, failure=cause, parsed=parsed)] * times


#: The output of a text that is no program.
BROKEN = '  File "<program>", line 1\n    ^\nSyntaxError: invalid syntax'
RIGHT = prediction("r", gold="Major", answer="Major")


def test_parse_failures_are_counted_by_cause() -> None:
    answers = [*failed("no_answer_line", 3), *failed("truncated", 5), *failed("overflow", 2), *[RIGHT] * 10]
    assert on_answers(TriageJiraScenario(), answers) == [
        (
            "10 of 20 replies could not be parsed (5 truncated, 3 no answer line, 2 overflow); "
            "the scores are not meaningful"
        ),
        "2 of 20 prompts are longer than the context and were not answered",
    ]


def test_a_few_parse_failures_are_tolerated_but_never_a_label_that_does_not_exist() -> None:
    assert on_answers(TriageJiraScenario(), [*failed("empty", 1), *[RIGHT] * 19]) == []
    (sentence,) = on_answers(TriageJiraScenario(), [*failed("not_a_label", 1, "major"), *[RIGHT] * 99])
    assert sentence.startswith("1 of 100 answers are not among valid_labels(): 'major' (1); expected one of Critical,")


def test_labels_that_no_sample_has_are_named_if_answers_do() -> None:
    wrong = [prediction("w", gold="Major", answer=answer) for answer in ("Minor", "Minor", "Trivial")]
    (sentence,) = on_answers(TriageJiraScenario(), [*wrong, *[RIGHT] * 27])
    assert sentence == (
        "no sample has the label Minor or Trivial, which 3 of 30 answers name; "
        "f1_macro counts each of these labels as a class with an F1 of 0"
    )
    assert on_answers(TriageJiraScenario(), [*wrong, *[RIGHT] * 26]) == []
    assert (
        on_answers(TriageJiraScenario(), [*wrong[:2], prediction("m", gold="Minor", answer="Major"), *[RIGHT] * 27])
        == []
    )


def test_texts_that_are_no_numbers_are_shown_the_commonest_first() -> None:
    texts = ("2h", "3d", "3d", "1w", "5m")
    answers = [each for text in texts for each in failed("not_a_number", 1, text)]
    (sentence,) = on_answers(EstimationTawosScenario(), answers)
    assert sentence == (
        "5 of 5 answers are not finite numbers: '3d' (2), '2h' (1), '1w' (1) and 1 more; "
        "parse_response() must return a number as text, or None"
    )


def ran(text: str, output: str) -> Prediction:
    transcript = Transcript((Turn(response=Response(text=output)),))
    return prediction(answer=text, reply=text, transcripts={SANDBOX: transcript})


@pytest.mark.parametrize(
    ("programs", "sentence"),
    [
        (
            [ran("```\nx = 1\n```", BROKEN), ran("x = 1 +", BROKEN), ran("x = 1", "")],
            "2 of 3 programs end with a SyntaxError, 1 of them in replies with Markdown fences; return code(text) of",
        ),
        ([ran("I can't.", BROKEN)] * 2, "2 of 2 programs end with a SyntaxError: the text that metrics read is no"),
    ],
)
def test_programs_that_are_no_code_are_counted(programs: list[Prediction], sentence: str) -> None:
    (caution,) = on_answers(TriageJiraScenario(), programs)
    assert caution.startswith(sentence)


def test_programs_that_are_wrong_are_no_reason_for_a_caution() -> None:
    fences = '"""\n```\nx\n```\n"""'
    assert not on_answers(
        TriageJiraScenario(), [ran(fences, "AssertionError"), ran("x = 1 +", BROKEN), ran("", ""), RIGHT]
    )


def test_an_own_metric_that_takes_much_of_a_long_cell_is_named() -> None:
    sentences = on_slow_metrics({"x": (81.2, 301), "y": (0.3, 301)}, 83.4)
    assert sentences == [
        (
            "metrics(): 'x' took 81 s of 83 s in 301 calls, all but one for its interval; "
            "compute once what depends on one prediction alone, and look it up by its sample_id"
        )
    ]
    assert on_slow_metrics({"x": (4.9, 301)}, 5.0) == []
    assert on_slow_metrics({"x": (10.0, 301)}, 600.0) == []


def test_repeated_rows_are_listed_with_their_places_and_text() -> None:
    plain = sample("a", fields={"text": "My password is refused."}, row="row 5")
    again = replace(plain, id="a#2", row="row 17", equal_row="row 5")
    assert on_repeats([plain], ["text"]) == []
    assert on_repeats([plain, again], ["text"]) == [
        (
            "1 of 2 samples repeat an earlier row: row 17 repeats row 5 ('My password is refused.'); they count as "
            'further samples of the same unit; duplicates = "drop" in the scenario leaves them out'
        )
    ]
