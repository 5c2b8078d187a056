"""The made-up texts of the bundled model's recipe: broad, as asked, and apart from everything that is evaluated."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, pairwise, takewhile
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from pytest_puma.platform.bundled import bundled_folder
from pytest_puma.scenarios import BUILTIN
from pytest_puma.scenarios.jira import PRIORITIES
from pytest_puma.strategies import ALL
from tools.training import SELECTION
from tools.training.cases import LABELS, POINTS, Piece, written
from tools.training.dialogues import SCENARIOS, STRATEGIES, Dialogues
from tools.training.phrases import FOLDER, House, Phrases, load_phrases
from tools.training.texts import Writer

LABEL_WORDS = re.compile(r"\b(critical|major|minor|trivial|severity|priority|blocker|story points?)\b", re.IGNORECASE)


@pytest.fixture(scope="module")
def phrases() -> Phrases:
    return load_phrases()


@pytest.fixture(scope="module")
def every_phrase() -> list[str]:
    files = sorted(FOLDER.rglob("*.yaml"))
    return [text for path in files for text in _texts(yaml.safe_load(path.read_text(encoding="utf-8")))]


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        yield from chain.from_iterable(map(_texts, content.values()))
    elif isinstance(content, list):
        yield from chain.from_iterable(map(_texts, content))


def _sentences(text: str) -> Iterator[str]:
    """The sentences and lines of a text, as words alone; one of three words is nobody's own."""
    for part in (text, *re.split(r"(?<=[.!?:])\s+|\n", text)):
        words = re.findall(r"\w+", part.lower())
        if len(words) > 3:
            yield " ".join(words)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize(
    "path",
    [*sorted(bundled_folder("data").glob("*.csv")), *sorted(SELECTION.glob("*.csv"))],
    ids=lambda path: path.name,
)
def test_no_sentence_of_evaluated_rows_is_a_phrase(path: Path, every_phrase: list[str]) -> None:
    phrase_sentences = {sentence for phrase in every_phrase for sentence in _sentences(phrase)}
    texts = [sentence for row in _rows(path) for name in ("title", "description") for sentence in _sentences(row[name])]
    assert len(texts) > 50
    assert phrase_sentences.isdisjoint(texts)


def test_no_product_is_one_of_the_evaluated_rows(phrases: Phrases) -> None:
    texts = " ".join(path.read_text(encoding="utf-8") for path in bundled_folder("data").glob("*.csv"))
    houses: tuple[House, ...] = (*phrases.products, *phrases.projects)
    assert [house.name for house in houses if house.name in texts] == []


def test_there_are_thousands_of_different_phrases(phrases: Phrases, every_phrase: list[str]) -> None:
    troubles = [trouble for product in phrases.products for group in product.troubles.values() for trouble in group]
    works = [work for project in phrases.projects for group in project.works.values() for work in group]
    assert len(troubles) >= 1000
    assert len(works) >= 400
    assert len({phrase for phrase in every_phrase if len(phrase.split()) > 3}) >= 10_000


def test_no_phrase_gives_the_label_away(every_phrase: list[str]) -> None:
    assert [phrase for phrase in every_phrase if LABEL_WORDS.search(phrase)] == []


def test_nothing_that_is_said_begins_with_an_answer(phrases: Phrases) -> None:
    # "A few, now and then" was ended as the answer "A", or gone on with as the heading "A:".
    content = [text for kind in ("notes", "sizes") for text in _texts(phrases.common[kind])]
    answers = {label for scenario in SCENARIOS for label in BUILTIN[scenario]().valid_labels()}
    assert len(content) > 80
    assert [text for text in content if text.split()[0] in answers] == []


def test_equal_seeds_tell_the_same_and_others_do_not(phrases: Phrases) -> None:
    def texts(seed: int) -> list[tuple[Piece, ...]]:
        supply = Dialogues(phrases, seed)
        return [supply.next() for _ in range(10)]

    assert texts(3) == texts(3) != texts(4)


