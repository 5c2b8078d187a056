from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.evaluation.evaluate import evaluate
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.scenarios.benchmarks.knowledge import TruthfulQaMc1, TruthfulQaMc2
from pytest_puma.testing import Cell, Engine, Model, ScriptedBackend, parse_strategy
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests

QUESTION = "Do cows eat grass?"
MC1 = {"Yes, they do.": 1, "No, meat.": 0, "Only at night.": 0}
MC2 = {"Yes, they do.": 1, "They eat grass.": 1, "No, meat.": 0, "Only at night.": 0}
ORIGINAL = [{"question": QUESTION, "mc1_targets": MC1, "mc2_targets": MC2}]
HUB = {
    "question": QUESTION,
    **{
        name: {"choices": list(targets), "labels": list(targets.values())}
        for name, targets in {"mc1_targets": MC1, "mc2_targets": MC2}.items()
    },
}
CSV = (
    "Type,Category,Question,Best Answer,Correct Answers,Incorrect Answers,Source\n"
    f'x,y,{QUESTION},"Yes, they do","Yes, they do; They eat grass;","No, meat; Only at night.",z\n'
)


def original(tmp_path: Path) -> Path:
    path = tmp_path / "mc_task.json"
    path.write_text(json.dumps(ORIGINAL))
    return path


@pytest.mark.parametrize("chat", [True, False])
def test_the_texts_are_scored_after_the_question(tmp_path: Path, *, chat: bool) -> None:
    (cows,) = sample_requests(TruthfulQaMc1(original(tmp_path)), "cloze_scoring", chat=chat)
    assert cows.text == ("user: Q: Do cows eat grass?\nassistant: A:" if chat else "Q: Do cows eat grass?\nA:")
    assert cows.continuations == (" Yes, they do.", " No, meat.", " Only at night.")
    assert cows.golds == ("Yes, they do.",)


def test_mc2_has_several_true_choices(tmp_path: Path) -> None:
    (cows,) = sample_requests(TruthfulQaMc2(original(tmp_path)), "cloze_scoring")
    assert cows.continuations == (" Yes, they do.", " They eat grass.", " No, meat.", " Only at night.")
    assert cows.golds == ("Yes, they do.", "They eat grass.")


@pytest.mark.parametrize("scenario", [TruthfulQaMc1, TruthfulQaMc2])
def test_the_hub_and_the_csv_have_the_same_choices(
    tmp_path: Path, scenario: type[TruthfulQaMc1 | TruthfulQaMc2]
) -> None:
    (tmp_path / "TruthfulQA.csv").write_text(CSV)
    json_lines(tmp_path / "validation.jsonl", [HUB])
    expected = sample_requests(scenario(original(tmp_path)), "cloze_scoring")
    for name in ("TruthfulQA.csv", "validation.jsonl"):
        assert sample_requests(scenario(tmp_path / name), "cloze_scoring") == expected


def test_the_true_choice_is_not_always_the_letter_a(tmp_path: Path) -> None:
    letters = [
        each.text.partition(". Yes")[0][-1] for each in sample_requests(TruthfulQaMc1(original(tmp_path)), "zero_shot")
    ]
    assert len(letters) == 4
    assert set(letters) == {"A", "B", "C"}


def test_mc2_adds_the_probabilities_of_the_true_choices(tmp_path: Path) -> None:
    scenario = TruthfulQaMc2(original(tmp_path))
    cell = Cell(
        scenario=scenario,
        strategy=parse_strategy("cloze_scoring"),
        model=Model(name="m", path=Path("m.gguf")),
        scores=(LIBRARY["probability_mass"],),
    )
    outcome = evaluate(cell, Engine(ScriptedBackend({}, default="A: No, they do.", confidence=1.0)))
    sums = [each.total for each in outcome.predictions[0].likelihoods]
    masses = [math.exp(value - max(sums)) for value in sums]
    assert outcome["probability_mass"] == pytest.approx((masses[0] + masses[1]) / sum(masses))
    assert scenario.primary_metric() == next(iter(outcome.measures)) == "probability_mass"


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (HUB | {"mc1_targets": {"choices": ["a", "b"], "labels": [0, 0]}}, "row 1, column 'mc1_targets': no choice is"),
        ({"question": QUESTION}, "row 1, column 'mc1_targets': missing or empty; the row has: question"),
        (HUB | {"mc1_targets": {"choices": ["a", "b"]}}, "row 1, column 'labels': missing or empty"),
    ],
)
def test_a_faulty_row_is_named(tmp_path: Path, row: dict[str, Any], fault: str) -> None:
    with pytest.raises(DataError) as refused:
        _ = TruthfulQaMc1(json_lines(tmp_path / "validation.jsonl", [row])).rows
    assert fault in str(refused.value)
