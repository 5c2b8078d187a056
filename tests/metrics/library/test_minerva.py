"""Minerva: the candidates of a reply, appendix D, exact and flexible comparison; values by hand."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_puma.core import SettingsError
from pytest_puma.core.conversation import Finish
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.metrics.library.minerva import normalised
from tests.factories import prediction, sample
from tests.metrics.library.replies import score

pytest.importorskip("math_verify")

ENGLISH = "So.\nFinal Answer: The final answer is ${}$. I hope it is correct."
GERMAN = "Also.\nFinale Antwort: Die finale Antwort lautet ${}$. Ich hoffe, die Antwort ist korrekt."
NAMES = ("minerva", "minerva.flex", "minerva.relaxed", "minerva.relaxed.flex")


@pytest.mark.parametrize(
    ("answer", "plain"),
    [
        ("x = 5 inches", "5"),
        (r"5\text{ cm}^2", "5"),
        (r"\$5.50", "5.50"),
        ("36 children tickets", "36"),
        (r"90^{\circ}", "90"),
        (r"2,3\text{ and }5", "2,3,5"),
        ("an integer", "integer"),
        (r"\frac12", r"\frac{1}{2}"),
        (r"\sqrt2", r"\sqrt{2}"),
        (r"\sqrt[3]8", r"\sqrt[3]{8}"),
        (r"\boxed{7}", "7"),
        (r"\mbox{even}", "even"),
        ("$12$ of them", "12"),
        ("1,234,567", "1234567"),
        ("10,\\!000", "10000"),
        (r"5^\text{th}", "5^th"),
        (r"5^\mathrm{th}", "5^"),
        # Where the original damages an expression.
        ("0,1", "0,1"),
        (r"\left(1, 2\right)", r"\left(1,2\right)"),
        (r"\alpha + 1", r"\alpha+1"),
        ("a + b", "a+b"),
        (r"2\pi cm", r"2\pi"),
    ],
)
def test_appendix_d_leaves_the_bare_answer(answer: str, plain: str) -> None:
    assert normalised(answer) == plain


@pytest.mark.parametrize(
    ("text", "reference", "exact", "flexible"),
    [
        (ENGLISH.format("5"), "5", 1, 1),
        (ENGLISH.format("x = 5"), "5", 1, 1),
        (ENGLISH.format(r"\frac{2}{4}"), "0.5", 1, 1),
        (ENGLISH.format("(x+1)^2"), "x^2+2x+1", 1, 1),
        (ENGLISH.format("6"), "5", 0, 0),
        ("Final Answer: The final answer is 5", "5", 1, 1),  # a stop string has cut the rest off
        (ENGLISH.format("6") + r" Or \boxed{5}?", "5", 0, 1),  # any candidate
        (r"First \boxed{6}, then $\boxed{\frac{1}{2}}$.", "0.5", 1, 1),
        ("It is $6$, no, $5$ inches.", "5", 1, 1),
        ("5", "5", 1, 1),
        ("It is 5.", "5", 0, 0),
        (r"\boxed{50\%}", "50", 1, 1),
        (r"\boxed{.5}", "1/2", 1, 1),
        (r"\boxed{5\text{ apples}}", "5", 1, 1),
        (r"\boxed{(1, 2)}", r"\left( 1,2 \right)", 1, 1),
        (r"\boxed{[0,1)}", "[0,1)", 1, 1),  # with eval-framework 0: SymPy's parser knows no intervals
        (r"\boxed{1,2}", "12", 0, 0),  # with eval-framework 1
        (r"\boxed{1.05}", "1.5", 0, 0),  # with eval-framework 1 in Flex
        (r"\boxed{dynaMo}", "Monday", 0, 0),  # with eval-framework 1: the products of the same letters
        (ENGLISH.format("7"), r"2 + 5 = 7, so \boxed{7}.", 1, 1),  # the whole solution
        (r"\boxed{7}", r"2 + 5 = 7, so \boxed{7}.", 1, 1),
        ("", "5", 0, 0),
    ],
)
def test_the_first_candidate_or_any_of_them_must_equal_the_reference(
    text: str, reference: str, exact: int, flexible: int
) -> None:
    assert score("minerva", text, reference) == exact
    assert score("minerva.flex", text, reference) == flexible


@pytest.mark.parametrize(
    ("text", "language", "strict", "relaxed"),
    [
        (ENGLISH.format("5"), "en", 1, 1),
        ("the final answer: The  answer is 5, I hope it is correct.", "en", 0, 0),
        ("the final answer: The  answer is 5. I hope it is correct.", "en", 0, 1),
        ("FINAL ANSWER: the final answer is\n5", "en", 0, 1),
        # With eval-framework, the relaxed answer is all that follows.
        ("Final answer: The answer is 5. I hope it is correct.\n\nProblem: 1 + 1", "en", 0, 1),
        (GERMAN.format("5"), "de", 1, 1),
        ("Endgültige Antwort: die Antwort ist 5 ich hoffe, sie ist korrekt.", "de", 0, 1),
        ("Finale Antwort: 5.", "de", 0, 1),
        (ENGLISH.format("5") + " $6$", "de", 0, 0),
        (GERMAN.format("5") + " $6$", "en", 0, 0),
    ],
)
def test_a_relaxed_final_line_has_more_wordings_and_each_language_its_own(
    text: str, language: str, strict: int, relaxed: int
) -> None:
    assert score("minerva", text, "5", language=language) == strict
    assert score("minerva.relaxed", text, "5", language=language) == relaxed


def test_the_candidates_are_those_of_the_reply_and_not_of_what_the_scenario_makes_of_it() -> None:
    raw = f"<think>\\boxed{{8}}</think>{ENGLISH.format('6')} \\boxed{{5}}"
    processed = prediction("s1", reply="6", raw=(raw,))
    assert LIBRARY["minerva.flex"].score(sample("s1", references=("5",)), processed) == 1
    assert LIBRARY["minerva.flex"].score(sample("s1", references=("8",)), processed) == 0


@pytest.mark.parametrize("finish", ["length", "context"])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"So \boxed{18}.", 0),  # the box may have been longer
        (r"So \boxed{18}. Check:", 1),
        (ENGLISH.format("18") + "\n\nNext", 1),
        ("Final Answer: The final answer is 18", 0),
        ("$18$ and", 0),
        ("18", 0),
    ],
)
def test_a_cut_reply_has_the_answers_that_it_marks_before_the_last_word(text: str, value: int, finish: Finish) -> None:
    cut = prediction("s1", reply=text, raw=(text,), finish=finish)
    assert LIBRARY["minerva.flex"].score(sample("s1", references=("18",)), cut) == value


@pytest.mark.parametrize("name", NAMES)
def test_any_reference_counts_and_without_one_nothing_is_scored(name: str) -> None:
    assert score(name, r"\boxed{5}", "4", "5") == 1
    assert score(name, r"\boxed{5}") is None


@pytest.mark.parametrize("language", ["fr", 5, None])
def test_another_language_is_refused(language: Any) -> None:
    with pytest.raises(SettingsError, match=r"minerva: .* as 'language'; expected 'en' or 'de'"):
        score("minerva", "5", "5", language=language)
