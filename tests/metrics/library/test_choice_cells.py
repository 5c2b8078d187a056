"""Metrics of choices in whole cells: from a scenario and a strategy to measures, against formulas."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

from pytest_puma import ChoiceScenario
from pytest_puma.core import Outcome
from pytest_puma.evaluation.evaluate import evaluate
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.testing import Cell, Engine, Model, ScriptedBackend, parse_strategy

ROWS: list[dict[str, Any]] = [
    {"id": "a", "question": "Where are pens?", "choices": ["desk", "the big house", "\u6d77"], "answer": "1"},
    {"id": "b", "question": "Where is rain?", "choices": ["desk", "cloud of May"], "answer": "2"},
    {"id": "c", "question": "Where are keys?", "choices": ["bag", "I", "sea", "sky"], "answer": "3"},
    {"id": "d", "question": "Where is salt?", "choices": ["sea", "jar", "sun", "x"], "answer": "1"},
]


class Places(ChoiceScenario):
    """Numbers as keys, and a choice for not knowing that begins with a space."""

    name = "places"
    key = "id"
    idk = " I do not know."

    def question(self, item: dict[str, Any]) -> str:
        return str(item["question"])

    def choices(self, item: dict[str, Any]) -> list[str]:
        return list(item["choices"])

    def keys(self, item: dict[str, Any]) -> list[str]:
        return [str(place + 1) for place in range(len(item["choices"]))]

    def answer(self, item: dict[str, Any]) -> str:
        return str(item["answer"])


class Shuffled(Places):
    orders = 6


def outcome(
    folder: Path, scenario: type[Places], strategy: str, reply: Any, scores: tuple[str, ...], **options: Any
) -> Outcome:
    path = folder / "places.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    cell = Cell(
        scenario=scenario(path),
        strategy=parse_strategy(strategy),
        model=Model(name="m", path=Path("m.gguf"), **options),
        scores=tuple(LIBRARY[name] for name in scores),
    )
    return evaluate(cell, Engine(ScriptedBackend(reply)))


def writes(prompt: str) -> str:
    """Sea, whatever the question is; a model that finds it more likely than not knowing, and the rest unlikely."""
    return "Answer: sea" if "salt" in prompt or "keys" in prompt else "Answer:  I do not know."


CLOZE = (
    *("accuracy_chars", "accuracy_bytes", "accuracy_tokens", "accuracy_uncond", "probability_mass", "ternary"),
    *("probability_mass_chars", "confidence_weighted", "confidence_weighted_chars", "distributional_correctness"),
    *("distributional_correctness_chars", "bits_per_byte", "bits_per_byte.corpus"),
)


def test_metrics_of_likelihoods_equal_formulas_on_the_responses(tmp_path: Path) -> None:
    cell = outcome(tmp_path, Places, "cloze_scoring", writes, CLOZE)
    assert len(cell.predictions) == 4
    expected: dict[str, list[float]] = {name: [] for name in CLOZE}
    bits, size = 0.0, 0
    for each in cell.predictions:
        row = next(row for row in ROWS if row["id"] == each.sample_id)
        texts = [*row["choices"], " I do not know."]
        right = int(row["answer"]) - 1
        totals = np.array([likelihood.total for likelihood in each.likelihoods])
        alone = np.array([likelihood.total for likelihood in each.unconditional])
        tokens = np.array([likelihood.tokens for likelihood in each.likelihoods])
        characters = np.array([len(text) for text in texts])
        octets = np.array([len(text.encode()) for text in texts])
        assert len(totals) == len(alone) == len(texts)
        for name, values in (
            *(("chars", totals / characters), ("bytes", totals / octets), ("tokens", totals / tokens)),
            ("uncond", totals - alone),
        ):
            expected[f"accuracy_{name}"].append(float(np.argmax(values) == right))
        for suffix, values in (("", totals), ("_chars", totals / characters)):
            shares = softmax(values)
            best = int(np.argmax(shares))
            expected[f"probability_mass{suffix}"].append(shares[right])
            expected[f"confidence_weighted{suffix}"].append(shares[right] if best == right else 0.0)
            # The last choice is that of not knowing: neither right nor wrong.
            correctness = (2 * shares[right] + shares[-1] - 1) * (1 - shares[-1])
            expected[f"distributional_correctness{suffix}"].append(correctness)
        best = int(np.argmax(totals))
        expected["ternary"].append(1.0 if best == right else 0.0 if best == len(texts) - 1 else -1.0)
        expected["bits_per_byte"].append(-totals[right] / math.log(2) / octets[right])
        bits, size = bits - totals[right] / math.log(2), size + int(octets[right])
    for name in CLOZE:
        value = bits / size if name == "bits_per_byte.corpus" else np.mean(expected[name])
        assert cell[name] == pytest.approx(value, abs=1e-12), name
    # Right twice, and twice the model does not know: not wrong.
    assert (cell["ternary"], cell["accuracy"]) == (0.5, 0.5)


def test_letters_have_probabilities_and_no_likelihoods_of_texts(tmp_path: Path) -> None:
    names = ("probability_mass", "accuracy_chars", "bits_per_byte", "ternary")
    cell = outcome(tmp_path, Places, "option_scoring", lambda _: "Answer: A", names)
    assert cell["accuracy"] == 0.5
    assert cell["ternary"] == 0
    mass = [each.probabilities[each.gold] for each in cell.predictions if each.probabilities]
    assert cell["probability_mass"] == pytest.approx(np.mean(mass))
    assert cell.measures["probability_mass"].n == 4
    assert not {"accuracy_chars", "bits_per_byte"} & cell.measures.keys()


def test_trials_of_written_letters_are_those_of_their_questions(tmp_path: Path) -> None:
    """The model writes the first letter, except that it cannot be read where "pens" are asked for."""
    names = ("majority_accuracy", "consistency", "position_bias", "ternary")
    reply = "Answer: Who knows? Perhaps I should ask."
    cell = outcome(tmp_path, Shuffled, "zero_shot", lambda prompt: reply if "pens" in prompt else "Answer: A", names)
    assert len(cell.predictions) == 24
    assert cell["parse_failure_rate"] == 6 / 24
    by_question = {row["id"]: [each for each in cell.predictions if each.sample_id == row["id"]] for row in ROWS}
    right = {name: [each.answer == each.gold for each in trials] for name, trials in by_question.items()}
    assert cell["accuracy"] == sum(map(sum, right.values())) / 24
    assert cell["majority_accuracy"] == np.mean([sum(each) > 3 for each in right.values()])
    assert cell.measures["majority_accuracy"].n == 4
    # Always the same place: the most biased there is, though every choice is chosen.
    assert cell["position_bias"] == pytest.approx(1)
    assert cell.measures["position_bias"].n == 3
    assert math.isnan(cell.measures["position_bias"].low)
    values = {name: [each.answer for each in trials] for name, trials in by_question.items()}
    pairs = [
        np.mean([one == other and one is not None for at, one in enumerate(each) for other in each[at + 1 :]])
        for each in values.values()
    ]
    assert cell["consistency"] == pytest.approx(np.mean(pairs))
    assert cell["ternary"] == pytest.approx((sum(map(sum, right.values())) * 2 - 24) / 24)
