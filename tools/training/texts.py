"""Issues and backlog items composed of phrases: shuffled, cropped, hedged, with noise and red herrings.

Everything random comes from the `Random` passed in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tools.training.phrases import House, Phrases, Product, Project, Trouble, Work

#: Shares of texts. Many are lossy, borrowed or strange: otherwise the model memorises the phrases instead of the
#: meaning that their words have in common, and was worse on the selection set than a bag of words.
DETAIL, SCOPE, AROUND, BORROWED = 0.6, 0.55, 0.55, 0.5
TONE, HEDGE, LOG, HERRING, MAIL, HEADED, LIST = 0.15, 0.12, 0.12, 0.1, 0.1, 0.08, 0.08
NO_EFFECT, NO_DESCRIPTION, SECOND = 0.1, 0.04, 0.25
LOWER, UPPER, TYPOS, LOST_WORDS, STRANGE_WORDS, FOREIGN = 0.08, 0.03, 0.12, 0.4, 0.5, 0.12
#: Maximum share of lost, strange or mistyped words in a text that has such.
LOST_SHARE, STRANGE_SHARE, TYPO_SHARE = 0.15, 0.15, 0.06
#: Words of a description, on a logarithmic scale: with texts of one length a model learns to search for the question
#: at one distance only. `BRIEF` is the maximum for examples.
ISSUE_WORDS, ITEM_WORDS, BRIEF = (12, 280), (5, 130), 80
#: Texts contain names, words and codes of any script: the model must not forget the question because of them.
_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyzäöüßéèçñåøæłşğ",
    "абвгдежзиклмнопрстуфхцчшыьэюя",
    "αβγδεζηθικλμνξοπρστυφχψω",
    "日月火水木金土人口手山川田中大小上下東西南北",
    "0123456789abcdef",
    "{}[]()<>=;:/\\_-.,!?%&$#@*+'\"|~0123456789",
)
_SLOT = re.compile(r"\{(version|part|people|n)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One issue or item: its text, the right answer, and the reason."""

    title: str
    description: str
    gold: str
    reason: str


