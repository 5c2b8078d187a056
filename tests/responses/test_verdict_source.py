"""A file of verdicts as a judge: which verdict a reply gets, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError, Generate, Message, Model, Origin, Prompt, Request, Response, Score
from pytest_puma.core.sample import Trial
from pytest_puma.responses.reading import ReadingResponder
from pytest_puma.responses.verdict_source import VerdictSource
from tests.factories import sample

PROMPT = Prompt(messages=(Message(role="user", content="Is it polite?"),))
REASONS = Generate(prompt=PROMPT, max_tokens=9)
VERDICT = Score(prompt=PROMPT, continuations=("yes", "no"))
LINE: dict[str, Any] = {"metric": "judge.polite", "id": "7", "reply": "Wait.", "verdict": "no"}


def judge(folder: Path, *lines: Any, text: str = "", **fields: Any) -> ReadingResponder:
    path = folder / "verdicts.jsonl"
    path.write_text(text or "".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    responder = ReadingResponder(VerdictSource(Model(name="gpt4", path=path, source="answers", **fields)))
    responder.begin("letters-zero_shot@m", {})
    return responder


def ask(responder: ReadingResponder, *requests: Request, **about: Any) -> list[Response]:
    """Ask about one reply."""
    asked = {"metric": "judge.polite", "reply": "Wait.", **about}
    origin = Origin("letters-zero_shot@m", sample(asked.pop("id", "7")), Trial(index=asked.pop("trial", 0)), **asked)
    tickets = responder.submit_all(requests, [origin.at(index) for index in range(len(requests))])
    responses = responder.step()
    return [responses[ticket] for ticket in tickets]


@pytest.mark.parametrize(
    ("line", "logprobs"),
    [
        ({"verdict": "no"}, (-math.inf, 0.0)),
        ({"verdict": " Yes"}, (0.0, -math.inf)),
        ({"verdict": ["yes"]}, (0.0, -math.inf)),
        ({"verdict": None}, ()),
        ({"logprobs": {"yes": -0.2, "no": -1.7}}, (-0.2, -1.7)),
        ({"logprobs": [{"no": -0.5}]}, (-math.inf, -0.5)),
    ],
)
def test_a_verdict_is_a_word_or_has_probabilities(tmp_path: Path, line: Any, logprobs: tuple[float, ...]) -> None:
    given = {name: LINE[name] for name in ("metric", "id", "reply")} | line
    reasons, verdict = ask(judge(tmp_path, given | {"text": "It orders."}), REASONS, VERDICT)
    assert (reasons.text, verdict.logprobs) == ("It orders.", logprobs)


def test_questions_and_orders_have_a_list_and_every_trial_its_own_turn(tmp_path: Path) -> None:
    responder = judge(tmp_path, LINE | {"verdict": ["yes", "no"]})
    for trial in (0, 1):
        responses = ask(responder, REASONS, VERDICT, VERDICT, trial=trial)
        assert [response.logprobs for response in responses] == [(), (0.0, -math.inf), (-math.inf, 0.0)]
    with pytest.raises(DataError, match=r"line 1 has 2 of the verdicts that judge.polite asks for; expected a list wi"):
        ask(responder, VERDICT)


def test_agreement_takes_the_verdict_of_its_metric(tmp_path: Path) -> None:
    (verdict,) = ask(judge(tmp_path, LINE), VERDICT, metric="judge.polite.agreement")
    assert verdict.logprobs == (-math.inf, 0.0)


@pytest.mark.parametrize(
    ("about", "hint"),
    [({"reply": "Go."}, "; line 1 is about another reply"), ({"id": "8"}, ""), ({"metric": "judge.calm"}, "")],
)
def test_a_verdict_never_counts_for_another_reply(tmp_path: Path, about: dict[str, str], hint: str) -> None:
    asked = {"metric": "judge.polite", "id": "7", "reply": "Wait."} | about
    problem = f"no verdict of {asked['metric']} about the reply '{asked['reply']}' to sample '{asked['id']}'{hint}; exp"
    with pytest.raises(DataError) as error:
        ask(judge(tmp_path, LINE), VERDICT, **about)
    assert str(error.value).startswith(f"recorded:gpt4=verdicts.jsonl: {problem}")


def test_a_verdict_of_another_word_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"verdicts.jsonl: line 1 has the verdict 'maybe'; expected one of yes, no"):
        ask(judge(tmp_path, LINE | {"verdict": "maybe"}), VERDICT)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([LINE, LINE], "line 2: has the same metric, id, reply as line 1; expected one line for each"),
        (
            [{**LINE, "label": 1}],
            "line 1: has the unknown key 'label'; there are: metric, id, reply, verdict, logprobs",
        ),
        ([{"metric": "judge.polite", "id": "7", "verdict": "no"}], "line 1: has no reply; expected a text, as in {"),
        ([{**LINE, "id": 7}], "line 1: has id 7; expected a text, as in {"),
        ([{**LINE, "text": None}], "line 1: has text None; expected a text"),
        ([{**LINE, "logprobs": {"yes": -1.0}}], "line 1: has both verdict and logprobs; expected one of them"),
        ([{name: LINE[name] for name in ("metric", "id", "reply")}], "line 1: has no verdict and logprobs; expected"),
        ([{**LINE, "verdict": 4}], "line 1: has the verdict 4; expected a text, null, or a list of them"),
        ([{**LINE, "verdict": []}], "line 1: has the verdict []; expected a text, null, or a list of them"),
        (
            [{"metric": "m", "id": "7", "reply": "", "logprobs": {"yes": 0.4}}],
            "line 1: logprobs of 'yes' is 0.4; expect",
        ),
        (["no"], "line 1: is 'no'; expected an object such as {"),
        ([], "has no verdicts; expected lines such as {"),
    ],
)
def test_an_unusable_line_is_named(tmp_path: Path, lines: list[Any], problem: str) -> None:
    with pytest.raises(DataError) as error:
        judge(tmp_path, *lines, text="" if lines else "\n")
    assert problem in str(error.value)


def test_keys_of_the_argument_are_those_of_answers(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"found text=; lines of a judge have the keys metric, id, reply, verdict"):
        judge(tmp_path, LINE, keys=(("text", "answer"),))
