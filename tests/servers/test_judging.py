"""A server as a judge: how it is asked for a verdict."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from pytest_puma.core import EngineError, Message, Prompt, Score
from tests.servers.stub import Fault, Stub, answer
from tests.servers.test_responder import ask, opened

VERDICT = Score(prompt=Prompt(messages=(Message(role="user", content="Is it short?"),)), continuations=("yes", "no"))


def test_a_judge_is_held_to_the_answers_by_a_json_schema(stub: Stub) -> None:
    def reply(body: Any) -> Any:
        schema = body["response_format"]["json_schema"]["schema"]
        return answer(json.dumps({"verdict": schema["properties"]["verdict"]["enum"][1]}))

    stub.reply = reply
    responder = opened(stub, judges=True)
    (response,) = ask(responder, VERDICT)
    assert response.logprobs == (-math.inf, 0.0)
    assert (responder.identity.signature["verdicts"], responder.provenance().warnings) == ("json_schema", ())
    assert "verdicts" not in opened(stub).identity.signature


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "'response_format' of type 'json_schema' is not supported with this model"),
        (400, "This type of response_format is not available"),
        (404, "No endpoint can handle the requested parameters"),
        (422, "Input should be 'text' or 'json_object'"),
    ],
)
def test_a_server_that_refuses_a_json_schema_writes_its_verdicts_freely(stub: Stub, status: int, message: str) -> None:
    refusal = Fault(status=status, body={"error": {"message": message}})
    stub.reply = lambda body: refusal if "response_format" in body else answer("No, it is long.")
    responder = opened(stub, judges=True, parallel=1)
    first, second = ask(responder, VERDICT, VERDICT)
    assert first.logprobs == second.logprobs == (-math.inf, 0.0)
    assert len(stub.asked) == 3, "the second verdict is asked for without it at once"
    (warning,) = responder.provenance().warnings
    assert warning == "the server refuses a JSON schema, so that its verdicts are read from free replies"


def test_another_refusal_of_a_verdict_is_an_error(stub: Stub) -> None:
    stub.reply = lambda _: Fault(status=400, body={"error": {"message": "no such model"}})
    with pytest.raises(EngineError, match="HTTP status 400: no such model"):
        ask(opened(stub, judges=True), VERDICT)
