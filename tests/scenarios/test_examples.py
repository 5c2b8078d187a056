"""Few-shot examples: from the pool, or lent by rows that are not evaluated."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Scenario, SettingsError
from pytest_puma.scenarios import (
    EstimationTawosScenario,
    PrioritizationJiraBothOrdersScenario,
    PrioritizationJiraScenario,
    TriageJiraScenario,
    draw,
    example_rows,
)
from tests.scenarios.custom import Custom, frame, ids, repeated

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


def test_without_a_key_samples_are_found_in_the_pool_by_their_content() -> None:
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
    with pytest.raises(SettingsError, match="scenario 'custom': 3 examples requested, 2 there that are not among"):
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
    with pytest.raises(SettingsError, match="1 examples requested, 0 there"):
        example_rows(scenario, 1, 42, ids(scenario, 30))


@given(st.integers(1, 60), st.integers(0, 5), st.integers(0, 10), st.sampled_from(BUNDLED[:3]))
def test_examples_never_meet_the_samples(n: int, seed: int, k: int, scenario: Scenario) -> None:
    evaluated = ids(scenario, n, seed)
    examples = example_rows(scenario, k, seed, evaluated)
    assert len(examples) == k
    assert not {example[str(scenario.key)] for example in examples} & set(evaluated)


def test_a_row_that_repeats_an_evaluated_one_is_no_example() -> None:
    evaluated = {draw(repeated(), 1, 42)[0].id}
    examples = example_rows(repeated(), 2, 42, evaluated)
    assert {example["id"] for example in examples} == {"b", "c"}
    with pytest.raises(SettingsError, match="3 examples requested, 2 there"):
        example_rows(repeated(), 3, 42, evaluated)