def test_no_text_is_told_twice(phrases: Phrases) -> None:
    writer = Writer(phrases, Random(1))  # noqa: S311 - no secret
    texts = [writer.issue(label) for label in PRIORITIES for _ in range(300)] + [
        writer.item(points) for points in POINTS for _ in range(50)
    ]
    assert all(text.title and text.reason for text in texts)
    assert not any("{" in text.reason for text in texts)
    long = Counter((text.title, text.description) for text in texts if len(text.description.split()) > 20)
    assert long.most_common(1)[0][1] == 1


def test_descriptions_are_as_long_as_those_that_will_be_asked_about(phrases: Phrases) -> None:
    writer = Writer(phrases, Random(1))  # noqa: S311 - no secret
    for write, label, shortest, longest in ((writer.issue, "Minor", 16, 240), (writer.item, "3", 8, 105)):
        words = sorted(len(write(label).description.split()) for _ in range(1200))
        assert sum(count <= shortest for count in words) > 40
        assert sum(count >= longest for count in words) > 20
        brief = [len(write(label, brief=True).description.split()) for _ in range(100)]
        assert max(brief) < 140


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("strategy", ["zero_shot", "egi", "few_shot_3", "cot_few_shot"])
def test_every_text_in_a_prompt_is_known_by_its_label(scenario: str, strategy: str, phrases: Phrases) -> None:
    supply = Dialogues(phrases, 8)
    for _ in range(20):
        dialogue = supply.of(scenario, strategy)
        titles = [one for one, other in pairwise(dialogue) if one.text.endswith("Title: ") and other.about in LABELS]
        assert len(titles) == written(dialogue).count("Title: ")
        about = [piece.about for piece in dialogue if piece.about]
        answers = [max(piece.odds, key=piece.odds.__getitem__) for piece in dialogue if piece.odds]
        if scenario != "prioritization_jira":
            assert list(dict.fromkeys(about)) == list(dict.fromkeys(answers))


def test_every_way_of_asking_is_taught() -> None:
    # The others ask with the template of one of these.
    assert set(ALL) - set(STRATEGIES) == {"self_consistency_5", "option_scoring"}


def test_every_label_is_written_behind_a_question_with_the_odds_of_the_question(phrases: Phrases) -> None:
    supply = Dialogues(phrases, 6)
    answers = [piece for _ in range(200) for piece in supply.of("estimation_tawos", "zero_shot") if piece.odds]
    written = Counter(piece.text for piece in answers)
    assert written.keys() == POINTS.keys()
    assert min(written.values()) > 10
    right = Counter(max(piece.odds or {}, key=(piece.odds or {}).__getitem__) for piece in answers)
    assert right["3"] > 3 * right["21"]


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("strategy", ["zero_shot_cot", "egi"])
def test_words_that_slip_are_not_learned_and_do_not_decide(scenario: str, strategy: str, phrases: Phrases) -> None:
    supply, slips = Dialogues(phrases, 7), 0
    for _ in range(200):
        dialogue = supply.of(scenario, strategy)
        begin = next(place for place, piece in enumerate(dialogue) if piece.text == "<|im_start|>assistant\n")
        words = [*takewhile(lambda piece: piece.text != "<|im_end|>", dialogue[begin + 1 :])]
        answer = next(piece for piece in dialogue if piece.odds)
        assert answer.odds is not None
        sure = answer.odds == {answer.text: 1.0}
        assert all(piece.learned for piece in words) == sure
        slips += not sure
    assert 20 < slips < 60


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_is_learned_is_an_answer_that_the_scenario_can_read(
    scenario: str, strategy: str, phrases: Phrases
) -> None:
    dialogue = Dialogues(phrases, 5).of(scenario, strategy)
    answers = [piece for piece in dialogue if piece.odds is not None]
    labels = BUILTIN[scenario]().valid_labels()
    for answer in answers:
        assert answer.odds is not None
        assert answer.text in answer.odds
        assert set(answer.odds) <= set(labels)
        assert sum(answer.odds.values()) == pytest.approx(1)
    for example in answers[:-1]:
        assert example.odds is not None
        assert max(example.odds, key=example.odds.__getitem__) == example.text
    assert [piece.text for piece in dialogue][-3:] == [answers[-1].text, "<|im_end|>", "\n"]
    shots = int(strategy[-1]) if strategy[-1].isdigit() else {"one_shot": 1, "cot_few_shot": 3}.get(strategy, 0)
    assert len(answers) == shots + 1
