from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.replies.answers import (
    FIBONACCI,
    final_answer,
    own_words,
    snap_fibonacci,
    strip_reasoning,
)
from pytest_puma.task_types.regression import number_text

TAGS = ("<think>", "</think>", "<thinking>", "</thinking>", "<reasoning>", "</reasoning>", "[THINK]", "[/THINK]")
PLAIN = st.text().filter(lambda text: not any(tag.lower() in text.lower() for tag in TAGS))
TAGGED = st.lists(st.sampled_from(TAGS) | st.text(max_size=8), max_size=12).map("".join)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Major", "Major"),
        ("<think>It is Minor, no ...</think>\nMajor", "Major"),
        ("<think>\n\n</think>\n\nMajor", "Major"),
        ("<thinking>Minor</thinking>Major", "Major"),
        ("<reasoning>Minor</reasoning> Major", "Major"),
        ("[THINK]Minor[/THINK]Major", "Major"),
        ("<THINK>Minor</Think>Major", "Major"),
        ("Major <think>or Minor? Let me see", "Major"),
        ("<think>cut off at the limit", ""),
        ("[THINK]cut off", ""),
        ("It could be Minor.\n</think>\n\nMajor", "Major"),
        ("Minor?[/THINK]Major", "Major"),
        ("<think>a</think>Major<think>b</think>", "Major"),
        ("<think>a</think>Major<think>b", "Major"),
        ("<think>first <think>again</think>Major", "Major"),
        ("<think>mixed</reasoning>Major", "Major"),
        ("swallowed</think>draft<think>more</think>Major", "draft Major"),
        ("draft</think>Major</think>Minor", "Minor"),
        ("Answer:<think>hm</think>5", "Answer: 5"),
        ("a <b>bold</b> <thinker> [link]", "a <b>bold</b> <thinker> [link]"),
        ("", ""),
    ],
)
def test_reasoning_is_stripped(text: str, left: str) -> None:
    assert strip_reasoning(text) == left


@given(TAGGED)
def test_stripping_leaves_no_tag_and_nothing_to_strip_again(text: str) -> None:
    left = strip_reasoning(text)
    assert not any(tag.lower() in left.lower() for tag in TAGS)
    assert strip_reasoning(left) == left


@given(PLAIN)
def test_text_without_tags_keeps_every_word(text: str) -> None:
    assert strip_reasoning(text) == text.strip()


@given(PLAIN, PLAIN)
def test_what_follows_a_closed_block_is_kept(thought: str, answer: str) -> None:
    assert strip_reasoning(f"<think>{thought}</think>{answer}") == answer.strip()
    assert strip_reasoning(f"{thought}</think>{answer}") == answer.strip()


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Answer: Major", "Major"),
        ("answer: major", "major"),
        ("ANSWER : Major", "Major"),
        ("Answer:Major", "Major"),
        ("Final answer: 5", "5"),
        ("Final Answer: 5", "5"),
        ("The final answer is: B", "B"),
        ("The answer is: B", "B"),
        ("**Answer:** Major", "Major"),
        ("**Answer: Major**", "Major"),
        ("**Answer**: **Major**", "Major"),
        ("__Final answer:__ 8", "8"),
        ("### Answer: B", "B"),
        ("## Final Answer\n\n13", "13"),
        ("**Answer**\nMajor", "Major"),
        ("- Answer: 3", "3"),
        ("* **Answer:** 3", "3"),
        ("\u2022 Answer: 3", "3"),
        ("> Answer: 3", "3"),
        ("4. **Answer:** 3", "3"),
        ("   Answer: 3", "3"),
        ("Answer\uff1a 3", "3"),
        ("1. It is small.\n2. One file.\nAnswer: 2", "2"),
        ("Answer: 5\nOn reflection it is more.\nAnswer: 8", "8"),
        ("Answer:\nMajor", "Major"),
        ("Answer:\n\n\n  **Major**\nbecause", "Major"),
        ("Answer: Major\n\nThis is because nobody can log in.", "Major"),
        ("Answer: Major\r\n", "Major"),
        ("Answer: -3", "-3"),
        ("Answer: `Major`", "Major"),
        ("It hits everyone globally. Answer: Critical", "Critical"),
        ('Nobody can log in! **Final answer:** "Critical".', '"Critical".'),
        ("Two parts (one new). Answer: 3. Or more. Answer: 5", "5"),
        ('End with a line that reads "Answer: " followed by a letter.', None),
        ("Answer:", None),
        ("Answer: **", None),
        ("Answer: 5\nAnswer:", None),
        ("Major", None),
        ("My answer: Major", None),
        ("Answers: many", None),
        ("The answer, I think, is Major.", None),
        ("", None),
    ],
)
def test_final_answer_is_read_from_its_line(text: str, answer: str | None) -> None:
    assert final_answer(text) == answer


