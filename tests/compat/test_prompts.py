"""Prompts of tasks: messages, examples and the cue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from tests.compat.tasks import Capitals, cell_tasks, turns


class Framed(Capitals):
    def _get_initial_prompt_text(self, item: dict[str, Any]) -> str:
        return f"About {item['subject']}."

    def _get_system_prompt_text(self, item: dict[str, Any]) -> str:
        return "Be brief."


class Drawn(Capitals):
    def _sample_fewshot_examples(self, item: dict[str, Any]) -> list[dict[str, Any]]:
        return self.rnd.sample(self.dataset[self.FEWSHOT_SPLIT], self.num_fewshot)


class FromItself(Capitals):
    def _sample_fewshot_examples(self, item: dict[str, Any]) -> list[dict[str, Any]]:
        return super()._sample_fewshot_examples(item)


def examples(task: Any) -> list[str]:
    """The answers of the examples in a prompt."""
    return [message.content for message in task.prompt().messages if message.role == "assistant"]


def test_a_prompt_has_the_authors_texts_in_their_places(folder: Path) -> None:
    task = next(task for task in cell_tasks(Framed(data=folder), "zero_shot") if task.sample.gold == "Rome")
    assert turns(task) == [
        ("system", "Be brief."),
        ("user", "About Europe.\n\nCapital of Italy?"),
        ("prefill", "A:"),
    ]


def test_the_initial_text_comes_before_the_first_example(folder: Path) -> None:
    tasks = cell_tasks(Framed(data=folder), "few_shot_2")
    assert len(tasks) == 12
    for task in tasks:
        users = [content for role, content in turns(task) if role == "user"]
        assert len(users) == 3
        assert [text.startswith("About ") for text in users] == [True, False, False]


def test_a_task_without_a_system_text_has_no_system_message(folder: Path) -> None:
    assert [role for role, _ in turns(cell_tasks(Capitals(data=folder), "zero_shot")[0])] == ["user", "prefill"]


def test_examples_begin_with_the_cue_though_the_truth_does_not(folder: Path) -> None:
    tasks = cell_tasks(Capitals(data=folder), "few_shot_2")
    assert len(tasks) == 12
    for task in tasks:
        assert len(examples(task)) == 2
        assert all(answer.startswith("A: ") and "  " not in answer for answer in examples(task))


class WithCue(Capitals):
    def _get_ground_truth(self, item: dict[str, Any]) -> str:
        return f"A: {item['capital']}."


def test_examples_have_the_cue_once_if_the_truth_has_it(folder: Path) -> None:
    with pytest.warns(UserWarning, match="begins with the cue 'A:'"):
        tasks = cell_tasks(WithCue(data=folder), "few_shot_2")
    assert {answer.count("A:") for task in tasks for answer in examples(task)} == {1}


class Spellings(Capitals):
    def _get_ground_truth(self, item: dict[str, Any]) -> list[str]:
        return [f" {item['capital']}", f" {item['capital']} City"]


def test_the_first_of_several_truths_is_the_answer_of_an_example(folder: Path) -> None:
    answers = {answer for task in cell_tasks(Spellings(data=folder), "few_shot_5") for answer in examples(task)}
    assert "A: Vienna" in answers
    assert not any("City" in answer for answer in answers)


class Shouted(Capitals):
    def _get_fewshot_target_text(self, item: dict[str, Any]) -> str:
        return super()._get_fewshot_target_text(item).upper() + "!"


def test_the_authors_target_is_the_answer_of_an_example(folder: Path) -> None:
    answers = {answer for task in cell_tasks(Shouted(data=folder), "few_shot_5") for answer in examples(task)}
    assert "A: VIENNA!" in answers


class WithoutTruth(Capitals):
    def _get_ground_truth(self, item: dict[str, Any]) -> None:
        return None


def test_an_example_without_a_truth_is_refused(folder: Path) -> None:
    assert {task.sample.gold for task in cell_tasks(WithoutTruth(data=folder), "zero_shot")} == {""}
    with pytest.raises(DataError, match="an example has no ground truth; override _get_fewshot_target_text"):
        cell_tasks(WithoutTruth(data=folder), "few_shot_1")[0].prompt()


# -- examples that the author draws --------------------------------------------------------------


def test_drawn_examples_are_of_the_rows_subject(folder: Path) -> None:
    tasks = cell_tasks(Drawn(data=folder), "few_shot_3")
    assert len(tasks) == 12
    for task in tasks:
        assert len(task.examples) == 3
        assert {each["subject"] for each in task.examples} == {task.sample.groups["subject"]}


def test_other_rows_do_not_change_the_examples_of_a_row(folder: Path) -> None:
    few = {task.sample.id: task.prompt() for task in cell_tasks(Drawn(data=folder), "few_shot_3", samples=4)}
    all_rows = {task.sample.id: task.prompt() for task in cell_tasks(Drawn(data=folder), "few_shot_3")}
    assert len(few) == 4
    assert few.items() <= all_rows.items()


def test_rows_draw_different_examples_which_depend_on_the_seed(folder: Path) -> None:
    drawn = [[examples(task) for task in cell_tasks(Drawn(data=folder), "few_shot_3", seed=seed)] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(map(str, drawn[0]))) > 2


def test_a_row_is_never_its_own_example_though_both_splits_are_one(folder: Path) -> None:
    for kind in (Capitals, FromItself):
        task_class = type(kind.__name__, (kind,), {"FEWSHOT_SPLIT": "test"})
        tasks = cell_tasks(task_class(data=folder), "few_shot_3", samples=6)
        assert len(tasks) == 6
        for task in tasks:
            assert len(task.examples) == 3
            assert task.sample.fields["country"] not in {each["country"] for each in task.examples}


def test_rows_of_one_split_lend_examples_that_are_not_evaluated(folder: Path) -> None:
    task_class = type("One", (Capitals,), {"FEWSHOT_SPLIT": "test"})
    tasks = cell_tasks(task_class(data=folder), "few_shot_3", samples=6)
    evaluated = {task.sample.fields["country"] for task in tasks}
    assert evaluated.isdisjoint(each["country"] for task in tasks for each in task.examples)


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ("[item, *self.dataset['train'][:2]]", "the row that is evaluated; leave it out"),
        ("self.dataset['train'][:2]", "2 rows; expected 3, as num_fewshot"),
    ],
)
def test_wrong_examples_of_the_author_are_refused(folder: Path, rows: str, fault: str) -> None:
    method = eval(f"lambda self, item: {rows}")  # noqa: S307 - our own text
    task_class = type("Wrong", (Capitals,), {"_sample_fewshot_examples": method})
    with pytest.raises(DataError, match=f"Wrong: _sample_fewshot_examples returned {fault}"):
        cell_tasks(task_class(data=folder), "few_shot_3")


# -- the constructor ------------------------------------------------------------------------------


class Configured(Capitals):
    def __init__(self, num_fewshot: int = 0) -> None:
        super().__init__(num_fewshot)
        self.stop_sequences = ["\n", "Q:"]
        self.max_tokens = 7  # type: ignore[misc] # as authors do it


def test_the_constructor_sets_the_end_of_replies(folder: Path) -> None:
    task = cell_tasks(type(Configured())(data=folder), "zero_shot")[0]  # type: ignore[call-arg] # of its scenario
    assert task.prompt().stop == ("\n", "Q:")
    assert task.generate(task.prompt()).max_tokens == 7
    assert cell_tasks(Capitals(data=folder), "zero_shot")[0].prompt().stop == ()


@pytest.mark.parametrize(("shots", "strategy"), [(0, "zero_shot"), (1, "few_shot_1"), (5, "few_shot_5")])
def test_the_number_of_examples_of_the_constructor_is_the_default_strategy(shots: int, strategy: str) -> None:
    assert Capitals(num_fewshot=shots).strategies == (strategy,)
    assert Configured(shots).strategies == (strategy,)
