"""The answer alone, in one reply: zero-shot, few-shot, rcoif, contextual anchoring. A dialogue has one a turn."""

from __future__ import annotations

from dataclasses import replace

from pytest_puma.core import Answer, Conversation, Message, Prompt, Request, ask, ask_all
from pytest_puma.replies.answers import strip_reasoning
from pytest_puma.strategies.task import Task

MAX_TOKENS = 16


def direct(task: Task) -> Conversation:
    """Ask once for each turn and parse the last reply.

    If a metric needs it, the ground truths are scored after the same prompt, too.
    """
    prompt = task.prompt()
    requests: list[Request] = [task.generate(prompt)]
    if "likelihoods" in task.needs and task.scenario.kind.form == "texts" and task.sample.gold:
        requests.append(task.score(prompt, task.sample.references, ends=False))
    response, *scored = yield from ask_all(requests)
    responses = [response]
    for index, text in enumerate(task.following_turns(), start=1):
        if response.finish == "overflow":
            break
        prompt = _followed(prompt, strip_reasoning(response.text), text)
        response = yield from ask(task.generate(prompt, index=index))
        responses.append(response)
    likelihoods = scored[0].likelihoods if scored else ()
    return Answer(value=task.read(response), responses=tuple(responses), likelihoods=likelihoods)


def _followed(prompt: Prompt, reply: str, text: str) -> Prompt:
    """The prompt of the next turn, after the reply to this one."""
    turns = (Message(role="assistant", content=f"{prompt.prefill}{reply}"), Message(role="user", content=text))
    return replace(prompt, messages=(*prompt.messages, *turns), prefill="")
