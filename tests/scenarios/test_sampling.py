from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import DataError, Scenario, SettingsError
from pytest_puma.scenarios import (
    EstimationTawosScenario,
    PrioritizationJiraBothOrdersScenario,
    PrioritizationJiraScenario,
    TriageJiraScenario,
    draw,
    example_rows,
)


class Custom(Scenario):
    """A user's scenario: the contract's four methods over a frame of its own."""

    name = "custom"
    task_type: str = "classification"  # type: ignore[misc]
    text_fields = ("text",)

    def __init__(self, frame: Any, pool: pd.DataFrame | None = None, **declared: Any) -> None:
        self.frame, self.pool = frame, pool
        for name, value in declared.items():
            setattr(self, name, value)

    def sample(self, n: int, seed: int = 42) -> pd.DataFrame:
        del seed
        frame: pd.DataFrame = self.frame.head(n) if isinstance(self.frame, pd.DataFrame) else self.frame
        return frame

    def gold_label(self, instance: dict[str, Any]) -> str:
        gold: str = instance["gold"]
        return gold

    def parse_response(self, response: str) -> str | None:
        return response

    def valid_labels(self) -> list[str]:
        return ["yes", "no"]

    def examples(self) -> pd.DataFrame | None:
        return self.pool


def frame(n: int = 4, **columns: Any) -> pd.DataFrame:
    rows = {
        "id": [f"Q-{i}" for i in range(n)],
        "text": [f"text {i}" for i in range(n)],
        "gold": ["yes", "no"] * (n // 2),
    }
    return pd.DataFrame(rows | columns)


def ids(scenario: Scenario, n: int, seed: int = 42) -> list[str]:
    return [sample.id for sample in draw(scenario, n, seed)]


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
            "row Q-2: its gold answer is '', expected one of yes",
        ),
        (Custom(frame(gold=["yes", "no", "perhaps", "no"]), key="id"), "row Q-2: its gold answer is 'perhaps'"),
        (
            Custom(frame(gold=["1", "x", "3", "4"]), key="id", task_type="regression"),
            "row Q-1: its gold answer is 'x', expected a number",
        ),
        (
            Custom(frame(gold=[1, 2, math.nan, 4]), key="id", task_type="regression"),
            "row Q-2: its gold answer is '', expected a number",
        ),
        (
            Custom(frame(gold=[1, 2, math.inf, 4]), key="id", task_type="regression"),
            "row Q-2: its gold answer is 'inf', expected a number",
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


def test_a_scenario_that_returns_more_rows_than_asked_for_is_refused() -> None:
    class Generous(Custom):
        def sample(self, n: int, seed: int = 42) -> pd.DataFrame:
            del n, seed
            return frame(20)

    assert "sample(10) returned 20 rows; expected 1 to 10" in refusal(Generous(None, key="id"))


BUNDLED = [
    TriageJiraScenario(),
    EstimationTawosScenario(),
    PrioritizationJiraScenario(),
    PrioritizationJiraBothOrdersScenario(),
]


@pytest.mark.parametrize("scenario", BUNDLED, ids=lambda scenario: scenario.name)
def test_examples_of_the_bundled_pools_are_prefixes_with_reasons_and_never_evaluated(scenario: Scenario) -> None:
    evaluated = ids(scenario, 50)
    five = example_rows(scenario, 5, 42, evaluated)
    assert example_rows(scenario, 3, 42, evaluated) == five[:3]
    assert all(example["rationale"] and example["gold_label"] in scenario.valid_labels() for example in five)
    assert not {example[str(scenario.key)] for example in five} & set(evaluated)
    assert example_rows(scenario, 5, 43, evaluated) != five


@pytest.mark.parametrize("k", [1, 3, 4, 5, 8, 9, 32])
def test_labels_of_examples_are_as_balanced_as_their_number_allows(k: int) -> None:
    labels = Counter(example["gold_label"] for example in example_rows(TriageJiraScenario(), k, 42, ()))
    assert len(labels) == min(k, 4)
    assert max(labels.values()) - min(labels.values()) <= 1


def test_the_commonest_labels_come_first() -> None:
    golds = [example["gold_label"] for example in example_rows(EstimationTawosScenario(), 8, 42, ())]
    assert set(golds[:2]) == {"2", "3"}
    assert set(golds[2:4]) == {"1", "5"}
    assert golds[4:7] == ["8", "13", "21"]
    assert golds[7] == golds[0]


def test_examples_hold_their_fields() -> None:
    (example,) = example_rows(TriageJiraScenario(), 1, 42, ())
    assert {"issue_key", "title", "description", "priority", "gold_label", "rationale"} <= set(example)


def test_an_evaluated_sample_is_no_example_even_where_the_pool_holds_it() -> None:
    scenario = Custom(frame(6), pool=frame(6), key="id")
    evaluated = {"Q-0", "Q-1", "Q-2"}
    assert {example["id"] for example in example_rows(scenario, 3, 42, evaluated)} == {"Q-3", "Q-4", "Q-5"}


def test_without_a_key_the_pool_is_told_from_the_samples_by_content_too() -> None:
    scenario = Custom(frame(6), pool=frame(6, rationale=["because"] * 6))
    examples = example_rows(scenario, 3, 42, ids(scenario, 3))
    assert {example["text"] for example in examples} == {"text 3", "text 4", "text 5"}
    assert {example["rationale"] for example in examples} == {"because"}


def test_rows_are_lent_where_there_is_no_pool() -> None:
    scenario = Custom(frame(20), key="id")
    examples = example_rows(scenario, 4, 42, ids(scenario, 10))
    assert len(examples) == 4
    assert not {example["id"] for example in examples} & set(ids(scenario, 10))
    assert [example["rationale"] for example in examples] == [""] * 4


def test_more_samples_leave_lent_examples_as_they_were() -> None:
    scenario = Custom(frame(20), key="id")
    assert example_rows(scenario, 4, 42, ids(scenario, 4)) == example_rows(scenario, 4, 42, ids(scenario, 14))


def test_very_long_rows_are_lent_last() -> None:
    long = ["x" * 3_000 + str(number) for number in range(16)]
    scenario = Custom(frame(20, text=[f"text {n}" for n in range(4)] + long), key="id")
    assert {example["id"] for example in example_rows(scenario, 4, 42, ())} == {"Q-0", "Q-1", "Q-2", "Q-3"}
    assert len(example_rows(scenario, 8, 42, ())) == 8


def test_too_few_examples_are_counted_in_the_refusal() -> None:
    scenario = Custom(frame(6), key="id")
    with pytest.raises(SettingsError, match="scenario 'custom': 3 examples asked for, 2 there that are not among"):
        example_rows(scenario, 3, 42, ids(scenario, 4))
    assert example_rows(scenario, 0, 42, ids(scenario, 4)) == ()


def test_a_scenario_that_makes_up_rows_without_end_lends_some() -> None:
    class Endless(Custom):
        def sample(self, n: int, seed: int = 42) -> pd.DataFrame:
            del seed
            return frame(n + n % 2).head(n)

    assert len(example_rows(Endless(None, key="id"), 3, 42, ["Q-0"])) == 3


@pytest.fixture(scope="module")
def user_issues(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("issues") / "mine.csv"
    lines = [f"X-{n},title {n},text {n},{('Critical', 'Major', 'Minor')[n % 3]}" for n in range(60)]
    file.write_text("\n".join(["key,summary,description,priority", *lines]))
    return file


@pytest.mark.parametrize("kind", [PrioritizationJiraScenario, PrioritizationJiraBothOrdersScenario])
def test_lent_pairs_share_no_issue_with_a_sample_nor_with_each_other(
    user_issues: Path, kind: type[PrioritizationJiraScenario]
) -> None:
    scenario = kind(user_issues)
    evaluated = draw(scenario, 20, 42)
    examples = example_rows(scenario, 5, 42, [sample.id for sample in evaluated])
    units = [example[column] for example in examples for column in scenario.unit_columns]
    assert len(units) == len(set(units)) == 10
    assert not set(units) & {unit for sample in evaluated for unit in sample.units}


def test_pairs_lend_nothing_once_every_issue_is_evaluated(user_issues: Path) -> None:
    scenario = PrioritizationJiraScenario(user_issues)
    with pytest.raises(SettingsError, match="1 examples asked for, 0 there"):
        example_rows(scenario, 1, 42, ids(scenario, 30))


@given(st.integers(1, 60), st.integers(0, 5), st.integers(0, 10), st.sampled_from(BUNDLED[:3]))
def test_examples_never_meet_the_samples(n: int, seed: int, k: int, scenario: Scenario) -> None:
    evaluated = ids(scenario, n, seed)
    examples = example_rows(scenario, k, seed, evaluated)
    assert len(examples) == k
    assert not {example[str(scenario.key)] for example in examples} & set(evaluated)


def repeated(**declared: Any) -> Custom:
    rows = frame(6, id=list("aabcab"), text=list("xxyzxy"), gold=["yes", "yes", "no", "yes", "yes", "no"])
    return Custom(rows, **declared)


def test_equal_rows_are_numbered_and_share_their_unit() -> None:
    samples = draw(repeated(), 6, 42)
    first, second, other, _, third, again = samples
    assert (second.id, third.id, again.id) == (f"{first.id}#2", f"{first.id}#3", f"{other.id}#2")
    assert first.units == second.units == third.units == (first.id,)
    assert [sample.repeats for sample in samples] == ["", "index 0", "", "", "index 0", "index 2"]
    assert [sample.row for sample in samples] == [f"index {number}" for number in range(6)]
    assert draw(repeated(), 2, 42) == samples[:2]


def test_equal_rows_are_dropped_on_request() -> None:
    assert [sample.fields["id"] for sample in draw(repeated(duplicates="drop"), 6, 42)] == ["a", "b", "c"]
    assert ids(repeated(duplicates="drop", key="id"), 6) == ["a", "b", "c"]


def test_a_row_that_repeats_an_evaluated_one_is_no_example() -> None:
    evaluated = {draw(repeated(), 1, 42)[0].id}
    examples = example_rows(repeated(), 2, 42, evaluated)
    assert {example["id"] for example in examples} == {"b", "c"}
    with pytest.raises(SettingsError, match="3 examples asked for, 2 there"):
        example_rows(repeated(), 3, 42, evaluated)


def test_another_word_for_equal_rows_is_refused() -> None:
    with pytest.raises(SettingsError, match="duplicates is 'remove'; expected 'number' or 'drop'"):
        draw(repeated(duplicates="remove"), 2, 42)
