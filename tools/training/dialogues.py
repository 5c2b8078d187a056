"""Dialogues in the form of the product, with the replies that the model learns.

The prompts come from the bundled templates through `Task`: training and evaluation have the same prompts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from random import Random

from pytest_puma.core import Message, Sample, Scenario
from pytest_puma.scenarios import BUILTIN
from pytest_puma.strategies import Task, parse_strategy
from pytest_puma.strategies.template import Template
from pytest_puma.strategies.templates import find_template
from tools.training.cases import Case, Cases, Piece, weighted_choice, written
from tools.training.phrases import Phrases

#: Weights of the scenarios and of the strategies.
SCENARIOS = {"triage_jira": 36, "prioritization_jira": 36, "estimation_tawos": 28}
STRATEGIES = {
    "zero_shot": 6,
    "one_shot": 3,
    "few_shot_3": 5,
    "few_shot_5": 3,
    "few_shot_8": 3,
    "rcoif": 5,
    "contextual_anchoring": 6,
    "zero_shot_cot": 7,
    "cot_few_shot": 6,
    "egi": 5,
}
WITHOUT_SYSTEM = 0.15
#: An example's answer as the shipped templates print it.
_EXAMPLE = re.compile(r"^(?:Priority|Story points|Higher priority|Answer): (\w+)$", re.MULTILINE)


class Dialogues:
    """An endless supply of dialogues, the same for the same seed."""

    def __init__(self, phrases: Phrases, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 - no secret
        self._cases = Cases(phrases, self._random)

    def next(self) -> tuple[Piece, ...]:
        """Return the next dialogue, of a random scenario and strategy by their weights."""
        return self.of(weighted_choice(self._random, SCENARIOS), weighted_choice(self._random, STRATEGIES))

    def of(self, scenario: str, strategy: str) -> tuple[Piece, ...]:
        """Return a dialogue of this scenario and strategy."""
        case = self._cases.of(scenario)
        examples = [self._cases.of(scenario, brief=True) for _ in range(parse_strategy(strategy).shots)]
        task = _task(scenario, strategy, case, examples)
        prompt = task.prompt().messages
        if self._random.random() < WITHOUT_SYSTEM:
            prompt = prompt[-1:]
        pieces = [piece for message in prompt for piece in _given(message, [*examples, case])]
        if strategy == "egi":
            pieces += _reply(*case.notes)
            notes = Message(role="assistant", content=written(case.notes))
            decide = task.prompt("decide", history=(notes,))
            return (*pieces, *_given(decide.messages[-1], ()), *_reply(*_decided(case)))
        if strategy in ("zero_shot_cot", "cot_few_shot"):
            return (*pieces, *_reply(*case.thought, *_decided(case)))
        # The odds are always those of the question, so the model learns that a reply ends after any label.
        answer = self._random.choice(list(case.odds))
        return (*pieces, *_reply(Piece(text=answer, learned=True, odds=case.odds)))


def answered(scenario: Scenario, sample: Sample) -> tuple[Piece, ...]:
    """Return a sample's direct question with its right answer, in a place for any label."""
    task = Task(scenario=scenario, sample=sample, wording=_template(scenario.name, "zero_shot"))
    labels = scenario.valid_labels()
    answer = Piece(text=sample.gold, learned=True, odds=dict.fromkeys(labels, 1 / len(labels)))
    return (*(piece for message in task.prompt().messages for piece in _given(message, ())), *_reply(answer))


def _task(scenario: str, strategy: str, case: Case, examples: Sequence[Case]) -> Task:
    return Task(
        scenario=_scenario(scenario),
        sample=Sample(id="made-up", fields=case.fields, gold=case.gold, units=("made-up",)),
        wording=_template(scenario, strategy),
        examples=[{**each.fields, "gold_label": each.gold, "rationale": each.reason} for each in examples],
    )


@cache
def _scenario(name: str) -> Scenario:
    return BUILTIN[name]()


@cache
def _template(scenario: str, strategy: str) -> Template:
    return find_template(scenario, parse_strategy(strategy).templates, project=None)


def _decided(case: Case) -> tuple[Piece, Piece]:
    """The answer after the model's own words, certain unless these contain an error."""
    odds = case.odds if case.slips else {case.gold: 1.0}
    return Piece(text="Answer: ", learned=True), Piece(text=case.gold, learned=True, odds=odds)


def _reply(*pieces: Piece) -> tuple[Piece, ...]:
    end = Piece(text="<|im_end|>", learned=True)
    return (Piece(text="<|im_start|>assistant\n"), *pieces, end, Piece(text="\n"))


def _given(message: Message, cases: Sequence[Case]) -> list[Piece]:
    """A message with a question about the last of these cases, or about none.

    The answers of the examples before it are learned too, as each belongs to a whole question.
    """
    content, position, pieces = message.content, 0, [Piece(text=f"<|im_start|>{message.role}\n")]
    for case in cases:
        for name, about in case.about.items():
            text = case.fields[name]
            start = content.find(text, position)
            if text and start >= 0:
                pieces += [Piece(text=content[position:start]), Piece(text=text, about=about)]
                position = start + len(text)
        if case is not cases[-1] and (example := _EXAMPLE.search(content, position)):
            pieces.append(Piece(text=content[position : example.start(1)]))
            pieces.append(Piece(text=case.gold, learned=True, odds=case.odds))
            position = example.end(1)
    return [*pieces, Piece(text=f"{content[position:]}<|im_end|>\n")]