class Writer:
    """Writes texts from phrases."""

    def __init__(self, phrases: Phrases, random: Random) -> None:
        self._phrases = phrases
        self._common = phrases.common
        self._random = random
        self._words = _words(phrases)

    def issue(self, label: str, *, brief: bool = False) -> Text:
        """Return a random issue of this priority."""
        product = self._random.choice(self._phrases.products)
        trouble = self._random.choice(product.troubles[label])
        slots = self._slots(product.parts, product.people, product.versions)
        sentences = self._trouble_sentences(label, trouble)
        for tone in (product.loud, product.calm):
            sentences += self._some(TONE, tone)
        if self._happens(HERRING) and (lower := self._lower(product, label)):
            remark = f"{self._random.choice(self._common['herrings'])} {self._random.choice(lower.effects)}"
            sentences.append(remark)
        logs = [] if not self._happens(LOG) else [self._random.choice(product.logs).strip()]
        title = self._random.choice(trouble.titles)
        around = (*product.asides, *product.stories, *product.feints[label])
        selected = self._selected(sentences, around, self._words_of(ISSUE_WORDS, brief=brief))
        return self._text(title, selected, logs, slots, gold=label, reason=trouble.reason)

    def item(self, points: str, *, brief: bool = False) -> Text:
        """Return a random backlog item with these points."""
        project = self._random.choice([each for each in self._phrases.projects if each.works.get(points)])
        work = self._random.choice(project.works[points])
        slots = self._slots(project.parts, project.people, ("2.4", "5.0", "1.18", "2024.1"))
        sentences = self._work_sentences(project, points, work)
        title = self._random.choice(work.titles)
        selected = self._selected(sentences, project.asides, self._words_of(ITEM_WORDS, brief=brief))
        return self._text(title, selected, [], slots, gold=points, reason=work.reason)

    # -- the content of a text---------------------------------------------------------------------

    def _trouble_sentences(self, label: str, trouble: Trouble) -> list[str]:
        def one() -> Trouble:
            if not self._happens(BORROWED):
                return trouble
            return self._random.choice(self._random.choice(self._phrases.products).troubles[label])

        sentences = [] if self._happens(NO_EFFECT) else [self._random.choice(trouble.effects)]
        sentences += self._some(SECOND, one().effects)
        sentences += self._some(DETAIL, [trouble.detail])
        sentences += self._some(SCOPE, [one().scope])
        sentences += self._some(AROUND, [one().around])
        return sentences

    def _work_sentences(self, project: Project, points: str, work: Work) -> list[str]:
        other = self._random.choice(project.works[points])
        sentences = [] if self._happens(NO_EFFECT) else [self._random.choice(work.whats)]
        sentences += self._some(SECOND, work.whats)
        sentences += self._some(DETAIL, [work.detail])
        sentences += self._some(SCOPE, [other.done if self._happens(BORROWED) else work.done])
        return sentences

    def _lower(self, product: Product, label: str) -> Trouble | None:
        """A less serious trouble of the same product."""
        labels = list(product.troubles)
        lower = labels[labels.index(label) + 1 :]
        return self._random.choice(product.troubles[self._random.choice(lower)]) if lower else None

    # -- how it is written -----------------------------------------------------------------------

    def _text(
        self,
        title: str,
        sentences: Sequence[str],
        logs: Sequence[str],
        slots: Mapping[str, Sequence[str]],
        *,
        gold: str,
        reason: str,
    ) -> Text:
        body = "" if self._happens(NO_DESCRIPTION) else self._laid_out(sentences, logs)
        if self._happens(0.1):
            title = f"[{self._random.choice(slots['part'])}] {title}"
        fill = self._filler(slots)
        title, body = (_SLOT.sub(fill, part) for part in (title, body))
        title = self._worn(title) or title
        body = self._worn(body)
        return Text(title=title, description=body, gold=gold, reason=_SLOT.sub(fill, reason))

    def _selected(self, sentences: Sequence[str], around: Sequence[str], words: int) -> list[str]:
        """Sentences of about this many words in random order: at least one of the core, then others around them."""
        core = [*dict.fromkeys(sentences), *self._some(HEDGE, self._common["hedges"])]
        self._random.shuffle(core)
        selected: list[str] = []
        for sentence in (*core, *self._random.sample(around, len(around))):
            if selected and words <= 0:
                break
            selected.append(sentence)
            words -= len(sentence.split())
        self._random.shuffle(selected)
        return selected

    def _laid_out(self, sentences: Sequence[str], logs: Sequence[str]) -> str:
        if self._happens(HEADED) and len(sentences) > 1:
            first, second = self._random.choice(self._common["headings"])
            middle = len(sentences) // 2
            text = f"{first}: {' '.join(sentences[:middle])}\n{second}: {' '.join(sentences[middle:])}"
        elif self._happens(LIST) and len(sentences) > 1:
            bullet = self._random.choice(("- ", "* ", "1. "))
            text = "\n".join(bullet + sentence for sentence in sentences)
        else:
            text = self._random.choice((" ", " ", " ", "\n", "\n\n")).join(sentences)
        blocks = [text, *logs]
        if self._happens(0.3):
            blocks.reverse()
        if self._happens(MAIL):
            name = self._random.choice(self._common["names"])
            closing = f"{self._random.choice(self._common['closings'])}\n{name}"
            blocks = [self._random.choice(self._common["greetings"]), *blocks, closing]
        return "\n\n".join(blocks)

    def _worn(self, text: str) -> str:
        """The text with the errors of hasty typing."""
        if self._happens(LOWER):
            text = text.lower()
        if self._happens(UPPER):
            text = text.upper()
        if self._happens(LOST_WORDS):
            text = self._each_word(text, self._random.uniform(0, LOST_SHARE), lambda _: "")
        if self._happens(STRANGE_WORDS):
            text = self._each_word(text, self._random.uniform(0, STRANGE_SHARE), self._strange)
        if self._happens(TYPOS):
            text = self._each_word(text, TYPO_SHARE, self._mistyped)
        return text.strip()

    def _each_word(self, text: str, share: float, change: Any) -> str:
        return re.sub(r"[^\W\d_]{3,}", lambda match: change(match[0]) if self._happens(share) else match[0], text)

    def _strange(self, _: str) -> str:
        if not self._happens(FOREIGN):
            return self._random.choice(self._words)
        return "".join(self._random.choices(self._random.choice(_ALPHABETS), k=self._random.randint(2, 10)))

    def _mistyped(self, word: str) -> str:
        at = self._random.randrange(len(word) - 1)
        return word[:at] + self._random.choice((word[at + 1] + word[at], word[at] * 2, "")) + word[at + 2 :]

    # -- chance ----------------------------------------------------------------------------------

    def _happens(self, share: float) -> bool:
        return self._random.random() < share

    def _some(self, share: float, choices: Sequence[str]) -> list[str]:
        return [self._random.choice(choices)] if self._happens(share) else []

    def _words_of(self, bounds: tuple[int, int], *, brief: bool) -> int:
        shortest, longest = bounds
        return int(math.exp(self._random.uniform(math.log(shortest), math.log(BRIEF if brief else longest))))

    def _slots(self, parts: Sequence[str], people: Sequence[str], versions: Sequence[str]) -> dict[str, Sequence[str]]:
        return {"part": parts, "people": people, "version": versions}

    def _filler(self, slots: Mapping[str, Sequence[str]]) -> Any:
        def fill(match: re.Match[str]) -> str:
            name = match[1]
            return str(int(2 + 10 ** self._random.uniform(0, 4))) if name == "n" else self._random.choice(slots[name])

        return fill


def _words(phrases: Phrases) -> tuple[str, ...]:
    """Every word with little information: from asides and names of parts, of all products and projects."""
    houses: tuple[House, ...] = (*phrases.products, *phrases.projects)
    texts = (text for house in houses for text in (*house.parts, *house.people, *house.asides))
    return tuple(sorted({word for text in texts for word in re.findall(r"[^\W\d_]{3,}", text)}))
