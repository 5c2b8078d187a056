from __future__ import annotations

import threading
import time
import traceback
from email.utils import formatdate
from typing import Any

import pytest

from pytest_puma.core import EngineError, Generate, Message, NotRunError, Prompt, Request, Response, Score
from pytest_puma.core.model import Endpoint
from pytest_puma.servers.client import TRIES, Client
from pytest_puma.servers.responder import ServerResponder
from tests.servers.stub import MODEL, Fault, Stub, answer, serving

KEY = "sk-very-secret-4711"


def request(text: str = "Hello", **parts: Any) -> Generate:
    prompt = {name: parts.pop(name) for name in ("prefill", "stop", "chat") if name in parts}
    return Generate(
        prompt=Prompt(messages=(Message(role="user", content=text),), **prompt), **{"max_tokens": 9, **parts}
    )


def opened(
    stub: Stub, *, parallel: int = 4, seconds: float = 20.0, key: str = "", judges: bool = False
) -> ServerResponder:
    client = Client(stub.url, parallel=parallel, key=key, seconds=seconds, pause=0.01)
    responder = ServerResponder(Endpoint(url=stub.url, model=MODEL, parallel=parallel), client, judges=judges)
    responder.begin("scenario-zero_shot@m", {})
    return responder


def ask(responder: ServerResponder, *requests: Request) -> list[Response]:
    tickets = responder.submit_all(requests)
    got: dict[int, Response] = {}
    while len(got) < len(tickets):
        got |= responder.step()
    assert responder.step() == {}
    return [got[ticket] for ticket in tickets]


def test_answers_come_under_the_tickets_of_their_requests(stub: Stub) -> None:
    stub.reply = lambda body: answer(body["messages"][-1]["content"].upper())
    texts = [f"text {index}" for index in range(200)]
    got = ask(opened(stub, parallel=16), *map(request, texts))
    assert [response.text for response in got] == [text.upper() for text in texts]
    assert (got[0].usage.prompt_tokens, got[0].usage.decoded_tokens) == (7, 2)


def test_as_many_requests_are_at_once_as_parallel_says(stub: Stub) -> None:
    stub.reply = lambda _: time.sleep(0.02) or answer("x")  # type: ignore[func-returns-value]
    ask(opened(stub, parallel=8), *map(request, "abcdefghijklmnopqrstuvwxyz"))
    assert 2 <= stub.most <= 8


def test_two_thousand_requests_survive_a_crowded_server(stub: Stub) -> None:
    stub.reply = lambda body: answer(body["messages"][-1]["content"])
    stub.faults.extend([Fault(status=429, headers={"Retry-After": "0"}, body=""), None, None] * 200)
    texts = list(map(str, range(2000)))
    responder = opened(stub, parallel=64, seconds=120)
    assert [response.text for response in ask(responder, *map(request, texts))] == texts
    assert responder.provenance().warnings[0].startswith("200 requests had to be sent again: HTTP status 429")


def test_retry_after_may_be_a_date(stub: Stub) -> None:
    responder = opened(stub)
    later = formatdate(time.time() + 3, usegmt=True)
    stub.faults.append(Fault(status=503, headers={"Retry-After": later}, body=""))
    started = time.monotonic()
    ask(responder, request())
    assert time.monotonic() - started > 1


@pytest.mark.parametrize(
    "fault",
    [
        *(Fault(status=status, body={"error": {"message": "busy"}}) for status in (408, 409, 425, 429, 500, 503, 529)),
        Fault(status=429, headers={"Retry-After": "0"}, body=""),
        Fault(hangs_up=True),
        Fault(body=answer("Major"), cut=True),
        Fault(body={"error": {"code": 502, "message": "upstream"}}),
        Fault(body="<html>one moment</html>"),
        Fault(body=answer("half of it", choice={"finish_reason": "error"}, usage={"completion_tokens": None})),
        Fault(body=answer("", choice={"error": {"code": 429, "message": "upstream is busy"}})),
    ],
    ids=str,
)
def test_a_fault_that_passes_is_asked_again_and_said(stub: Stub, fault: Fault) -> None:
    responder = opened(stub)
    stub.faults.extend([fault, fault])
    (response,) = ask(responder, request())
    assert response.text == "Major"
    (warning,) = responder.provenance().warnings
    assert warning.startswith("2 requests had to be sent again: ")


def test_retry_after_is_waited_for(stub: Stub) -> None:
    responder = opened(stub)
    stub.faults.append(Fault(status=429, headers={"Retry-After": "1"}, body=""))
    started = time.monotonic()
    ask(responder, request())
    assert time.monotonic() - started >= 1


def test_a_wait_past_the_limit_of_a_request_is_an_error_at_once(stub: Stub) -> None:
    responder = opened(stub)
    stub.faults.append(Fault(status=429, headers={"Retry-After": "3600"}, body={"error": {"message": "quota"}}))
    started = time.monotonic()
    with pytest.raises(EngineError, match=r"429: quota; the next try would be 3600 s later, past the limit of 20 s"):
        ask(responder, request())
    assert time.monotonic() - started < 10


def test_a_fault_that_stays_is_an_error_with_the_number_of_tries(stub: Stub) -> None:
    responder = opened(stub)
    stub.faults.extend([Fault(status=500, body={"error": "out of memory"})] * TRIES)
    with pytest.raises(EngineError, match=rf"HTTP status 500: out of memory \({TRIES} tries\)"):
        ask(responder, request())
    assert len(stub.asked) == TRIES


