"""The tasks of a cell: examples that a scenario picks, and those of a group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pytest_puma.core import DataError, TemplateError
from pytest_puma.datasets.sampling import draw
from pytest_puma.evaluation.cell import DEFAULT_SEED, Cell
from pytest_puma.evaluation.predict import predict
from pytest_puma.evaluation.tasks import tasks_of
from pytest_puma.strategies import Strategy, parse_strategy
from pytest_puma.testing import Engine, ScriptedBackend
from tests.composed import CAPITALS, QUESTION, Capitals, Quiz, written
from tests.factories import cell


class Picky(Capitals):
    """Its examples come from nowhere, except that those of Peru are lent rows."""

    def pick_examples(self, item: dict[str, Any], k: int, random: Random) -> Sequence[dict[str, Any]] | None:
        if item["country"] == "Peru":
            return None
        return [{"country": f"{random.random()}", "capital": f"of {item['country']}"} for _ in range(k)]


def examples(folder: Path, scenario: type[Capitals], samples: int) -> dict[str, Sequence[Mapping[str, Any]]]:
    rows = written(folder / "rows.jsonl", CAPITALS)
    tasks = tasks_of(cell(scenario(rows), "few_shot_2", samples=samples), None)
    return {task.sample.fields["country"]: task.examples for task in tasks}


def test_each_row_has_the_examples_that_the_scenario_picks_and_no_others_are_needed(tmp_path: Path) -> None:
    class Always(Picky):
        def pick_examples(self, item: dict[str, Any], k: int, random: Random) -> Sequence[dict[str, Any]] | None:
            return super().pick_examples({"country": "Italy"} | {"country": f"my {item['country']}"}, k, random)

    picked = examples(tmp_path, Always, 4)
    assert [each["capital"] for each in picked["Peru"]] == ["of my Peru"] * 2
    assert len({str(each) for each in picked.values()}) == 4
    assert picked == examples(tmp_path, Always, 4)


def test_a_row_without_picked_examples_has_those_of_its_group(tmp_path: Path) -> None:
    own = {country: each for samples in (1, 2) for country, each in examples(tmp_path, Picky, samples).items()}
    for country, picked in own.items():
        assert len(picked) == 2
        assert ("gold_label" in picked[0]) == (country == "Peru")


def test_too_few_picked_examples_are_refused(tmp_path: Path) -> None:
    class Short(Capitals):
        def pick_examples(self, item: dict[str, Any], k: int, random: Random) -> Sequence[dict[str, Any]]:  # noqa: ARG002
            return [item]

    with pytest.raises(DataError, match=r"pick_examples\(\) returned 1 examples; expected 2 rows as dictionaries"):
        examples(tmp_path, Short, 1)


def test_a_strategy_of_the_user_is_named_and_told_how_to_use_the_methods_of_the_scenario(tmp_path: Path) -> None:
    own = Strategy(name="mine", converse=parse_strategy("zero_shot").converse, templates=("zero_shot",))
    asked = replace(cell(Capitals(written(tmp_path / "rows.jsonl", CAPITALS)), "zero_shot", samples=2), strategy=own)
    with pytest.raises(
        TemplateError, match=r"^scenario capitals, strategy mine: no template zero_shot.jinja in "
    ) as caught:
        tasks_of(asked, None)
    assert str(caught.value).endswith(", or give mine composes=True: methods of the scenario then make its prompts")
    assert tasks_of(replace(asked, strategy=replace(own, composes=True)), None)


def test_a_built_in_strategy_only_needs_a_template(tmp_path: Path) -> None:
    asked = cell(Capitals(written(tmp_path / "rows.jsonl", CAPITALS)), "rcoif", samples=2)
    with pytest.raises(TemplateError, match=r"strategy rcoif: no template rcoif.jinja in .*; create .*rcoif.jinja$"):
        tasks_of(asked, None)


@pytest.mark.parametrize("strategy", ["few_shot_similar_2", "few_shot_diverse_2"])
def test_a_strategy_may_choose_examples_for_each_sample_which_no_perturbation_changes(strategy: str) -> None:
    tasks, twins = (
        tasks_of(cell(strategy=strategy, samples=6, perturbation=perturbation), None)
        for perturbation in (None, "case_upper")
    )
    assert len({str(task.examples) for task in tasks}) > 1
    assert [task.examples for task in twins] == [task.examples for task in tasks]
    assert [twin.sample.fields == task.sample.fields for task, twin in zip(tasks, twins, strict=True)] == [False] * 6
    shown = [task.prompt().messages[-1].content for task in tasks]
    for task, prompt in zip(tasks, shown, strict=True):
        assert all(example["title"] in prompt for example in task.examples)


def test_chosen_examples_come_before_those_that_a_scenario_picks(tmp_path: Path) -> None:
    rows = written(tmp_path / "rows.jsonl", CAPITALS)
    (task,) = tasks_of(cell(Picky(rows), "few_shot_similar_2", samples=1), None)
    assert [example["country"] in {row["country"] for row in CAPITALS} for example in task.examples] == [True, True]


class Polite(Capitals):
    def instruction(self, item: dict[str, Any]) -> str:
        return f"Please: {super().instruction(item)}"


def template(asked: Cell) -> Any:
    """The digest of the wording in the signature."""
    return predict(asked, Engine(ScriptedBackend(lambda _: "Rome"))).signature["template_sha256"]


@pytest.mark.parametrize("strategy", ["zero_shot", "few_shot_2"])
@pytest.mark.parametrize("perturbation", [None, "case_upper", "typos_90pct"])
def test_the_digest_of_composed_prompts_depends_on_the_wording_and_not_on_the_seed(
    tmp_path: Path, strategy: str, perturbation: str | None
) -> None:
    rows = written(tmp_path / "rows.jsonl", CAPITALS)

    def digests(scenario: type[Capitals]) -> set[Any]:
        cells = (cell(scenario(rows), strategy, samples=2, seed=seed, perturbation=perturbation) for seed in range(4))
        return {template(asked) for asked in cells}

    (capitals,), (polite,) = digests(Capitals), digests(Polite)
    assert capitals != polite


def test_the_digest_does_not_depend_on_the_order_of_the_choices_of_a_seed(tmp_path: Path) -> None:
    class Ordered(Quiz):
        orders = 2

    quiz = Ordered(written(tmp_path / "quiz.jsonl", [QUESTION, QUESTION | {"question": "Where is salt?"}]))
    assert len({template(cell(quiz, "option_scoring", samples=1, seed=seed)) for seed in range(8)}) == 1


def test_a_row_that_the_cell_does_not_draw_fails_nothing(tmp_path: Path) -> None:
    rows = written(tmp_path / "rows.jsonl", CAPITALS)
    (first,) = draw(Capitals(rows), 1, DEFAULT_SEED)
    unread = first.fields["country"]

    class Partial(Capitals):
        def instruction(self, item: dict[str, Any]) -> str:
            return {name: f"Q: {name}?" for name in ("Italy", "Norway", "Peru", "Japan") if name != unread}[
                item["country"]
            ]

    seed = next(seed for seed in range(9) if draw(Capitals(rows), 1, seed)[0].fields["country"] != unread)
    assert template(cell(Partial(rows), samples=1, seed=seed))
