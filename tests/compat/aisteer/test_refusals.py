"""Use cases that cannot work, and what their errors say."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pytest_puma.compat.aisteer import batch_retry_generate
from pytest_puma.core import DataError, PumaError
from pytest_puma.evaluation.tasks import tasks_of
from tests.compat.aisteer.cells import answered, cell_of, quiz
from tests.compat.aisteer.places import ROWS, PlacesQuiz


@pytest.mark.parametrize("strategy", ["zero_shot_cot", "few_shot_1", "self_consistency_3"])
def test_strategies_cannot_add_to_whole_prompts(strategy: str) -> None:
    (task, *_) = tasks_of(cell_of(quiz(), strategy, samples=1), None)
    with pytest.raises(PumaError, match="make whole prompts"):
        task.prompt()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"rows": [{**ROWS[0], "answer": "wine"}]}, "refuses the row with the id 'bread': the answer is no choice"),
        ({"rows": [*ROWS, {**ROWS[1], "answer": 4}]}, "2 rows with the id 'boat'"),
        ({"rows": []}, "evaluation_data has no rows"),
        ({"rows": "absent.jsonl"}, "absent.jsonl: cannot be read"),
        ({"generate": 3}, "the argument 'generate' is the name of a method"),
    ],
)
def test_a_use_case_that_cannot_work_is_refused(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        quiz(**arguments)
    with pytest.raises(DataError, match=r"evaluation_metrics has 'accuracy'; expected objects of .* keys"):
        PlacesQuiz(ROWS, ["accuracy"], num_orders=1)  # type: ignore[list-item]


class Silent(PlacesQuiz):
    def generate(self, *_: Any, **__: Any) -> list[dict[str, Any]]:
        return []


class Direct(PlacesQuiz):
    def generate(self, model_or_pipeline: Any, *_: Any, **__: Any) -> list[dict[str, Any]]:
        return [{"response": model_or_pipeline.generate("Hello")}]


class Hot(PlacesQuiz):
    def generate(self, model_or_pipeline: Any, tokenizer: Any, *_: Any, **__: Any) -> list[dict[str, Any]]:
        prompts = [{"id": "owl", "prompt": "Hello"}]
        return list(batch_retry_generate(prompts, model_or_pipeline, tokenizer, {"temperature": 2}))


class Foreign(PlacesQuiz):
    def generate(self, model_or_pipeline: Any, tokenizer: Any, *_: Any, **__: Any) -> list[dict[str, Any]]:
        return list(batch_retry_generate([{"id": "cat", "prompt": "Hello"}], model_or_pipeline, tokenizer))


class Partial(PlacesQuiz):
    def generate(self, model_or_pipeline: Any, tokenizer: Any, *_: Any, **__: Any) -> list[dict[str, Any]]:
        return list(batch_retry_generate([{"id": "owl", "prompt": "Hello"}], model_or_pipeline, tokenizer))


class Shapeless(PlacesQuiz):
    def generate(self, model_or_pipeline: Any, tokenizer: Any, *_: Any, **__: Any) -> list[dict[str, Any]]:
        prompts = [{"id": row["id"], "prompt": [{"role": "owl", "content": "Hoo"}]} for row in self.evaluation_data]
        return list(batch_retry_generate(prompts, model_or_pipeline, tokenizer))


class Fewer(PlacesQuiz):
    def generate(self, *arguments: Any, **options: Any) -> list[dict[str, Any]]:
        return super().generate(*arguments, **options)[1:]


class Numbered(PlacesQuiz):
    @staticmethod
    def _parse(text: str) -> Any:
        return len(text)


class Unsteady(PlacesQuiz):
    runs = 0

    def generate(self, *arguments: Any, **options: Any) -> list[dict[str, Any]]:
        self.runs += 1
        random.seed(self.runs)
        return super().generate(*arguments, **options)


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        (Silent, r"generate\(\) ends without batch_retry_generate"),
        (Direct, r"generate\(\) uses 'generate' of its model or tokenizer; expected batch_retry_generate"),
        (Hot, r"generate\(\) sets gen_kwargs \{'temperature': 2\}; expected none"),
        (Foreign, "a prompt has the id 'cat', which no row has"),
        (Partial, "no prompt has the id 'bread' of a row"),
        (Shapeless, r"prompt_data has the prompt \[\{'role': 'owl'"),
        (Fewer, r"generate\(\) returns 11 generations for 12 prompts"),
        (Numbered, r"parse_fn returned 1; expected a text, or None"),
        (Unsteady, r"generate\(\) made other prompts when it ran again"),
    ],
)
def test_a_generate_that_cannot_be_batched_is_refused(kind: type[PlacesQuiz], problem: str) -> None:
    with pytest.raises(PumaError, match=problem):
        answered(quiz(kind))
