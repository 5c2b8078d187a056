"""CommonsenseQA on real models: the choices of the independent loop, and the fewest tokens that can be computed.

The folder of PUMA_REAL_DATA has `commonsenseqa_600.jsonl`, 600 published questions.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest

from pytest_puma.core import Model, ModelOptions, Prediction, Step
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import DryBackend, NativeBackend
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.predict import predict
from pytest_puma.scenarios.benchmarks.knowledge import CommonsenseQa
from pytest_puma.strategies import parse_strategy
from tests.real.formats import written
from tests.real.loop import Loop, alike

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits

#: Two best choices farther apart than this are in that order, however kernels round to eight bits. Of all questions, as
#: letters and as texts, the farthest apart that changed places were .37.
NOISE = 1.0
#: Of texts, .19 in the mean.
MEAN_NOISE = 0.4
QUESTIONS, LETTERS = 5, "ABCDE"


class FiveOrders(CommonsenseQa):
    orders: ClassVar[int] = 5


class CountingBackend(DryBackend):
    computed = 0

    def decode(self, steps: Sequence[Step]) -> Logits:
        self.computed += sum(len(step.tokens) for step in steps)
        return super().decode(steps)


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    """The published records whose choices differ."""
    folder = os.environ.get("PUMA_REAL_DATA")
    if folder is None:
        pytest.skip("PUMA_REAL_DATA does not name a folder with commonsenseqa_600.jsonl")
    lines = (Path(folder) / "commonsenseqa_600.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if len(set(texts(row))) == len(texts(row))]


def texts(row: dict[str, Any]) -> list[str]:
    return [choice["text"] for choice in row["question"]["choices"]]


def cell(rows: list[dict[str, Any]], folder: Path, model: Model, strategy: str, orders: int = 1) -> Cell:
    path = folder / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    scenario = (FiveOrders if orders > 1 else CommonsenseQa)(path)
    return Cell(scenario=scenario, strategy=parse_strategy(strategy), model=model, samples=len(rows))


def question(row: dict[str, Any], prediction: Prediction, *, letters: bool) -> str:
    stem = f"Question: {row['question']['stem']}"
    order = prediction.order or range(len(texts(row)))
    shown = [f"{letter}. {texts(row)[place]}" for letter, place in zip(LETTERS, order, strict=True)]
    return "\n".join([stem, *(shown if letters else ())])


@pytest.fixture(scope="module", params=["smollm2-chat", "gemma-plain"])
def engine(request: pytest.FixtureRequest, models: dict[str, Model]) -> Iterator[tuple[Model, Engine, Loop]]:
    """The chat model with its template, the base model without."""
    name, _, form = request.param.partition("-")
    model = replace(models[name], options=ModelOptions(chat=form == "chat"))
    # One thread: two would wait for each other on a busy machine.
    opened, loop = Engine(NativeBackend(model, threads=1)), Loop(model.path, threads=1)
    yield model, opened, loop
    opened.close()
    loop.close()


@pytest.mark.parametrize("strategy", ["option_scoring", "cloze_scoring"])
def test_the_choice_is_that_of_the_loop_where_rounding_cannot_change_it(
    engine: tuple[Model, Engine, Loop], rows: list[dict[str, Any]], tmp_path: Path, strategy: str
) -> None:
    model, opened, loop = engine
    letters, chat = strategy == "option_scoring", model.options.chat
    predicted = {
        each.sample_id: each for each in predict(cell(rows[:QUESTIONS], tmp_path, model, strategy), opened).predictions
    }
    differences, decided = [], 0
    for row in rows[:QUESTIONS]:
        prediction = predicted[row["id"]]
        options = [f" {text}" for text in (LETTERS if letters else texts(row))]
        prompt = written(loop, question(row, prediction, letters=letters), "Answer:", chat=chat)
        scores = [each.total for each in loop.likelihoods(prompt, options)]
        differences += np.abs(np.subtract(scores, prediction.logprobs)).tolist()
        second, best = np.sort(scores)[-2:]
        if best - second > NOISE:
            decided += 1
            assert prediction.answer == texts(row)[int(np.argmax(scores))]
    # To these models, hardly a letter is more probable than another.
    assert decided or letters
    assert np.mean(differences) < MEAN_NOISE


def test_five_orders_cost_hardly_more_than_the_fewest_tokens_possible(
    models: dict[str, Model], rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    backend, loop = CountingBackend(models["smollm2"], context_limit=2048), Loop(models["smollm2"].path, threads=1)
    five_orders = cell(rows[:100], tmp_path, models["smollm2"], "option_scoring", orders=5)
    predictions = predict(five_orders, Engine(backend)).predictions
    by_id = {row["id"]: row for row in rows}
    prompts = [
        written(loop, question(by_id[each.sample_id], each, letters=True), "Answer:", chat=True) for each in predictions
    ]
    # Each prompt alone: its last row has the probability of every letter.
    needed = sorted(loop.tokens(prompt, bos=loop.adds_bos) for prompt in prompts)
    fewest = len(needed[0]) + sum(len(other) - alike(one, other) for one, other in pairwise(needed))
    loop.close()
    backend.close()
    assert len(prompts) == len(set(prompts)) == 500
    assert fewest <= backend.computed < 1.02 * fewest
