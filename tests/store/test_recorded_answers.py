"""A model whose answers are in a file: how samples find them, and what the report says of those that none finds."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from pytest_puma import ChoiceScenario, CompletionScenario
from pytest_puma.core import DataError, Likelihood, Outcome, Scenario
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.models.recorded import recorded_model
from pytest_puma.run.evaluate import evaluate
from pytest_puma.store.recorded_answers import RecordedAnswers
from tests.factories import cell

ROWS = [
    {"id": "n", "country": "Norway", "capital": "Oslo", "choices": ["Oslo", "Bergen"]},
    {"id": "p", "country": "Peru", "capital": "Lima", "choices": ["Cusco", "Lima"]},
]


class Capitals(CompletionScenario):
    name = "capitals"
    key = "id"
    text_fields = ("country",)

    def instruction(self, item: dict[str, Any]) -> str:
        return f"What is the capital of {item['country']}?"

    def truth(self, item: dict[str, Any]) -> str:
        return str(item["capital"])


class Talk(Capitals):
    name = "talk"

    def turns(self, item: dict[str, Any]) -> Sequence[str]:
        return (self.instruction(item), "Write it again, please.")


class Scored(Capitals):
    name = "scored"
    scores: ClassVar[tuple[str, ...]] = ("exact_match", "bits_per_byte")


class Cities(ChoiceScenario):
    name = "cities"
    key = "id"
    text_fields = ("country",)

    def question(self, item: dict[str, Any]) -> str:
        return f"What is the capital of {item['country']}?"

    def choices(self, item: dict[str, Any]) -> list[str]:
        return list(item["choices"])

    def answer(self, item: dict[str, Any]) -> str:
        return str(item["capital"])


class Shuffled(Cities):
    name = "shuffled"
    orders = 2


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """The outcome of a scenario on the rows, with these lines as the answers."""
    monkeypatch.chdir(tmp_path)

    def asked(
        scenario: type[Scenario],
        *lines: dict[str, Any],
        strategy: str = "zero_shot",
        rows: Sequence[dict[str, Any]] = ROWS,
        options: str = "",
        **fields: Any,
    ) -> Outcome:
        for name, entries in (("rows", rows), ("answers", lines)):
            text = "".join(f"{json.dumps(entry)}\n" for entry in entries)
            (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
        asked_cell = cell(scenario(data=tmp_path / "rows.jsonl"), strategy, **fields)  # type: ignore[call-arg]
        scores = tuple(LIBRARY[score] for score in scenario.scores if isinstance(score, str))
        asked_cell = replace(asked_cell, model=recorded_model(f"gpt4=answers.jsonl{options}"), scores=scores)
        return evaluate(asked_cell, RecordedAnswers(asked_cell.model))

    return asked


def texts(outcome: Outcome) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for prediction in outcome.predictions:
        found.setdefault(prediction.sample_id, []).extend(prediction.raw)
    return found


def test_a_sample_finds_its_answer_by_its_id(ask: Callable[..., Outcome]) -> None:
    outcome = ask(Capitals, {"id": "p", "text": "Lima"}, {"id": "n", "text": "Bergen"})
    assert texts(outcome) == {"n": ["Bergen"], "p": ["Lima"]}
    assert outcome["exact_match"] == 0.5


@pytest.mark.parametrize(
    "prompt",
    [
        "What is the capital of Norway?",
        "  What is the capital of Norway?\n",
        "Norway",
        "Answer briefly.\n\nQ: What is the capital of Peru?\nA: Lima.\n\nQ: Norway\nA:",
        "Q: What is the capital of Norway?\nA: Let's think step by step.",
    ],
)
def test_a_sample_finds_its_answer_by_its_question(ask: Callable[..., Outcome], prompt: str) -> None:
    outcome = ask(Capitals, {"id": "p", "text": "Lima"}, {"prompt": prompt, "text": "Oslo"})
    assert texts(outcome) == {"n": ["Oslo"], "p": ["Lima"]}


def test_the_id_counts_before_the_question(ask: Callable[..., Outcome]) -> None:
    outcome = ask(Capitals, {"prompt": "Norway", "text": "x"}, {"id": "n", "text": "Oslo"}, {"id": "p", "text": "Lima"})
    assert texts(outcome)["n"] == ["Oslo"]


def test_two_answers_to_one_question_are_an_error(ask: Callable[..., Outcome]) -> None:
    problem = (
        "recorded:gpt4=answers.jsonl: sample 'n' has several answers: line 1 ('Norway') and line 2 ('What is the "
        "capital of Norway?'); expected one line for its prompt"
    )
    lines = [{"prompt": "Norway", "text": "Oslo"}, {"prompt": "What is the capital of Norway?", "text": "Bergen"}]
    with pytest.raises(DataError, match=f"^{re.escape(problem)}$"):
        ask(Capitals, *lines, {"id": "p", "text": "Lima"})
    assert texts(ask(Capitals, lines[0], lines[1] | {"text": "Oslo"}, {"id": "p", "text": "Lima"}))["n"] == ["Oslo"]


def test_samples_without_an_answer_are_an_error_that_names_the_first(ask: Callable[..., Outcome]) -> None:
    problem = "recorded:gpt4=answers.jsonl: sample 'p' of capitals-zero_shot@gpt4 has no answer"
    with pytest.raises(DataError, match=f"^{re.escape(problem)}; expected a line with its id or its prompt$"):
        ask(Capitals, {"id": "n", "text": "Oslo"})
    with pytest.raises(DataError, match=re.escape(" has no answer (and 1 more); expected")):
        ask(Capitals, {"id": "x", "text": "Oslo"})


def test_each_trial_has_its_own_text(ask: Callable[..., Outcome]) -> None:
    outcome = ask(Shuffled, {"id": "n", "text": ["A", "B"]}, {"id": "p", "text": ["A", "A"]})
    assert texts(outcome) == {"n": ["A", "B"], "p": ["A", "A"]}
    for prediction in outcome.predictions:
        place = (prediction.order or (0, 1))["AB".index(prediction.raw[0])]
        assert prediction.answer == prediction.choices[place]


@pytest.mark.parametrize("text", ["A", ["A"]])
def test_one_text_is_no_answer_to_two_trials(ask: Callable[..., Outcome], text: Any) -> None:
    problem = (
        "recorded:gpt4=answers.jsonl: line 1 ('n') has text for 1 trials, but sample 'n', trial 2 is asked; expected a "
        "list with one text for each trial"
    )
    with pytest.raises(DataError, match=f"^{re.escape(problem)}$"):
        ask(Shuffled, {"id": "n", "text": text}, {"id": "p", "text": ["A", "B"]})


def test_several_requests_of_a_trial_have_a_text_each(ask: Callable[..., Outcome]) -> None:
    lines = [{"id": "n", "text": [["It is Oslo.", "Oslo"]]}, {"prompt": "Peru", "text": [["Lima?", "Lima"]]}]
    outcome = ask(Talk, *lines)
    assert texts(outcome) == {"n": ["It is Oslo.", "Oslo"], "p": ["Lima?", "Lima"]}
    assert outcome["exact_match"] == 1
    (norway,) = [prediction for prediction in outcome.predictions if prediction.sample_id == "n"]
    last = outcome.prompts(norway)[-1]
    assert [message.content for message in last][-2:] == ["It is Oslo.", "Write it again, please."]


def test_too_few_texts_of_a_trial_are_an_error(ask: Callable[..., Outcome]) -> None:
    problem = (
        "recorded:gpt4=answers.jsonl: line 1 ('n') has text for 1 requests of sample 'n', but there are more; expected "
        "a list of lists, with one text for each request"
    )
    with pytest.raises(DataError, match=f"^{re.escape(problem)}$"):
        ask(Talk, {"id": "n", "text": "Oslo"}, {"id": "p", "text": [["Lima?", "Lima"]]})


def test_self_consistency_takes_its_texts_in_order(ask: Callable[..., Outcome]) -> None:
    said = [["Answer: Oslo", "Answer: Bergen", "Answer: Oslo"]]
    outcome = ask(Capitals, {"id": "n", "text": said}, {"id": "p", "text": said}, strategy="self_consistency_3")
    assert texts(outcome) == {"n": said[0], "p": said[0]}
    assert [prediction.answer for prediction in outcome.predictions] == ["Oslo", "Oslo"]


def test_log_probabilities_decide_between_choices(ask: Callable[..., Outcome]) -> None:
    lines = [
        {"id": "n", "logprobs": {"Oslo": -0.25, "Bergen": -2.0}},
        {"id": "p", "logprobs": {"Lima": -3.0, "Cusco": -1.0}},
    ]
    outcome = ask(Cities, *lines, strategy="cloze_scoring")
    first, second = sorted(outcome.predictions, key=lambda prediction: prediction.sample_id)
    assert (first.answer, second.answer) == ("Oslo", "Cusco")
    assert second.logprobs == (-1.0, -3.0), "in the order of the data"
    assert second.likelihoods[1] == Likelihood(total=-3.0, end=None, tokens=0, greedy=False)
    assert first.probabilities is not None
    assert math.isclose(first.probabilities["Oslo"], 1 / (1 + math.exp(-1.75)))


def test_letters_in_any_order_have_the_log_probabilities_of_their_choices(ask: Callable[..., Outcome]) -> None:
    one, other = {"Oslo": -0.25, "Bergen": -2.0}, {"Oslo": -2.0, "Bergen": -0.25}
    peru = {"Lima": -1.0, "Cusco": -1.5}
    lines = [{"id": "n", "logprobs": [one, other]}, {"id": "p", "logprobs": [peru, peru]}]
    outcome = ask(Shuffled, *lines, strategy="option_scoring")
    answers = {prediction.key: prediction.answer for prediction in outcome.predictions}
    assert answers == {("n", 0): "Oslo", ("n", 1): "Bergen", ("p", 0): "Lima", ("p", 1): "Lima"}
    assert {prediction.order for prediction in outcome.predictions} == {(), (1, 0)}


@pytest.mark.parametrize(
    ("logprobs", "found"),
    [({"Oslo": -1.0}, "'Oslo'"), ({"Oslo": -1.0, "Bergen": -1.0, "x": -1.0}, "'Bergen', 'Oslo', 'x'")],
)
def test_log_probabilities_of_other_choices_are_an_error(
    ask: Callable[..., Outcome], logprobs: dict[str, float], found: str
) -> None:
    problem = (
        f"recorded:gpt4=answers.jsonl: line 1 ('n') has logprobs of {found}; expected those of 'Bergen', 'Oslo', for "
        "sample 'n'"
    )
    lines = [{"id": "n", "logprobs": logprobs}, {"id": "p", "logprobs": {"Lima": -1.0, "Cusco": -1.5}}]
    with pytest.raises(DataError, match=f"^{re.escape(problem)}$"):
        ask(Cities, *lines, strategy="cloze_scoring")


def test_a_line_without_the_kind_of_answer_that_is_needed_is_an_error(ask: Callable[..., Outcome]) -> None:
    lines: list[dict[str, Any]] = [{"id": "n", "text": "A"}, {"id": "p", "text": "B"}]
    problem = "line 2 ('p') has no logprobs, which sample 'p' of cities-option_scoring@gpt4 needs"
    with pytest.raises(DataError, match=re.escape(problem)):
        ask(Cities, *lines, strategy="option_scoring")
    lines = [{"id": "n", "logprobs": {"Oslo": -1, "Bergen": -2}}, {"id": "p", "text": "B"}]
    with pytest.raises(DataError, match=re.escape("line 1 ('n') has no text, which sample 'n' of cities-zero_shot")):
        ask(Cities, *lines)


def test_the_log_probability_of_the_truth_is_given_by_its_text(ask: Callable[..., Outcome]) -> None:
    lines = [
        {"id": "n", "text": "Oslo", "logprobs": {"Oslo": -4 * math.log(2)}},
        {"id": "p", "text": "Lima", "logprobs": {"Lima": -8 * math.log(2)}},
    ]
    outcome = ask(Scored, *lines)
    assert math.isclose(outcome["bits_per_byte"], 1.5)


def test_answers_to_the_samples_as_they_are_are_none_to_perturbed_ones(ask: Callable[..., Outcome]) -> None:
    lines = [{"id": "n", "text": "Oslo"}, {"id": "p", "text": "Lima"}, {"prompt": "Norway", "text": "Oslo"}]
    with pytest.raises(
        DataError,
        match=r"capitals-zero_shot\+case_upper@gpt4 has no answer \(and 1 more\); expected a line with its prompt$",
    ):
        ask(Capitals, *lines, perturbation="case_upper")
    shouted = [
        {"prompt": f"What is the capital of {str(row['country']).upper()}?", "text": row["capital"]} for row in ROWS
    ]
    assert ask(Capitals, *lines, *shouted, perturbation="case_upper")["exact_match"] == 1


def warnings(outcome: Outcome) -> list[str]:
    return [warning.removeprefix(f"{outcome.cell}: ") for warning in outcome.warnings if "answers.jsonl" in warning]


def test_lines_that_no_sample_uses_are_said(ask: Callable[..., Outcome]) -> None:
    used = [{"id": "n", "text": "Oslo"}, {"id": "p", "text": "Lima"}]
    assert warnings(ask(Capitals, *used)) == []
    unused = [{"id": name, "text": "x"} for name in ("x", "y", "z")]
    assert warnings(ask(Capitals, *used, *unused)) == [
        "3 of the 5 answers in answers.jsonl are not used: line 3 ('x'), line 4 ('y'), line 5 ('z')"
    ]
    assert warnings(ask(Capitals, *unused, *used, {"prompt": "p", "text": "x"})) == [
        "4 of the 6 answers in answers.jsonl are not used: line 1 ('x'), line 2 ('y'), line 3 ('z'), ..."
    ]


@pytest.mark.parametrize("text", [["Oslo", "x"], [["Oslo", "x"]]])
def test_texts_that_no_request_uses_are_said(ask: Callable[..., Outcome], text: Any) -> None:
    outcome = ask(Capitals, {"id": "n", "text": text}, {"id": "p", "text": "Lima"})
    assert texts(outcome)["n"] == ["Oslo"]
    assert warnings(outcome) == ["1 of the 2 answers in answers.jsonl have more texts than are asked for: line 1 ('n')"]


def test_a_second_kind_of_answer_for_another_strategy_is_not_said(ask: Callable[..., Outcome]) -> None:
    lines = [
        {"id": "n", "text": "A", "logprobs": {"Oslo": -1, "Bergen": -2}},
        {"id": "p", "text": "B", "logprobs": {"Lima": -1, "Cusco": -2}},
    ]
    assert warnings(ask(Cities, *lines)) == []
    assert warnings(ask(Cities, *lines, strategy="cloze_scoring")) == []


def test_what_a_file_of_answers_cannot_tell_is_not_measured(ask: Callable[..., Outcome]) -> None:
    gates = ["latency_mean <= 1", "tokens_decoded_mean <= 9", "exact_match >= 0.4", "latency_mean <= 2"]
    outcome = ask(Capitals, {"id": "n", "text": "Oslo"}, {"id": "p", "text": "x"}, gates=gates)
    assert not [name for name in outcome.measures if name.startswith(("latency", "tokens"))]
    assert [(str(each.gate.metric), each.status, each.fails) for each in outcome.verdicts] == [
        ("latency_mean", "NOT RUN", False),
        ("tokens_decoded_mean", "NOT RUN", False),
        ("exact_match", "PASS", False),
        ("latency_mean", "NOT RUN", False),
    ]
    assert outcome.verdicts[0].reason == "latency_mean is unknown: a file of answers has no times"
    assert outcome.verdicts[1].reason == "tokens_decoded_mean is unknown: a file of answers has no numbers of tokens"
    assert {"parse_failure_rate", "truncation_rate", "overflow_rate"} <= outcome.measures.keys()


def test_the_signature_has_the_digest_of_the_file(ask: Callable[..., Outcome]) -> None:
    lines = [{"id": "n", "text": "Oslo"}, {"id": "p", "text": "Lima"}]
    signature: dict[str, Any] = dict(ask(Capitals, *lines, options=",chat=off").signature)
    digest = hashlib.sha256(Path("answers.jsonl").read_bytes()).hexdigest()
    assert signature["engine"] == {"answers": "answers.jsonl", "answers_sha256": digest, "chat": "False"}
    assert signature["chat"] is False
    other = ask(Capitals, lines[0], lines[1] | {"text": "x"}).signature
    assert other["engine"] != signature["engine"]
    assert "chat" not in other
