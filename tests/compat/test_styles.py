"""Tasks with a style: the same three methods, asked in several ways."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.compat.eval_framework import (
    BaseTask,
    BPBStyle,
    ClozeStyle,
    Language,
    MCCompletionStyle,
    MCStyle,
    TaskStyler,
)
from pytest_puma.core import DataError, SettingsError
from pytest_puma.scenarios import draw
from pytest_puma.testing import Engine, ScriptedBackend, evaluate
from tests.compat.tasks import cell, cell_tasks, turns


class Colours(BaseTask[str]):
    NAME = "Colours"
    DATASET_PATH = "absent"
    SAMPLE_SPLIT = "test"
    FEWSHOT_SPLIT = "train"

    def _get_raw_question(self, item: dict[str, Any]) -> str:
        return str(item["question"])

    def _get_choices(self, item: dict[str, Any]) -> list[str]:
        return list(item["choices"])

    def _get_correct_index(self, item: dict[str, Any]) -> int:
        return int(item["answer"])


class HellaStyle(ClozeStyle):
    def get_question_text(self, raw_question: str) -> str:
        return f"Art: {raw_question}"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for split in ("test", "train"):
        rows = [
            {"question": f"Sky of {split}?", "choices": ["red", "blue"], "answer": 1},
            {"question": f"Grass of {split}?", "choices": ["green", "pink"], "answer": 0},
        ]
        (tmp_path / f"{split}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return tmp_path


def styled(style: Any, **attributes: Any) -> Any:
    return type("Styled", (Colours,), {"TASK_STYLER": style, **attributes})


def shown(task: Any, strategy: str) -> list[tuple[str, str]]:
    (sky,) = (
        each for each in cell_tasks(task, strategy, samples=2) if each.sample.fields["question"].startswith("Sky")
    )
    return turns(sky)


@pytest.mark.parametrize(
    ("style", "strategy", "scores", "prompt"),
    [
        (MCStyle(), "option_scoring", (), "Question: Sky of test?\nA. red\nB. blue"),
        (MCStyle(space_prefixed_labels=True), "option_scoring", (), "Question: Sky of test?\n A. red\n B. blue"),
        (MCCompletionStyle(), "zero_shot", ("exact_match",), "Question: Sky of test?\nA. red\nB. blue"),
        (ClozeStyle(), "cloze_scoring", ("accuracy_chars", "bits_per_byte"), "Question: Sky of test?"),
        (ClozeStyle("Q: "), "cloze_scoring", ("accuracy_chars", "bits_per_byte"), "Q: Sky of test?"),
        (HellaStyle(), "cloze_scoring", ("accuracy_chars", "bits_per_byte"), "Art: Sky of test?"),
        (BPBStyle(), "zero_shot", ("bits_per_byte",), "Question: Sky of test?"),
    ],
)
def test_a_style_words_the_prompt_and_names_the_strategy_and_the_metrics(
    data: Path, style: Any, strategy: str, scores: Sequence[str], prompt: str
) -> None:
    task = styled(style)(data=data)
    assert (task.strategies, task.scores) == ((strategy,), scores)
    assert shown(task, strategy) == [("user", prompt), ("prefill", "Answer:")]


def test_the_texts_of_shown_choices_may_be_scored_as_in_the_fulltext_tasks(data: Path) -> None:
    (_, question), prefill = shown(styled(ClozeStyle())(data=data), "text_scoring")
    assert "red" in question
    assert prefill == ("prefill", "Answer:")


def test_the_number_of_examples_is_that_of_the_constructor(data: Path) -> None:
    assert styled(MCStyle())(1, data=data).strategies == ("option_scoring_1",)
    task = styled(MCCompletionStyle())(1, data=data)
    assert task.strategies == ("few_shot_1",)
    (_, example), (_, answer), *_ = shown(task, "few_shot_1")
    assert (example.partition("\n")[0], answer) in {
        ("Question: Sky of train?", "Answer: blue"),
        ("Question: Grass of train?", "Answer: green"),
    }


def test_a_style_has_the_words_of_a_language(data: Path) -> None:
    style = MCStyle.for_language(Language.DEU, space_prefixed_labels=True)
    assert shown(styled(style)(data=data), "option_scoring") == [
        ("user", "Frage: Sky of test?\n A. red\n B. blue"),
        ("prefill", "Antwort:"),
    ]
    assert MCStyle.for_language(Language.FRA) == MCStyle()
    assert ClozeStyle.for_language(Language.DEU, cue_text="Also:").get_cue_text() == "Also:"


def test_a_style_may_begin_the_prompt(data: Path) -> None:
    style = ClozeStyle(initial_prompt=lambda subject: f"About {subject or 'colours'}.")
    assert shown(styled(style)(data=data), "cloze_scoring")[0] == ("user", "About colours.\n\nQuestion: Sky of test?")


def test_a_sentence_is_continued_in_plain_text(data: Path) -> None:
    task = styled(ClozeStyle("", "", trailing_newline=False, leading_space_continuations=False))(data=data)
    assert task.continued({"question": "The sky is"}) == "The sky is"
    assert task.delimiter == ""


def test_bits_per_byte_are_those_of_the_right_choice_even_if_it_is_the_only_one(data: Path) -> None:
    only = styled(BPBStyle(), _get_choices=lambda _, item: [item["choices"][0]], _get_correct_index=lambda *_: 0)
    task = only(data=data)
    assert sorted(sample.gold for sample in draw(task, 2, 42)) == ["green", "red"]
    assert evaluate(cell(task, "zero_shot", samples=2), Engine(ScriptedBackend({}, default="x")))["bits_per_byte"] > 0
    assert task.max_tokens == 1


def test_a_style_with_abstention_has_a_choice_for_not_knowing(data: Path) -> None:
    task = styled(ClozeStyle().with_abstention_option(" I do not know"))(data=data)
    assert "ternary" in task.scores
    assert [choice.idk for choice in draw(task, 1, 42)[0].choices] == [False, False, True]


def test_metrics_of_the_task_take_the_place_of_those_of_the_style(data: Path) -> None:
    assert styled(ClozeStyle(), METRICS=["ProbabilityMass"])(data=data).scores == ("probability_mass",)


def test_a_method_that_the_style_needs_is_named(data: Path) -> None:
    names = dict.fromkeys(("NAME", "DATASET_PATH", "SAMPLE_SPLIT", "FEWSHOT_SPLIT"), "test")
    bare: Any = type("Bare", (BaseTask,), {**names, "TASK_STYLER": MCStyle()})
    with pytest.raises(
        DataError, match="Bare: TASK_STYLER needs _get_choices; add it to the class; the row has: quest"
    ):
        draw(bare(data=data), 2, 42)


def test_a_class_in_place_of_a_style_is_refused(data: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"Styled: TASK_STYLER is .*MCStyle.*; expected an instance, such as MCStyle"
    ):
        styled(MCStyle)(data=data)


def test_an_override_that_would_have_no_effect_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"Own overrides get_instruction_text, which is not called"):
        type("Own", (TaskStyler,), {"get_instruction_text": lambda *_: ""})
