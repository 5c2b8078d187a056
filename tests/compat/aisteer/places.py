"""A use case in the form of AISteer360: a quiz whose options stand in several orders."""

from __future__ import annotations

import random
import re
from typing import Any

from pytest_puma.compat.aisteer import UseCase, batch_retry_generate

_KEYS = "ABCDEFGHIJ"

ROWS: list[dict[str, Any]] = [
    {"id": "bread", "question": "What is baked?", "answer": "bread", "choices": ["water", "bread", "iron"], "hint": 1},
    {"id": "boat", "question": "What floats?", "answer": "boat", "choices": ["stone", "nail", "boat"], "hint": 2},
    {"id": "owl", "question": "What flies?", "answer": "owl", "choices": ["owl", "cow", "pig"], "hint": 3},
]


class PlacesQuiz(UseCase):
    """Every question in some orders of its options."""

    num_orders: int

    def validate_evaluation_data(self, evaluation_data: dict[str, Any]) -> None:
        if evaluation_data["answer"] not in evaluation_data["choices"]:
            msg = "the answer is no choice"
            raise ValueError(msg)

    def generate(
        self,
        model_or_pipeline: Any,
        tokenizer: Any,
        gen_kwargs: dict[str, Any] | None = None,
        runtime_overrides: dict[str, dict[str, str]] | None = None,
    ) -> list[dict[str, Any]]:
        prompts = []
        for row in self.evaluation_data:
            for _ in range(self.num_orders):
                options = random.sample(row["choices"], len(row["choices"]))
                lines = [row["question"], *(f"{key}) {text}" for key, text in zip(_KEYS, options, strict=False))]
                reference = _KEYS[options.index(row["answer"])]
                prompts.append({"id": row["id"], "prompt": "\n".join(lines), "reference_answer": reference})
        letters = batch_retry_generate(
            prompt_data=prompts,
            model_or_pipeline=model_or_pipeline,
            tokenizer=tokenizer,
            parse_fn=self._parse,
            gen_kwargs=gen_kwargs,
            runtime_overrides=runtime_overrides,
            evaluation_data=self.evaluation_data,
        )
        return [
            {"response": letter, "question_id": prompt["id"], **prompt}
            for prompt, letter in zip(prompts, letters, strict=True)
        ]

    @staticmethod
    def _parse(text: str) -> str | None:
        found = re.match(r"\s*([A-J])\b", text)
        return found[1] if found else None

    def evaluate(self, generations: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
        columns = {
            "responses": [generation["response"] for generation in generations],
            "reference_answers": [generation["reference_answer"] for generation in generations],
            "question_ids": [generation["question_id"] for generation in generations],
        }
        return {metric.name: metric(**columns) for metric in self.evaluation_metrics}
