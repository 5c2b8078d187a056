"""The conversations of the built-in strategies: answers alone, replies that reason first, and scored answers.

Of a reply that reasons, only the final answer is parsed, which is on the last `Answer:` line: a number or label in the
reasoning is not taken for it. Where given answers are scored no text is generated, so there are no parse failures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from pytest_puma.core import (
    Answer,
    Conversation,
    DataError,
    Message,
    Prompt,
    Response,
    Score,
    SettingsError,
    ask,
    ask_all,
)
from pytest_puma.core.backend import CLOSE, OPEN, split_thoughts
from pytest_puma.replies.answers import strip_reasoning
from pytest_puma.replies.letters import LETTERS
from pytest_puma.strategies.dialogue import next_turn
from pytest_puma.strategies.failure import failure_of
from pytest_puma.strategies.task import Task
from pytest_puma.strategies.valid_answers import constrained_request, read_exactly

#: The second turn of `egi`.
DECIDE = "decide"
#: The block of a template from which `guided` leads away.
AGAINST = "against"
#: Behind it stands the answer of a reply that reasons first.
_ANSWER = "Answer:"


def direct(task: Task) -> Conversation:
    """Ask once for each turn and parse the last reply; the scenario may decide the next turn by what was said.

    If a metric needs it, the ground truths are scored after the same prompt, too.
    """
    prompt = task.prompt()
    response, *scored = yield from ask_all([task.generate(prompt), *_of_truths(task, prompt)])
    responses = [response]
    said = [strip_reasoning(response.text)]
    while response.finish != "overflow" and (text := next_turn(task, said)) is not None:
        prompt = _followed(prompt, said[-1], f"{text}{task.prompt_suffix}")
        response = yield from ask(task.generate(prompt, index=len(said)))
        responses.append(response)
        said.append(strip_reasoning(response.text))
    likelihoods = scored[0].likelihoods if scored else ()
    return Answer(value=task.read(response), responses=tuple(responses), likelihoods=likelihoods)


def constrained(task: Task) -> Conversation:
    """Ask once for a text under a grammar of the valid answers; otherwise as `direct`."""
    prompt = task.prompt()
    response, *scored = yield from ask_all([constrained_request(task, prompt), *_of_truths(task, prompt)])
    likelihoods = scored[0].likelihoods if scored else ()
    return Answer(value=read_exactly(task, response), responses=(response,), likelihoods=likelihoods)


def _of_truths(task: Task, prompt: Prompt) -> list[Score]:
    """The request for the likelihoods of the ground truths, if a metric needs it."""
    if "likelihoods" not in task.needs or task.scenario.kind.form != "texts" or not task.sample.gold:
        return []
    return [task.score(prompt, task.sample.references, ends=False)]


def _followed(prompt: Prompt, reply: str, text: str) -> Prompt:
    """The prompt of the next turn, after the reply to this one."""
    turns = (Message(role="assistant", content=f"{prompt.prefill}{reply}"), Message(role="user", content=text))
    return replace(prompt, messages=(*prompt.messages, *turns), prefill="")


def chain_of_thought(task: Task) -> Conversation:
    """Ask once for a short reasoning that ends in an `Answer:` line."""
    response = yield from ask(task.generate(task.prompt()))
    return Answer(value=task.read_final(response), responses=(response,))


def budget(task: Task, *, tokens: int) -> Conversation:
    """Let the model reason for at most this number of tokens, end its reasoning by force, and ask for the answer.

    The answer continues the reasoning behind `Answer:`. A model that thinks before its reply does so within the same
    number, and its thoughts are closed with its own marks. Without tokens it answers at once.
    Muennighoff et al., "s1: Simple test-time scaling", 2025 (budget forcing).
    """
    prompt, reasoning = task.prompt(), list[Response]()
    # A grammar in place of the settings' own gives the line itself.
    cue = "" if task.bound else _ANSWER
    begun = prompt.prefill
    if tokens:
        question = replace(prompt, stop=(*prompt.stop, _ANSWER))
        reasoning.append((yield from ask(replace(task.generate(question), max_tokens=tokens, grammar=None))))
        if reasoning[0].finish == "overflow":
            return Answer(value=None, responses=tuple(reasoning))
        begun = _closed(f"{begun}{reasoning[0].text}")
    begun = f"{begun}\n{cue}" if begun else cue
    response = yield from ask(task.generate(replace(prompt, prefill=begun), index=1))
    line = replace(response, text=f"{cue}{response.text}") if response.text.strip() else response
    value, failure = task.read_final(line), ""
    if value is None:
        found = failure_of(task, Answer(value=None, responses=(line,)), (line,), final_line=True)
        value, failure = (found.parsed, found.cause) if found else (None, "")
    return Answer(value=value, responses=(*reasoning, response), failure=failure)


def _closed(reply: str) -> str:
    """A reply so far without white space at its end, and with its thoughts closed; empty if there is nothing in it."""
    thoughts, said = split_thoughts(reply)
    begun = f"{OPEN}{thoughts}{CLOSE}" if thoughts else ""
    return f"{begun}{said}".rstrip()


def self_consistency(task: Task, *, answers: int) -> Conversation:
    """Sample this number of chains of thought at once; the most frequent final answer wins. Parse failures do not vote.

    Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models", ICLR 2023.
    """
    prompt = task.prompt()
    responses = yield from ask_all(task.generate(prompt, index=index) for index in range(answers))
    values = (task.read_final(response) for response in responses)
    votes = [vote for vote in values if vote is not None]
    if not votes:
        return Answer(value=None, responses=responses)
    value, shares = task.scenario.kind.vote(votes, task.labels, task.derived_seed("tie"))
    return Answer(value=value, responses=responses, probabilities=shares)


def best_of(task: Task, *, answers: int) -> Conversation:
    """Sample this number of replies at once; that of the highest mean log-probability per token gives the answer.

    Its end is a token, too. The mean keeps a short reply from winning because it has fewer tokens. With the sum in its
    place, this is "sample-and-rank": Adiwardana et al., "Towards a Human-like Open-Domain Chatbot", 2020.
    """
    prompt = task.prompt()
    requests = (replace(task.generate(prompt, index=index), logprobs=True) for index in range(answers))
    responses = yield from ask_all(requests)
    if any(response.text and not response.logprobs for response in responses):
        msg = (
            f"{task.scenario.name}, sample {task.sample.id!r}: best_of compares replies by the log-probabilities of "
            "their tokens, and there are texts alone; expected replies of a model, or another strategy"
        )
        raise DataError(msg)
    best = max(responses, key=lambda response: fmean(response.logprobs or (-math.inf,)))
    return Answer(value=task.read(best), responses=(best,))


def guided(task: Task, *, percent: int) -> Conversation:
    """Ask once, and lead the reply away from that to the block `against`: the question without what it is about.

    `percent` / 100 is the weight. Shi et al., "Trusting Your Evidence: Hallucinate Less with Context-aware Decoding",
    2023.
    """
    request = replace(task.generate(task.prompt()), against=task.prompt(AGAINST), weight=percent / 100)
    response = yield from ask(request)
    return Answer(value=task.read(response), responses=(response,))


def egi(task: Task) -> Conversation:
    """Ask what is unclear in the text and for a clarification from it, then, with that reply, for the decision."""
    question = task.prompt()
    # A grammar describes the answer, which this turn does not give.
    notes = yield from ask(replace(task.generate(question), grammar=None, thinks=True))
    if notes.finish == "overflow":
        return Answer(value=None, responses=(notes,))
    reply = Message(role="assistant", content=strip_reasoning(notes.text))
    decision = yield from ask(task.generate(task.prompt(DECIDE, (*question.messages, reply)), index=1))
    return Answer(value=task.read_final(decision), responses=(notes, decision))


def option_scoring(task: Task) -> Conversation:
    """Answer with the label or choice of the smallest expected loss, by the log-probability of every valid answer.

    Labels are scored as whole replies, because one may begin another: 1 and 13. Of choices, the letters are scored,
    which cannot, so that no end of the turn is scored: a reply may go on after its letter.
    """
    labels, lettered = task.labels, bool(task.choices)
    if not labels:
        msg = (
            f"{task.scenario.name}: valid_labels() is [], and option_scoring compares its values; return them, or name "
            "other strategies"
        )
        raise SettingsError(msg)
    options = LETTERS[: len(labels)] if lettered else labels
    response = yield from ask(task.score(task.prompt(), options, ends=not lettered))
    if response.finish == "overflow":
        return Answer(value=None, responses=(response,))
    probabilities = dict(zip(labels, softmax(response.logprobs), strict=True))
    return Answer(value=task.scenario.kind.choose(probabilities), responses=(response,), probabilities=probabilities)


def cloze_scoring(task: Task) -> Conversation:
    """Answer with the choice whose text is the most probable, or after which its ending is.

    The prompt shows no choices; that of `text_scoring`, which also asks so, does.

    The end of the turn is not scored: longer texts with the same beginning are other answers, not other endings. If a
    metric needs it, the texts are scored without the question, too: a prompt that all samples share.

    If the choices stand inside a sentence, the text behind them is scored after each choice (partial evaluation): "The
    trophy did not fit into the suitcase because the ... was too large". The choices themselves differ in frequency.
    Source: T. Trinh, Q. Le, "A simple method for commonsense reasoning", 2018.
    """
    scenario, prompt = task.scenario, task.prompt()
    texts = [choice.text for choice in task.sample.choices]
    scored, alone = [task.score(prompt, texts, ends=False)], list[Score]()
    if ending := scenario.ending(dict(task.sample.fields)):
        beginnings = (scenario.delimiter.join(filter(None, (prompt.prefill, text))) for text in texts)
        scored = [task.score(replace(prompt, prefill=beginning), [ending], ends=False) for beginning in beginnings]
    elif "unconditional" in task.needs and scenario.unconditional is not None:
        # Only the cue of the reply.
        question = (Message(role="user", content="?"),) if task.chat else ()
        cue = Prompt(messages=question, prefill=scenario.unconditional, chat=task.chat)
        alone = [task.score(cue, texts, ends=False)]
    responses = yield from ask_all([*scored, *alone])
    if any(response.finish == "overflow" for response in responses):
        return Answer(value=None, responses=responses[:1], failure="overflow")
    answers = responses[: len(scored)]
    logprobs = [logprob for response in answers for logprob in response.logprobs]
    probabilities = dict(zip(texts, softmax(logprobs), strict=True))
    return Answer(
        value=scenario.kind.choose(probabilities),
        responses=answers,
        probabilities=probabilities,
        likelihoods=tuple(likelihood for response in answers for likelihood in response.likelihoods),
        unconditional=tuple(likelihood for response in responses[len(scored) :] for likelihood in response.likelihoods),
    )


def softmax(logprobs: Sequence[float]) -> list[float]:
    """Return probabilities that add up to 1, from logarithms of any size."""
    largest = max(logprobs)
    weights = [math.exp(value - largest) for value in logprobs]
    total = sum(weights)
    return [weight / total for weight in weights]
