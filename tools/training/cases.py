"""Cases: invented questions with their answers, and phrases about them.

A case has the label of each text, the odds of all labels for a reader, and phrases about the texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from pytest_puma.scenarios.jira import PRIORITIES
from tools.training.phrases import Phrases
from tools.training.texts import Text, Writer

#: Frequency of each number of story points: rare numbers occur more often than in real teams.
POINTS = {"1": 17, "2": 22, "3": 24, "5": 20, "8": 11, "13": 4, "21": 2, "34": 1}
#: Share of thoughts and notes with a neighbouring class of a text, as in the model's own: it learns to read the text
#: again if they are not decisive.
SLIPS = 0.2
#: The odds of each distance from the right priority, of the right issue by how far the two lie apart, and of each
#: distance on the scale of points. A reader of real texts is not more certain; see "Calibration" in README.md.
PRIORITY_ODDS = (0.64, 0.16, 0.04, 0.01)
PAIR_ODDS = (0.5, 0.80, 0.92, 0.97)
POINTS_ODDS = (0.50, 0.29, 0.11, 0.04, 0.01)
_SIZES = {"1": "one", "2": "one", "3": "some", "5": "some", "8": "many", "13": "many", "21": "most", "34": "most"}
#: The labels of a text, of all scenarios.
LABELS = (*PRIORITIES, *POINTS)
_FIELDS = ("title", "description")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A piece of a dialogue: given, or a target of training; an answer has the odds of every label.

    `about` is the label of the issue or item whose text this is.
    """

    text: str
    learned: bool = False
    odds: Mapping[str, float] | None = None
    about: str | None = None


_LINE = Piece(text="\n", learned=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question with its answer, of any scenario: the fields of a sample, and phrases about it.

    `about` has the label of each field's text; of a pair, each issue has its own.
    `reason` is the rationale in examples. `thought` and `notes` are text for the model to learn: phrases that fit every
    text with this answer, because a small model loses the thread in its own. If one of them slips, the model does not
    learn that phrase, but the right answer after it.
    """

    fields: Mapping[str, str]
    about: Mapping[str, str]
    gold: str
    odds: Mapping[str, float]
    reason: str
    thought: tuple[Piece, ...]
    notes: tuple[Piece, ...]
    slips: bool


class Cases:
    """An endless supply of cases."""

    def __init__(self, phrases: Phrases, random: Random) -> None:
        self._common = phrases.common
        self._random = random
        self._writer = Writer(phrases, random)

    def of(self, scenario: str, *, brief: bool = False) -> Case:
        """Return a case of this scenario; `brief` cases serve as examples."""
        make = {"triage_jira": self._issue, "prioritization_jira": self._pair, "estimation_tawos": self._item}
        return make[scenario](brief=brief)

    def _issue(self, *, brief: bool) -> Case:
        label = self._random.choice(PRIORITIES)
        text = self._writer.issue(label, brief=brief)
        return self._case([text], label, spread(label))

    def _item(self, *, brief: bool) -> Case:
        points = weighted_choice(self._random, POINTS)
        text = self._writer.item(points, brief=brief)
        return self._case([text], points, spread(points))

    def _pair(self, *, brief: bool) -> Case:
        labels = self._random.sample(PRIORITIES, 2)
        texts = [self._writer.issue(label, brief=brief) for label in labels]
        ranks = [PRIORITIES.index(label) for label in labels]
        gold, other = ("A", "B") if ranks[0] < ranks[1] else ("B", "A")
        sure = PAIR_ODDS[abs(ranks[0] - ranks[1])]
        return self._case(texts, gold, {gold: sure, other: 1 - sure})

    def _case(self, texts: Sequence[Text], gold: str, odds: Mapping[str, float]) -> Case:
        """The case of one text or of two, with thoughts and notes on each."""
        phrases = self._common["sizes" if texts[0].gold in POINTS else "notes"]
        classes = [_SIZES.get(text.gold, text.gold) for text in texts]
        classes_read = self._classes_read(classes, [name for name in phrases if name != "questions"])
        answers = [phrases[each] for each in classes_read]
        fits = [one == other for one, other in zip(classes_read, classes, strict=True)]
        leads = ("",) if len(texts) == 1 else ("Issue A: ", " Issue B: ")
        thoughts = [self._random.choice(each["thoughts"]) for each in answers]
        sided = list(zip(("",) if len(texts) == 1 else ("_a", "_b"), texts, strict=True))
        return Case(
            fields={f"{name}{side}": getattr(text, name) for side, text in sided for name in _FIELDS},
            about={f"{name}{side}": text.gold for side, text in sided for name in _FIELDS},
            gold=gold,
            odds=odds,
            reason="".join(lead + text.reason for lead, text in zip(leads, texts, strict=True)),
            thought=(*_spoken(leads, thoughts, fits), _LINE),
            notes=self._notes_of(phrases["questions"], answers, fits),
            slips=not all(fits),
        )

    def _classes_read(self, classes: Sequence[str], scale: Sequence[str]) -> list[str]:
        """The classes as an imperfect reader sees them: sometimes one of them is a neighbouring class."""
        classes_read = [*classes]
        if self._random.random() < SLIPS:
            at = self._random.randrange(len(classes_read))
            place = scale.index(classes_read[at])
            classes_read[at] = self._random.choice([*scale[max(place - 1, 0) : place], *scale[place + 1 : place + 2]])
        return classes_read

    def _notes_of(
        self,
        questions: Mapping[str, Sequence[str]],
        answers: Sequence[Mapping[str, Sequence[str]]],
        fits: Sequence[bool],
    ) -> tuple[Piece, ...]:
        """Two or three questions, each with its answer, or with one for each of two issues."""
        names = self._random.sample(list(questions), self._random.choice((2, 3)))
        lines: list[Piece] = []
        for number, name in enumerate(names, start=1):
            question = f"{number}. {self._random.choice(questions[name])} "
            leads = (question,) if len(answers) == 1 else (f"{question}A: ", " B: ")
            lines += [*_spoken(leads, [self._random.choice(each[name]) for each in answers], fits), _LINE]
        return tuple(lines[:-1])


def weighted_choice(random: Random, weights: Mapping[str, int]) -> str:
    """Return a random name, by the weights."""
    return random.choices(list(weights), list(weights.values()))[0]


def spread(label: str) -> dict[str, float]:
    """Return the odds of all labels if this one is right: they decrease with the distance and add up to 1."""
    labels, odds = (PRIORITIES, PRIORITY_ODDS) if label in PRIORITIES else (tuple(POINTS), POINTS_ODDS)
    at = labels.index(label)
    shares = {each: odds[min(abs(place - at), len(odds) - 1)] for place, each in enumerate(labels)}
    return {each: share / sum(shares.values()) for each, share in shares.items()}


def written(pieces: Sequence[Piece]) -> str:
    """Return the text of these pieces."""
    return "".join(piece.text for piece in pieces)


def _spoken(leads: Sequence[str], phrases: Sequence[str], fits: Sequence[bool]) -> tuple[Piece, ...]:
    """Each phrase after its lead; one that does not fit is not learned."""
    rows = zip(leads, phrases, fits, strict=True)
    return tuple(
        Piece(text=text, learned=learned)
        for lead, phrase, fit in rows
        for text, learned in ((lead, True), (phrase, fit))
    )
