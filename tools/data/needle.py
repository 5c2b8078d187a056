"""Texts of any length that hide numbers of persons, with a question for those of one person.

python -m tools.data.needle > data/needle.jsonl
python -m tools.data.needle --dev > data/needle_dev.jsonl
python -m tools.data.needle --words 8000 --languages de es --seed 7 > long.jsonl

Each language and length has a row for each kind: `single` (one number), `multiple` (two numbers), `none` (the person
has no number). Numbers of other persons stand in every text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from tools.data.phrases import NAMES, PHRASES, Phrases
from tools.data.rows import write_texts

#: Numbers of the person who is asked for, by kind.
KINDS = {"single": 1, "multiple": 2, "none": 0}
#: Lengths of the texts of the bundled file: with the longest, a prompt of 1,300 tokens.
WORDS = (50, 100, 200, 400)
SEED = 42
#: Lengths and seed of the few-shot examples.
DEV_WORDS, DEV_SEED = (50,), 7
_NUMBERS = 4  # in each text, of all persons together


def rows(
    words: Sequence[int] = WORDS, languages: Sequence[str] = tuple(PHRASES), seed: int = SEED, *, dev: bool = False
) -> Iterator[dict[str, Any]]:
    """A row for each language, length and kind."""
    prefix = "needle-dev" if dev else "needle"
    for language in languages:
        for length in words:
            for kind in KINDS:
                yield {"id": f"{prefix}-{language}-{length}-{kind}", **row(language, length, kind, seed)}


def row(language: str, words: int, kind: str, seed: int) -> dict[str, Any]:
    """A text with `words` or slightly more words, the question, and its answers in the order of the text."""
    random = Random(f"needle {seed} {language} {words} {kind}")  # noqa: S311 - no secret
    phrases = PHRASES[language]
    target, *others = random.sample(NAMES, _NUMBERS + 1)
    names = [target] * KINDS[kind]
    names += others[: _NUMBERS - len(names)]
    random.shuffle(names)
    numbers = [str(number) for number in random.sample(range(1000, 10_000), _NUMBERS)]
    needles = [phrases.needle.format(name=name, number=number) for name, number in zip(names, numbers, strict=True)]
    answer = [number for name, number in zip(names, numbers, strict=True) if name == target]
    return {
        "language": language,
        "kind": kind,
        "words": words,
        "text": _text(random, phrases, needles, words),
        "question": phrases.needle_question.format(name=target),
        "answer": answer or [phrases.none],
    }


def _text(random: Random, phrases: Phrases, needles: Sequence[str], words: int) -> str:
    """Filler around the needles, which keep their order."""
    length = sum(len(needle.split()) for needle in needles)
    sentences: list[str] = []
    for sentence in _filler(random, phrases):
        if length >= words:
            break
        sentences.append(sentence)
        length += len(sentence.split())
    places = sorted(random.randint(0, len(sentences)) for _ in needles)
    # From the end, so that the places before stay right.
    for place, needle in zip(reversed(places), reversed(needles), strict=True):
        sentences.insert(place, needle)
    return " ".join(sentences)


def _filler(random: Random, phrases: Phrases) -> Iterator[str]:
    """Without end: all sentences in one random order after the other."""
    while True:
        yield from random.sample(phrases.filler, len(phrases.filler))


def main() -> None:
    """Write the rows to standard output."""
    write_texts(rows, "texts with hidden numbers", words=WORDS, seed=SEED, dev_words=DEV_WORDS, dev_seed=DEV_SEED)


if __name__ == "__main__":
    main()
