"""The outcome of recorded answers: warnings about unused lines, measures that a file cannot have, the signature."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Outcome
from tests.responses.answer_source.scenarios import Capitals, Cities, texts


def warnings(outcome: Outcome) -> list[str]:
    return [
        warning.removeprefix(f"{outcome.cell}: ")
        for warning in outcome.judgement.warnings
        if "answers.jsonl" in warning
    ]


def test_lines_that_no_sample_uses_are_said(ask: Callable[..., Outcome]) -> None:
    used = [{"id": "n", "text": "Oslo"}, {"id": "p", "text": "Lima"}]
    assert warnings(ask(Capitals, *used)) == []
    unused = [{"id": name, "text": "x"} for name in ("x", "y", "z")]
    assert warnings(ask(Capitals, *used, *unused)) == [
        "3 of the 5 answers in answers.jsonl are not used: line 3 ('x'), line 4 ('y'), line 5 ('z')"
    ]
    assert warnings(ask(Capitals, *unused, *used, {"prompt": "p", "text": "x"})) == [
        "4 of the 6 answers in answers.jsonl are not used: line 1 ('x'), line 2 ('y'), line 3 ('z') and 1 more"
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
    assert [(str(each.gate.metric), each.status, each.fails) for each in outcome.judgement.verdicts] == [
        ("latency_mean", "NOT RUN", False),
        ("tokens_decoded_mean", "NOT RUN", False),
        ("exact_match", "PASS", False),
        ("latency_mean", "NOT RUN", False),
    ]
    assert outcome.judgement.verdicts[0].reason == "latency_mean is unknown: a file of answers has no times"
    assert (
        outcome.judgement.verdicts[1].reason
        == "tokens_decoded_mean is unknown: a file of answers has no numbers of tokens"
    )
    assert {"parse_failure_rate", "truncation_rate", "overflow_rate"} <= outcome.measures.keys()


def test_the_signature_has_the_digest_of_the_file(ask: Callable[..., Outcome]) -> None:
    lines = [{"id": "n", "text": "Oslo"}, {"id": "p", "text": "Lima"}]
    signature: dict[str, Any] = dict(ask(Capitals, *lines, options=",chat=off").execution.signature)
    digest = hashlib.sha256(Path("answers.jsonl").read_bytes()).hexdigest()
    assert signature["engine"] == {"answers": "answers.jsonl", "answers_sha256": digest, "chat": "False"}
    assert signature["chat"] is False
    other = ask(Capitals, lines[0], lines[1] | {"text": "x"}).execution.signature
    assert other["engine"] != signature["engine"]
    assert "chat" not in other
