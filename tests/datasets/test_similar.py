"""Examples of each sample's own: similar ones, diverse ones, and none that tells the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pytest_puma.core import DataError, SettingsError
from pytest_puma.datasets.similar import similar_examples
from pytest_puma.scenarios import PrioritizationJiraScenario, TriageJiraScenario, draw
from tests.composed import CAPITALS, Capitals, written
from tests.scenarios.custom import Custom, frame

LOGIN = ["login page crashes", "login page is slow", "login crashes", "printer has no paper", "invoice total is wrong"]


def pooled(texts: list[str], *asked: str, **declared: Any) -> Custom:
    """A scenario that evaluates `asked`, with a pool of these texts; the ids of the pool are `P-0`, `P-1` and so on."""
    pool = pd.DataFrame({"id": [f"P-{n}" for n in range(len(texts))], "text": texts, "gold": "yes"})
    rows = pd.DataFrame({"id": [f"Q-{n}" for n in range(len(asked))], "text": asked, "gold": "no"})
    return Custom(rows, pool, **{"key": "id"} | declared)


def texts_of(scenario: Custom, k: int, *, diverse: bool = False) -> dict[str, list[str]]:
    chosen = similar_examples(scenario, k, 42, draw(scenario, len(scenario.frame), 42), diverse=diverse)
    return {name: [example["text"] for example in examples] for name, examples in chosen.items()}


def test_each_sample_has_its_most_similar_rows_the_most_similar_last() -> None:
    scenario = pooled(LOGIN, "the login page crashes on start", "the invoice is wrong")
    chosen = texts_of(scenario, 2)
    assert chosen["Q-0"] == ["login crashes", "login page crashes"]
    assert chosen["Q-1"][-1] == "invoice total is wrong"


def test_diverse_examples_repeat_less_of_each_other() -> None:
    """By hand: the second text has 0.5 * 0.717 - 0.5 * 0.839 < 0, the third 0.5 * 0.282 - 0.5 * 0.241 > 0."""
    texts = ["login page crashes now", "login page crashes now again", "page printer", "unrelated invoice"]
    scenario = pooled(texts, "login page crashes")
    assert texts_of(scenario, 2)["Q-0"] == [texts[1], texts[0]]
    assert texts_of(scenario, 2, diverse=True)["Q-0"] == [texts[2], texts[0]]


@pytest.mark.parametrize("diverse", [False, True])
def test_a_copy_of_a_sample_is_never_an_example_of_any(*, diverse: bool) -> None:
    texts = ["Login  page CRASHES", "login page crashes again", "the invoice is wrong", "invoice is late"]
    chosen = texts_of(pooled(texts, "login page crashes", "The invoice is wrong"), 2, diverse=diverse)
    assert {text for examples in chosen.values() for text in examples} == {texts[1], texts[3]}


def test_a_row_that_shares_a_unit_with_a_sample_or_with_another_example_is_none() -> None:
    rows = frame(8, text=["login crash"] * 2 + [f"login crash {n}" for n in range(6)])
    rows["unit"] = ["a", "b", "a", "c", "c", "d", "e", "f"]
    scenario = Custom(rows, key="id", unit_columns=("unit",))
    chosen = similar_examples(scenario, 3, 42, draw(scenario, 2, 42))
    for examples in chosen.values():
        units = [example["unit"] for example in examples]
        assert len({*units}) == 3
        assert not {*units} & {"a", "b"}


def test_examples_are_rows_of_the_same_group() -> None:
    rows = frame(12, text=[f"login crash number {n}" for n in range(12)])
    rows["subject"] = ["law", "art"] * 6
    scenario = Custom(rows, key="id", group_columns=("subject",))
    samples = draw(scenario, 4, 42)
    chosen = similar_examples(scenario, 2, 42, samples)
    for sample in samples:
        assert {example["subject"] for example in chosen[sample.id]} == {sample.groups["subject"]}


def test_very_long_rows_come_last() -> None:
    scenario = pooled(["login crash " * 300, "login", "printer"], "login crash")
    assert texts_of(scenario, 2)["Q-0"] == ["printer", "login"]
    assert texts_of(scenario, 3)["Q-0"][0].startswith("login crash login")


def test_texts_without_words_have_examples_in_the_order_of_the_others() -> None:
    scenario = pooled(["+", "-", "=", "?"], "*")
    assert len(texts_of(scenario, 3)["Q-0"]) == 3


def test_too_few_are_counted() -> None:
    scenario = pooled(["login page crashes", "printer"], "login page crashes")
    with pytest.raises(SettingsError, match="2 examples requested, 1 there that are not among the 1 samples"):
        texts_of(scenario, 2)
    with pytest.raises(SettingsError, match="1 examples requested, 0 there"):
        texts_of(pooled(["printer"], "printer"), 1)


def test_a_question_that_a_row_cannot_word_is_refused_with_its_row(tmp_path: Path) -> None:
    class Loud(Capitals):
        def instruction(self, item: dict[str, Any]) -> str:
            return str(item["country"].upper())

    scenario = Loud(written(tmp_path / "rows.jsonl", [*CAPITALS, {"country": 7, "capital": "Quito"}]))
    with pytest.raises(DataError, match=r"instruction failed with AttributeError.*the row has: country, capital"):
        similar_examples(scenario, 1, 42, draw(scenario, 1, 42))


@pytest.mark.parametrize("scenario", [TriageJiraScenario(), PrioritizationJiraScenario()], ids=lambda each: each.name)
def test_examples_of_the_bundled_data_are_apart_from_samples_and_from_each_other(scenario: Any) -> None:
    samples = draw(scenario, 10, 42)
    asked = {unit for sample in samples for unit in sample.units}
    for diverse in (False, True):
        for examples in similar_examples(scenario, 3, 42, samples, diverse=diverse).values():
            titles = [example[name] for example in examples for name in scenario.text_fields if "title" in name]
            assert len({*titles}) == len(titles)
            units = {str(example[column]) for example in examples for column in scenario.unit_columns}
            assert not asked & units