@pytest.mark.parametrize("status", [400, 401, 403, 404, 501])
def test_a_refusal_is_not_asked_again(stub: Stub, status: int) -> None:
    responder = opened(stub)
    stub.faults.append(Fault(status=status, body={"detail": "no"}))
    with pytest.raises(EngineError, match=rf"HTTP status {status}: no"):
        ask(responder, request())
    assert len(stub.asked) == 1


@pytest.mark.parametrize("slow", [Fault(late=3, body=answer("x")), Fault(drip=0.2, body=answer("x"))], ids=str)
def test_a_request_has_a_limit_of_time(stub: Stub, slow: Fault) -> None:
    responder = opened(stub, seconds=1.0)
    stub.faults.append(slow)
    started = time.monotonic()
    with pytest.raises(EngineError, match="no whole answer within 1 s"):
        ask(responder, request())
    assert time.monotonic() - started < 2.9


def test_a_fault_loses_no_answer_that_was_on_its_way(stub: Stub) -> None:
    responder = opened(stub, parallel=3)
    together = threading.Barrier(3)

    def reply(body: dict[str, Any]) -> Any:
        together.wait(5)
        time.sleep(0.3 * (body["messages"][0]["content"] != "bad"))
        return answer("fine") if body["messages"][0]["content"] != "bad" else {"choices": []}

    stub.reply = reply
    tickets = responder.submit_all([request(text) for text in ("good", "bad", "good", "never sent", "never sent")])
    got = responder.step()
    while len(got) < 2:
        got |= responder.step()
    with pytest.raises(EngineError, match=r"expected a message in choices\[0\]"):
        responder.step()
    assert {tickets.index(ticket): response.text for ticket, response in got.items()} == {0: "fine", 2: "fine"}
    assert len(stub.asked) == 3


def test_a_key_is_sent_and_shown_nowhere(stub: Stub) -> None:
    responder = opened(stub, key=KEY)
    stub.faults.append(Fault(status=401, body={"error": {"message": f"Incorrect API key provided: {KEY}"}}))
    with pytest.raises(EngineError, match=r"Incorrect API key provided: \.\.\.") as caught:
        ask(responder, request())
    assert all(headers["Authorization"] == f"Bearer {KEY}" for headers in stub.headers)
    frames = traceback.TracebackException.from_exception(caught.value, capture_locals=True).stack
    ours = [frame.locals for frame in frames if "/pytest_puma/servers/" in frame.filename]
    assert len(ours) > 2
    assert KEY not in f"{ours} {vars(responder)} {responder.provenance()}"


def test_a_redirect_is_not_followed(stub: Stub) -> None:
    with serving(Stub()) as elsewhere:
        responder = opened(stub, key=KEY)
        place = f"{elsewhere.url}/chat/completions"
        stub.faults.append(Fault(status=307, headers={"Location": place}, body=""))
        with pytest.raises(EngineError, match=rf"HTTP status 307: it points to {place}, which is not followed"):
            ask(responder, request())
        assert not elsewhere.headers


def test_a_prompt_that_is_too_long_is_an_overflow(stub: Stub) -> None:
    messages = (
        "the request exceeds the available context size, try increasing it",
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    )
    responder = opened(stub)
    for message in messages:
        stub.faults.append(Fault(status=400, body={"error": {"message": message}}))
        assert ask(responder, request())[0].finish == "overflow"


def test_a_server_without_the_model_names_those_that_it_has(stub: Stub) -> None:
    stub.pages["/v1/models"] = {"data": [{"id": "tine"}, {"id": "large"}]}
    with pytest.raises(EngineError, match=r"has no model 'tiny'; did you mean 'tine'.*it has: tine, large"):
        opened(stub)


def test_a_server_without_a_list_of_models_is_asked(stub: Stub) -> None:
    del stub.pages["/v1/models"]
    assert ask(opened(stub), request())[0].text == "Major"


def test_a_server_that_cannot_be_reached_is_an_error_at_once() -> None:
    with serving(Stub()) as gone:
        pass
    with pytest.raises(EngineError, match="Connection refused"):
        opened(gone)


def test_what_a_server_cannot_do_is_not_run(stub: Stub) -> None:
    responder = opened(stub)
    assert responder.capabilities == {"generate", "seed"}
    for refused in (
        Score(prompt=request().prompt, continuations=("a",)),
        request(prefill="It is"),
        request(chat=False),
        request(top_k=3),
    ):
        with pytest.raises(NotRunError):
            responder.submit_all([refused])
    assert not stub.asked


def test_missing_usage_is_not_measured(stub: Stub) -> None:
    stub.reply = lambda _: answer("x", usage=None)
    responder = opened(stub)
    ask(responder, request())
    assert set(responder.provenance().unmeasured) == {"tokens"}


def test_several_versions_behind_one_name_are_said(stub: Stub) -> None:
    prints = iter(["fp_1", "fp_2"])
    stub.reply = lambda _: answer("x", system_fingerprint=next(prints))
    responder = opened(stub)
    ask(responder, request(), request("again"))
    (warning,) = responder.provenance().warnings
    assert warning in {f"several models or versions answered: tiny fp_{a}, tiny fp_{b}" for a, b in ((1, 2), (2, 1))}
