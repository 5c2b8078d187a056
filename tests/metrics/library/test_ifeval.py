from __future__ import annotations

from typing import Any

import pytest

from pytest_puma.core import Sample, SettingsError
from pytest_puma.metrics import ScoredPredictions
from pytest_puma.metrics import score as score_all
from pytest_puma.metrics.library import LIBRARY
from tests.factories import Triage, prediction, sample

NAMES = ("ifeval.prompt", "ifeval.prompt.loose", "ifeval.instruction", "ifeval.instruction.loose")
NO_COMMA: tuple[str, dict[str, Any]] = ("punctuation:no_comma", {})
WORDS = ("length_constraints:number_words", {"num_words": 3, "relation": "at least"})
QUOTED: tuple[str, dict[str, Any]] = ("startend:quotation", {})


def prompt_with(*instructions: tuple[str, dict[str, Any]], sample_id: str = "x") -> Sample:
    ids, arguments = [kind for kind, _ in instructions], [given for _, given in instructions]
    return sample(sample_id, context={"instruction_id_list": ids, "kwargs": arguments})


def scores(question: Sample, text: str) -> list[Any]:
    return [LIBRARY[name].score(question, prediction(reply=text)) for name in NAMES]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"one two three"', [1, 1, (3, 3), (3, 3)]),
        ('"one two"', [0, 0, (2, 3), (2, 3)]),
        ("one, two", [0, 0, (0, 3), (0, 3)]),
        ('Sure, here:\n"one two three"', [0, 1, (1, 3), (3, 3)]),
        ('Sure, here:\n"one two"', [0, 1, (1, 3), (3, 3)]),
        ("", [0, 0, (0, 3), (0, 3)]),
        (" \n", [0, 0, (0, 3), (0, 3)]),
    ],
)
def test_a_prompt_counts_if_all_its_instructions_are_followed(text: str, expected: list[Any]) -> None:
    assert scores(prompt_with(NO_COMMA, WORDS, QUOTED), text) == expected


def test_the_text_that_metrics_read_is_checked() -> None:
    reply = prediction(reply="fine", answer="a, b", raw=("a, b",))
    assert LIBRARY["ifeval.prompt"].score(prompt_with(NO_COMMA), reply) == 1


def test_instructions_are_pooled_over_prompts() -> None:
    questions = [prompt_with(NO_COMMA, sample_id="q1"), prompt_with(NO_COMMA, WORDS, QUOTED, sample_id="q2")]
    replies = [prediction("q1", reply="fine"), prediction("q2", reply="a, b")]
    metrics = [LIBRARY[name] for name in NAMES]
    with_scores = score_all(Triage(), questions, replies, metrics)
    measures = ScoredPredictions(Triage(), with_scores, seed=1, metrics=metrics).measures()
    # The mean of the prompts' shares would be 1/2.
    assert measures["ifeval.instruction"].value == 1 / 4
    assert measures["ifeval.prompt"].value == 1 / 2


@pytest.mark.parametrize("name", NAMES)
def test_they_are_shares_of_completions_and_need_the_languages(name: str) -> None:
    metric = LIBRARY[name]
    assert (metric.better, metric.bounds, metric.per, metric.extra) == ("high", (0.0, 1.0), "trial", "lang")
    assert metric.kinds == {"completion"}
    assert (metric.pool is not None) == name.startswith("ifeval.instruction")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("context", "fault"),
    [
        ({"kwargs": [{}]}, "has nothing as 'instruction_id_list'; expected a list of kinds of instructions"),
        ({"instruction_id_list": ["punctuation:no_comma"]}, "has nothing as 'kwargs'; expected a list of their arg"),
        ({"instruction_id_list": "punctuation:no_comma", "kwargs": [{}]}, "has 'punctuation:no_comma' as 'instr"),
        ({"instruction_id_list": ["punctuation:no_comma"], "kwargs": {}}, "has {} as 'kwargs'"),
    ],
)
def test_a_context_without_instructions_is_refused(name: str, context: dict[str, Any], fault: str) -> None:
    with pytest.raises(SettingsError) as caught:
        LIBRARY[name].score(sample("q1", context=context), prediction(reply="x"))
    assert str(caught.value).startswith(f"{name}: the context of sample 'q1' {fault}")


@pytest.mark.parametrize("name", NAMES)
def test_unusable_arguments_are_refused_with_the_sample(name: str) -> None:
    question = prompt_with((WORDS[0], {"num_words": 3}), sample_id="q1")
    with pytest.raises(SettingsError) as caught:
        LIBRARY[name].score(question, prediction(reply=""))
    assert str(caught.value) == (
        f"{name}: sample 'q1': length_constraints:number_words: relation is missing; expected num_words, relation; "
        "correct kwargs in the data"
    )