@given(st.text(), st.sampled_from(["Critical", "A", "13", "0.5"]))
def test_the_last_answer_line_wins_whatever_stands_before(before: str, value: str) -> None:
    assert final_answer(f"{before}\nAnswer: {value}") == value


@given(st.text())
def test_a_final_answer_is_part_of_the_text(text: str) -> None:
    answer = final_answer(text)
    assert answer is None or (answer and answer in text)


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("B is worse.\nAnswer: B", "B is worse.\nAnswer: B"),
        ("Answer: B\nUser: and now?\nAnswer: A", "Answer: B\n"),
        ("Answer: B\n\n**Question:** and now?\nAnswer: A", "Answer: B\n\n"),
        ("It is B. Question: and now? Answer: A", "It is B."),
        ("Question: How many days until then? Answer: 24.", ""),
        ("Assistant: B", " B"),
        ("The user: he is upset", "The user: he is upset"),
        ("<issue>\nTitle: t\n</issue>\nMinor", "\nMinor"),
        ("<issue>\nTitle: t\nAnswer: Minor", "Answer: Minor"),
        ("<issue>\nTitle: t\nMinor", ""),
        ("Title: t\nDescription: d\nAnswer: Minor", "Answer: Minor"),
        ("Minor\n\n<issue>\nTitle: t\n</issue>\nAnswer: Major", "Minor\n\n"),
        ("<issue>t</issue> <issue>u</issue> Answer: Major", " "),
    ],
)
def test_the_own_words_are_neither_repeated_nor_of_a_made_up_turn(text: str, own: str) -> None:
    assert own_words(text, ("issue",)) == own


@given(PLAIN, PLAIN)
def test_what_stands_behind_a_made_up_turn_does_not_matter(before: str, after: str) -> None:
    assert own_words(f"{before}\nUser: {after}") == own_words(f"{before}\nUser:")


@given(st.text())
def test_tags_of_the_data_alone_make_a_repeated_question(text: str) -> None:
    assert own_words(f"<b>{text}</b>") == own_words(f"<b>{text}</b>", ("issue",)) or "title" in text.lower()


@pytest.mark.parametrize(
    ("value", "snapped"),
    [
        (0, 1), (0.5, 1), (1, 1), (1.5, 1), (2, 2), (2.5, 2), (3, 3), (3.5, 3), (4, 3), (4.0001, 5), (5, 5), (6, 5),
        (6.5, 6.5), (7, 8), (8, 8), (9, 8), (10, 10), (11, 11), (12, 13), (13, 13), (14, 13), (15, 15), (20, 21),
        (22, 21), (33, 34), (35, 34), (54, 55), (88, 89), (90, 89), (91, 91), (100, 100), (-0.5, -0.5), (-3, -3),
    ],
)  # fmt: skip
def test_numbers_near_a_point_value_snap_to_it(value: float, snapped: float) -> None:
    assert snap_fibonacci(value) == snapped


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_snapping_moves_a_number_by_one_at_most_and_only_onto_the_series(value: float) -> None:
    snapped = snap_fibonacci(value)
    assert snapped == value or (snapped in FIBONACCI and abs(snapped - value) <= 1)
    assert snap_fibonacci(snapped) == snapped


@given(st.floats(min_value=-5, max_value=95))
def test_no_point_value_is_nearer_than_the_one_snapped_to(value: float) -> None:
    distance = min(abs(point - value) for point in FIBONACCI)
    assert (abs(snap_fibonacci(value) - value) == distance) or (distance > 1 and snap_fibonacci(value) == value)


@pytest.mark.parametrize(
    ("value", "text"),
    [(3.0, "3"), (3, "3"), (0.5, "0.5"), (-2.0, "-2"), (100.0, "100"), (0.0, "0"), (1e21, "1" + "0" * 21)],
)
def test_numbers_are_written_as_people_do(value: float, text: str) -> None:
    assert number_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_written_number_reads_back_as_itself(value: float) -> None:
    assert math.isclose(float(number_text(value)), value, rel_tol=0, abs_tol=0)
    assert not number_text(value).endswith(".0")
