"""Dialogues as the product holds them, with the replies that the model is to learn.

The prompts come from the shipped templates through the product's own `Task`; so what is trained is what is asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from pytest_puma.core import Message, Sample, Scenario
from pytest_puma.prompts import Template, find_template
from pytest_puma.scenarios import BUILTIN
from pytest_puma.scenarios.triage_jira import PRIORITIES
from pytest_puma.strategies import Task, parse_strategy
from tools.training.phrases import Phrases
from tools.training.texts import Text, Writer

#: How often each number of story points is written about: rare ones oftener than teams meet them.
POINTS = {"1": 17, "2": 22, "3": 24, "5": 20, "8": 11, "13": 4, "21": 2, "34": 1}
#: How often each scenario and each strategy comes up.
SCENARIOS = {"triage_jira": 38, "prioritization_jira": 37, "estimation_tawos": 25}
STRATEGIES = {
    "zero_shot": 10,
    "one_shot": 3,
    "few_shot_3": 5,
    "few_shot_5": 3,
    "few_shot_8": 3,
    "rcoif": 3,
    "contextual_anchoring": 4,
    "zero_shot_cot": 7,
    "cot_few_shot": 6,
    "egi": 5,
}
WITHOUT_SYSTEM = 0.15
#: The odds of each distance from the right priority, of the right issue by how far the two lie apart, and of each
#: distance on the scale of points. A reader of real texts is no surer; see "Calibration" in README.md.
PRIORITY_ODDS = (0.64, 0.16, 0.04, 0.01)
PAIR_ODDS = (0.5, 0.80, 0.92, 0.97)
POINTS_ODDS = (0.50, 0.20, 0.05, 0.01)
_SIZES = {"1": "one", "2": "one", "3": "some", "5": "some", "8": "many", "13": "many", "21": "most", "34": "most"}
#: What a text can be worth, of all scenarios.
LABELS = (*PRIORITIES, *POINTS)
_FIELDS = ("title", "description")
#: An example's answer as the shipped templates print it.
_EXAMPLE = re.compile(r"^(?:Priority|Story points|Higher priority|Answer): (\w+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of a dialogue: given, or to be learned; an answer comes with the odds of every label.

    `about` is the label of the issue or item whose text this is.
    """

    text: str
    learned: bool = False
    odds: Mapping[str, float] | None = None
    about: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question with its answer, of any scenario: the fields of a sample, and what may be said about it.

    `about` has the label of each field's text; of a pair, each issue has its own.
    `reason` stands in examples, as rationales do. `thought` and `notes` are what the model is to say: phrases that
    fit every text with this answer, because a small model that makes up its own loses the thread.
    """

    fields: Mapping[str, str]
    about: Mapping[str, str]
    gold: str
    odds: Mapping[str, float]
    reason: str
    thought: str
    notes: str


class Dialogues:
    """An endless supply of dialogues, the same for the same seed."""

    def __init__(self, phrases: Phrases, seed: int) -> None:
        self._common = phrases.common
        self._random = Random(seed)  # noqa: S311 - no secret
        self._writer = Writer(phrases, self._random)

    def next(self) -> tuple[Piece, ...]:
        """One more, of a scenario and strategy drawn by their weights."""
        return self.of(self._drawn(SCENARIOS), self._drawn(STRATEGIES))

    def of(self, scenario: str, strategy: str) -> tuple[Piece, ...]:
        """One of this scenario and strategy."""
        case = self._case(scenario)
        examples = [self._case(scenario, brief=True) for _ in range(parse_strategy(strategy).shots)]
        task = _task(scenario, strategy, case, examples)
        prompt = task.prompt().messages
        if self._random.random() < WITHOUT_SYSTEM:
            prompt = prompt[-1:]
        pieces = [piece for message in prompt for piece in _given(message, [*examples, case])]
        if strategy == "egi":
            pieces += _reply(Piece(text=case.notes, learned=True))
            decide = task.prompt("decide", history=(Message(role="assistant", content=case.notes),))
            return (*pieces, *_given(decide.messages[-1], ()), *_reply(*_decided(case)))
        if strategy in ("zero_shot_cot", "cot_few_shot"):
            return (*pieces, *_reply(Piece(text=f"{case.thought}\n", learned=True), *_decided(case)))
        # The odds are those of the question whatever is written: so every label is learned to its end, "21" and "13".
        written = self._random.choice(list(case.odds))
        return (*pieces, *_reply(Piece(text=written, learned=True, odds=case.odds)))

    # -- cases -----------------------------------------------------------------------------------

    def _case(self, scenario: str, *, brief: bool = False) -> Case:
        make = {"triage_jira": self._issue, "prioritization_jira": self._pair, "estimation_tawos": self._item}
        return make[scenario](brief=brief)

    def _issue(self, *, brief: bool) -> Case:
        label, said = self._random.choice(PRIORITIES), self._common["notes"]
        text = self._writer.issue(label, brief=brief)
        return self._said([text], label, spread(label), said["questions"], [said[label]])

    def _item(self, *, brief: bool) -> Case:
        points, said = self._drawn(POINTS), self._common["sizes"]
        text = self._writer.item(points, brief=brief)
        return self._said([text], points, spread(points), said["questions"], [said[_SIZES[points]]])

    def _pair(self, *, brief: bool) -> Case:
        labels, said = self._random.sample(PRIORITIES, 2), self._common["notes"]
        texts = [self._writer.issue(label, brief=brief) for label in labels]
        ranks = [PRIORITIES.index(label) for label in labels]
        gold, other = ("A", "B") if ranks[0] < ranks[1] else ("B", "A")
        sure = PAIR_ODDS[abs(ranks[0] - ranks[1])]
        return self._said(
            texts, gold, {gold: sure, other: 1 - sure}, said["questions"], [said[label] for label in labels]
        )

    def _said(
        self,
        texts: Sequence[Text],
        gold: str,
        odds: Mapping[str, float],
        questions: Mapping[str, Sequence[str]],
        answers: Sequence[Mapping[str, Sequence[str]]],
    ) -> Case:
        """The case of one text or of two, with thoughts and notes on each."""
        sided = list(zip(("",) if len(texts) == 1 else ("_a", "_b"), texts, strict=True))
        return Case(
            fields={f"{name}{side}": getattr(text, name) for side, text in sided for name in _FIELDS},
            about={f"{name}{side}": text.gold for side, text in sided for name in _FIELDS},
            gold=gold,
            odds=odds,
            reason=_of_each([text.reason for text in texts]),
            thought=_of_each([self._random.choice(each["thoughts"]) for each in answers]),
            notes=self._notes_of(questions, answers),
        )

    def _notes_of(self, questions: Mapping[str, Sequence[str]], answers: Sequence[Mapping[str, Sequence[str]]]) -> str:
        """Two or three questions, each with its answer, or with one for each of two issues."""
        names = self._random.sample(list(questions), self._random.choice((2, 3)))
        lines = []
        for number, name in enumerate(names, start=1):
            said = [self._random.choice(each[name]) for each in answers]
            answer = said[0] if len(said) == 1 else f"A: {said[0]} B: {said[1]}"
            lines.append(f"{number}. {self._random.choice(questions[name])} {answer}")
        return "\n".join(lines)

    def _drawn(self, weights: Mapping[str, int]) -> str:
        return self._random.choices(list(weights), list(weights.values()))[0]


def spread(label: str) -> dict[str, float]:
    """The odds of every label of its kind where this one is right: they fall with the distance, and add up to 1."""
    labels, odds = (PRIORITIES, PRIORITY_ODDS) if label in PRIORITIES else (tuple(POINTS), POINTS_ODDS)
    at = labels.index(label)
    shares = {each: odds[min(abs(place - at), len(odds) - 1)] for place, each in enumerate(labels)}
    return {each: share / sum(shares.values()) for each, share in shares.items()}


def _of_each(said: Sequence[str]) -> str:
    return said[0] if len(said) == 1 else f"Issue A: {said[0]} Issue B: {said[1]}"


def _task(scenario: str, strategy: str, case: Case, examples: Sequence[Case]) -> Task:
    return Task(
        scenario=_scenario(scenario),
        sample=Sample(id="made-up", fields=case.fields, gold=case.gold, units=("made-up",)),
        template=_template(scenario, strategy),
        examples=[{**each.fields, "gold_label": each.gold, "rationale": each.reason} for each in examples],
    )


@cache
def _scenario(name: str) -> Scenario:
    return BUILTIN[name]()


@cache
def _template(scenario: str, strategy: str) -> Template:
    return find_template(scenario, parse_strategy(strategy).templates, project=None)


def _decided(case: Case) -> tuple[Piece, Piece]:
    """Behind its own words the model may be sure."""
    return Piece(text="Answer: ", learned=True), Piece(text=case.gold, learned=True, odds={case.gold: 1.0})


def _reply(*pieces: Piece) -> tuple[Piece, ...]:
    end = Piece(text="<|im_end|>", learned=True)
    return (Piece(text="<|im_start|>assistant\n"), *pieces, end, Piece(text="\n"))


def _given(message: Message, cases: Sequence[Case]) -> list[Piece]:
    """A message that asks about the last of these cases, or about none.

    The answers of the examples before it are learned too, for each is a whole question answered.
    """
    said, position, pieces = message.content, 0, [Piece(text=f"<|im_start|>{message.role}\n")]
    for case in cases:
        for name, about in case.about.items():
            text = case.fields[name]
            start = said.find(text, position)
            if text and start >= 0:
                pieces += [Piece(text=said[position:start]), Piece(text=text, about=about)]
                position = start + len(text)
        if case is not cases[-1] and (found := _EXAMPLE.search(said, position)):
            pieces.append(Piece(text=said[position : found.start(1)]))
            pieces.append(Piece(text=case.gold, learned=True, odds=case.odds))
            position = found.end(1)
    return [*pieces, Piece(text=f"{said[position:]}<|im_end|>\n")]
