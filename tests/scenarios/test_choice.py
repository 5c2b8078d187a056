"""Choices of a row: the right ones, their orders, and the reply that names one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Choice, DataError, Sample, SettingsError
from pytest_puma.perturbations import parse_perturbation, perturb
from pytest_puma.scenarios import choice
from tests.composed import QUESTION, Quiz, drawn


class Digits(Quiz):
    """Its data call the choices 1, 2, 3."""

    def keys(self, item: dict[str, Any]) -> list[str]:
        return [str(number + 1) for number in range(len(item["choices"]))]


class Shuffled(Quiz):
    orders = 6


class Unsure(Quiz):
    idk = "I do not know"
    orders = 3


def options(answer: Any, scenario: type[Quiz] = Quiz, choices: Any = ("desk", "sea", "sky")) -> list[Choice]:
    return list(scenario().options({"question": "?", "choices": list(choices), "answer": answer}))


def right(answer: Any, scenario: type[Quiz] = Quiz, **row: Any) -> list[str]:
    return [choice.text for choice in options(answer, scenario, **row) if choice.right]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (0, ["desk"]),
        (2, ["sky"]),
        ("sea", ["sea"]),
        ("B", ["sea"]),
        ("C", ["sky"]),
        ([0, 2], ["desk", "sky"]),
        (["A", "sea"], ["desk", "sea"]),
    ],
)
def test_an_answer_is_a_place_a_text_a_letter_or_several(answer: Any, expected: list[str]) -> None:
    assert right(answer) == expected


def test_keys_of_the_data_take_the_place_of_letters() -> None:
    assert right("1", Digits) == ["desk"]
    assert right("3", Digits) == ["sky"]
    with pytest.raises(DataError, match="its answer is 'A'"):
        options("A", Digits)


def test_a_text_takes_precedence_over_an_equal_letter() -> None:
    assert right("B", choices=["B", "A"]) == ["B"]


@pytest.mark.parametrize("answer", [3, -1, "D", "cellar", None, True, [], [0, 7], 1.0])
def test_an_answer_that_is_no_choice_is_refused_with_the_choices(answer: Any, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        drawn(Quiz, tmp_path, QUESTION | {"answer": answer})
    assert str(caught.value).startswith("scenario 'quiz', row ")


def test_the_message_lists_the_choices_with_their_keys() -> None:
    with pytest.raises(DataError) as caught:
        options("cellar")
    assert str(caught.value) == (
        "its answer is 'cellar'; expected the place from 0, the text or the key of a choice "
        "(A: 'desk', B: 'sea', C: 'sky')"
    )


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (["desk", "desk"], "two of its choices are 'desk'; expected different texts"),
        (["desk"], "expected at least two texts that are not empty"),
        (["desk", " "], "expected at least two texts that are not empty"),
        (["desk", None], "expected at least two texts that are not empty"),
        ([str(number) for number in range(27)], "it has 27 choices; expected at most 26"),
    ],
)
def test_choices_that_answers_could_not_tell_apart_are_refused(choices: list[Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        options(0, choices=choices)


def test_not_knowing_is_the_last_choice_and_never_right() -> None:
    assert options(0, Unsure)[-1] == Choice(text="I do not know", right=False, idk=True)
    assert right(0, Unsure) == ["desk"]
    with pytest.raises(DataError, match="two of its choices are 'I do not know'"):
        options(0, Unsure, choices=["desk", "I do not know"])


def test_all_right_choices_are_references(tmp_path: Path) -> None:
    (sample,) = drawn(Quiz, tmp_path, QUESTION | {"answer": [1, 2]})
    assert (sample.gold, sample.references) == ("sea", ("sea", "sky"))


def orders(scenario: Quiz, sample: Sample, repeats: int = 1) -> list[tuple[int, ...]]:
    every = tuple(range(len(sample.choices)))
    return [trial.order or every for trial in scenario.trials(sample, 42, repeats)]


def test_one_order_is_that_of_the_data(tmp_path: Path) -> None:
    (sample,) = drawn(Quiz, tmp_path, QUESTION)
    assert orders(Quiz(), sample) == [(0, 1, 2)]
    assert [trial.index for trial in Quiz().trials(sample, 42, 3)] == [0, 1, 2]


def test_every_place_holds_every_choice_equally_often(tmp_path: Path) -> None:
    for sample in drawn(Shuffled, tmp_path, *(QUESTION | {"question": f"{number}?"} for number in range(20))):
        shown = orders(Shuffled(), sample)
        assert len(shown) == 6
        for place in range(3):
            assert set(Counter(order[place] for order in shown).values()) == {2}


def test_orders_are_drawn_for_each_sample_by_its_id_alone(tmp_path: Path) -> None:
    rows = [QUESTION | {"question": f"{number}?"} for number in range(30)]
    samples = drawn(Shuffled, tmp_path, *rows)
    first = {sample.id: orders(Shuffled(), sample)[0] for sample in samples}
    assert len(set(first.values())) == 6
    fewer = drawn(Shuffled, tmp_path, *rows[10:20])
    assert {sample.id: orders(Shuffled(), sample)[0] for sample in fewer}.items() <= first.items()


def test_repeats_ask_each_order_several_times(tmp_path: Path) -> None:
    (sample,) = drawn(Unsure, tmp_path, QUESTION)
    shown = orders(Unsure(), sample, repeats=2)
    assert shown[::2] == shown[1::2]
    assert len(set(shown)) == 3


@pytest.mark.parametrize("last", ["All of the above", "none of these", "Both of them", "Neither of the two"])
def test_choices_about_the_others_keep_their_place(last: str, tmp_path: Path) -> None:
    (sample,) = drawn(Shuffled, tmp_path, QUESTION | {"choices": ["desk", "sea", "sky", last]})
    assert {order[-1] for order in orders(Shuffled(), sample)} == {3}
    (other,) = drawn(Shuffled, tmp_path, QUESTION | {"choices": ["desk", "sea", "sky", "nothing at all of it"]})
    assert len({order[-1] for order in orders(Shuffled(), other)}) > 1


def test_not_knowing_keeps_its_place(tmp_path: Path) -> None:
    (sample,) = drawn(Unsure, tmp_path, QUESTION)
    assert {order[-1] for order in orders(Unsure(), sample)} == {3}


def test_another_label_order_is_another_order_of_the_choices(tmp_path: Path) -> None:
    (sample,) = drawn(Quiz, tmp_path, QUESTION)
    perturbed = perturb(Quiz(), sample, parse_perturbation("label_order"), 42)
    (order,) = orders(Quiz(), perturbed)
    assert sorted(order) == [0, 1, 2]
    assert order != (0, 1, 2)


def test_a_reply_is_read_in_the_order_shown(tmp_path: Path) -> None:
    (sample,) = drawn(Quiz, tmp_path, QUESTION)
    assert Quiz().read("A", sample) == "desk"
    assert Quiz().read("A", sample, (2, 0, 1)) == "sky"
    assert Quiz().read("B. desk", sample, (2, 0, 1)) == "desk"


@given(st.permutations(range(3)), st.sampled_from("ABC"))
def test_a_letter_names_the_choice_at_its_place(order: list[int], letter: str) -> None:
    choices = tuple(Choice(text=text) for text in ("desk", "sea", "sky"))
    sample = Sample(id="q", fields={}, gold="desk", units=("q",), choices=choices)
    assert Quiz().read(letter, sample, order) == choices[order["ABC".index(letter)]].text


@pytest.mark.parametrize("question", [None, "", "  ", 3])
def test_a_row_without_a_question_is_refused(question: Any) -> None:
    with pytest.raises(DataError, match=r"question\(\) returned .*; expected a text that is not empty"):
        Quiz().question_text({"question": question, "choices": ["a", "b"], "answer": 0}, ())


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(all"])
def test_a_pattern_of_the_last_choices_that_fails_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    class StoreShare(Quiz):
        keep_last = pattern

    monkeypatch.setattr(choice, "READING", 0.3)
    (one,) = drawn(StoreShare, tmp_path, {"question": "?", "choices": ["a" * 40 + "!", "b"], "answer": 1})
    with pytest.raises(SettingsError, match=r"StoreShare: keep_last is .*, which fails on the choice 'a+!': "):
        list(StoreShare().trials(one, 42, 1))
