"""Sentences of a text. A `|` in an example stands where one ends."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.metrics.library.length import split_sentences


@pytest.mark.parametrize(
    "marked",
    [
        "Dr. Lee paid $3.50. | Why? | It rained... | Then I left.",
        "It rains | ",
        "One line\nand another. | A third.",
        "One! | Two? | Three?! | Four.",
        "What? | no capital.",
        'He said "No." | She left.',
        "It is (so it seems.) | True.",
        "**Bold.** | Plain.",
        "It costs 3.5 or 4 at example.org/a.html today. | Yes.",
        "Version 2.0.1 is out. | Install it.",
        # Titles and abbreviations within a sentence.
        "Mr. and Mrs. Poe met Prof. Bell and Gen. Grant.",
        "Fruit, e.g. Apples, i.e. The best.",
        "(Dr. Poe) met 'Mr. Bell'.",
        # Abbreviations that may end one.
        "Apples, pears, etc. | The rest is lost.",
        "Apples, pears, etc. and nuts.",
        "Apples, pears, etc. Nuts are extra.",
        "The firm is Bell Inc. | It sells bells.",
        "The firm Bell Inc. sells bells.",
        "It is 5 p.m. | We leave.",
        "It is 5 p.m. in London.",
        "He lives in the U.S. | They do not.",
        "The U.S. Senate met.",
        "J. R. Poe wrote it.",
        "It was Plan B. | However, it failed.",
        "Tea vs. Coffee is No. 1 of pp. 3 and 4.",
        "Is it no. | Yes.",
        # Numbers.
        "It was 1999. | Then came 2000.",
        "1. | First of all",
        "It grew by 3. or so.",
        # Ellipses.
        "It rained... and snowed.",
        "It rained\u2026 | We left.",
        "Well... Snow fell.",
        'Well... | "We left."',
        # Other scripts.
        "我喝茶。| 你呢\uff1f| 好\uff01",
        "他说「好。」| 再见。",
        "यह चाय है। | वह पानी है।",
        "هل تشرب الشاي؟ | نعم.",
        "چائے\u06d4 | پانی\u06d4",
        "թեյ\u0589 | ջուր\u0589",
        "ሻይ\u1362 | ውሃ\u1362",
    ],
)
def test_a_sentence_ends_where_a_reader_sees_it_end(marked: str) -> None:
    sentences = [part.strip() for part in marked.split("|") if part.strip()]
    assert split_sentences(marked.replace("| ", "").replace("|", "")) == sentences


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_an_empty_text_has_no_sentence(text: str) -> None:
    assert split_sentences(text) == []


@pytest.mark.parametrize("word", ["And", "The", "He", "Was", "Your", "Yes"])
def test_a_capitalised_word_that_starts_sentences_ends_the_one_before(word: str) -> None:
    assert len(split_sentences(f"Nuts etc. {word} x")) == 2
    assert len(split_sentences(f"Nuts etc. \u201c{word}, x")) == 2
    assert len(split_sentences(f"Nuts etc. {word.lower()} x")) == 1
    assert len(split_sentences(f"Nuts etc. {word}xx x")) == 1


@given(st.text("aA. ?!\"')\n1\u2026\u3002", max_size=60))
def test_sentences_are_the_text_in_order_without_space_around_them(text: str) -> None:
    sentences = split_sentences(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() != "" for sentence in sentences)


@pytest.mark.parametrize("part", ["a", "今天", "a.", ".", '."', "...", " ", "!", "a. ", "\u2026)"])
def test_a_model_that_repeats_itself_for_ever_takes_no_time(part: str) -> None:
    started = time.process_time()
    split_sentences(part * 20_000)
    assert time.process_time() - started < 2
