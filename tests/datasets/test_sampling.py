"""Samples drawn from a scenario."""

from __future__ import annotations

import math
import re
from typing import Any

import pandas as pd
import pytest

from pytest_puma.core import DataError, Scenario, SettingsError
from pytest_puma.scenarios import (
    draw,
)
from tests.scenarios.custom import Custom, frame, ids, repeated


def refusal(scenario: Scenario) -> str:
    with pytest.raises(DataError) as caught:
        draw(scenario, 10, 42)
    return str(caught.value)


def test_samples_carry_the_key_the_fields_and_the_gold() -> None:
    sample = draw(Custom(frame(), key="id"), 3, 42)[1]
    assert (sample.id, sample.gold, sample.units) == ("Q-1", "no", ("Q-1",))
    assert sample.fields == {"id": "Q-1", "text": "text 1", "gold": "no"}


def test_without_a_key_the_content_names_the_sample() -> None:
    one, other = draw(Custom(frame()), 2, 42), draw(Custom(frame().iloc[::-1]), 4, 42)
    assert one[0].id == other[-1].id
    assert len({sample.id for sample in other}) == 4


def test_units_come_from_their_columns() -> None:
    scenario = Custom(frame(left=[1, 2, 3, 4], right=list("abcd")), key="id", unit_columns=("left", "right"))
    assert draw(scenario, 1, 42)[0].units == ("1", "a")


def test_missing_text_is_empty_and_other_missing_values_are_none() -> None:
    (sample,) = draw(Custom(frame(2, text=[math.nan, "x"], note=[math.nan, "y"]), key="id"), 1, 42)
    assert sample.fields["text"] == ""
    assert sample.fields["note"] is None


@pytest.mark.parametrize(
    ("gold", "text"), [(3, "3"), (3.0, "3"), ("3.0", "3"), (0.5, "0.5"), ("0.5", "0.5"), (100, "100"), (-1, "-1")]
)
def test_the_gold_of_a_regression_is_written_as_people_do(gold: Any, text: str) -> None:
    scenario = Custom(frame(2, gold=[gold, gold]), key="id", task_type="regression")
    assert draw(scenario, 1, 42)[0].gold == text


@pytest.mark.parametrize(
    ("scenario", "sentence"),
    [
        (
            Custom(frame(id=["a", "b", "a", "c"]), key="id"),
            "scenario 'custom', row a: index 0 and index 2 have this id; each row needs its own",
        ),
        (
            Custom(frame(id=["a", "a", "b", "c"], text=["x"] * 4, gold=["yes"] * 4), key="id"),
            'index 0 and index 1 have this id; each row needs its own; duplicates = "drop" leaves out equal rows',
        ),
        (Custom(frame(id=["a", None, "b", "c"]), key="id"), "there is no id; each row needs its own"),
        (
            Custom(frame(gold=["yes", "no", None, "no"]), key="id"),
            "row Q-2: its gold answer is missing, expected one of yes",
        ),
        (Custom(frame(gold=["yes", "no", "perhaps", "no"]), key="id"), "row Q-2: its gold answer is 'perhaps'"),
        (
            Custom(frame(gold=["1", "x", "3", "4"]), key="id", task_type="regression"),
            "row Q-1: its gold answer is 'x', expected a finite number",
        ),
        (
            Custom(frame(gold=[1, 2, math.nan, 4]), key="id", task_type="regression"),
            "row Q-2: its gold answer is missing, expected a finite number",
        ),
        (
            Custom(frame(gold=[1, 2, math.inf, 4]), key="id", task_type="regression"),
            "row Q-2: its gold answer is 'inf', expected a finite number",
        ),
        (Custom(frame().drop(columns="gold"), key="id"), "row Q-0: gold_label failed with KeyError('gold')"),
        (
            Custom(frame(), key="number"),
            "scenario 'custom': its rows have no column 'number'; they have: id, text, gold",
        ),
        (Custom(frame(), key="id", unit_columns=("left",)), "its rows have no column 'left'"),
        (Custom(frame().iloc[:0], key="id"), "sample(10) returned 0 rows; expected 1 to 10"),
        (Custom([{"text": "x"}]), "its rows are of type list; expected a pandas DataFrame"),
        (
            Custom(pd.concat([frame(), frame()[["text"]]], axis=1), key="id"),
            "its rows have two columns 'text'; rename one",
        ),
    ],
)
def test_rows_that_cannot_be_scored_are_refused(scenario: Custom, sentence: str) -> None:
    assert sentence in refusal(scenario)


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("It's slow", '"It\'s slow"'),
        ("The app\n\x1b[1m crashes" + "!" * 99, rf"'The app \x1b[1m crashes{'!' * 60}...'"),
        (None, "{'text': '', 'gold': 'Bugg'}"),
    ],
)
def test_a_row_without_a_key_is_named_by_its_beginning_too(text: str | None, beginning: str) -> None:
    scenario = Custom(pd.DataFrame({"text": [text], "gold": ["Bugg"]}))
    message = re.sub("row [0-9a-f]{12} ", "row HASH ", refusal(scenario))
    assert message == f"scenario 'custom', row HASH ({beginning}): its gold answer is 'Bugg', expected one of yes, no"


def test_a_missing_gold_answer_that_became_a_text_is_missing() -> None:
    scenario = Custom(frame(gold=["yes", None, "no", "no"]), key="id", gold_label=lambda row: str(row["gold"]))
    assert refusal(scenario) == "scenario 'custom', row Q-1: its gold answer is missing, expected one of yes, no"
    scenario = Custom(frame(gold=["None"] * 4), key="id", valid_labels=lambda: ["None", "no"])
    assert draw(scenario, 1, 42)[0].gold == "None"


def test_a_scenario_that_returns_more_rows_than_asked_for_is_refused() -> None:
    class Generous(Custom):
        def sample(self, n: int, seed: int = 42) -> pd.DataFrame:
            del n, seed
            return frame(20)

    assert "sample(10) returned 20 rows; expected 1 to 10" in refusal(Generous(None, key="id"))


def test_equal_rows_are_numbered_and_share_their_unit() -> None:
    samples = draw(repeated(), 6, 42)
    first, second, other, _, third, again = samples
    assert (second.id, third.id, again.id) == (f"{first.id}#2", f"{first.id}#3", f"{other.id}#2")
    assert first.units == second.units == third.units == (first.id,)
    assert [sample.equal_row for sample in samples] == ["", "index 0", "", "", "index 0", "index 2"]
    assert [sample.row for sample in samples] == [f"index {number}" for number in range(6)]
    assert draw(repeated(), 2, 42) == samples[:2]


def test_equal_rows_are_dropped_on_request() -> None:
    assert [sample.fields["id"] for sample in draw(repeated(duplicates="drop"), 6, 42)] == ["a", "b", "c"]
    assert ids(repeated(duplicates="drop", key="id"), 6) == ["a", "b", "c"]


def test_another_word_for_equal_rows_is_refused() -> None:
    with pytest.raises(SettingsError, match="duplicates is 'remove'; expected 'number' or 'drop'"):
        draw(repeated(duplicates="remove"), 2, 42)
