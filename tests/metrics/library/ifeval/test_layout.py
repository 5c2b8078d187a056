from __future__ import annotations

import pytest

from tests.metrics.library.ifeval.checks import follows


@pytest.mark.parametrize(
    ("reply", "followed"),
    [
        ("[name] lives in [city].", True),
        ("[a] [b] [c]", True),
        ("[name] only", False),
        ("[a [b]", False),
        ("[na\nme] [x]", False),
        ("[] []", True),
    ],
)
def test_placeholders_are_spans_in_square_brackets(reply: str, *, followed: bool) -> None:
    assert follows("detectable_content:number_placeholders", reply, num_placeholders=2) is followed


@pytest.mark.parametrize(
    ("reply", "marker", "followed"),
    [
        ("Bye.\nP.S. Call me.", "P.S.", True),
        ("Bye. p. s. call me.", "P.S.", True),
        ("Bye.\nPS call me.", "P.S.", False),
        ("Bye.\nP.S call me.", "P.S.", False),
        ("Bye.\nP.P.S. Call me.", "P.P.S", True),
        ("Bye.\np. p. s call me", "P.P.S", True),
        ("Bye.\nP.S. Call me.", "P.P.S", False),
        ("Bye.\nP.P.S. Call me.", "P.S.", True),
        ("Bye.\nps: call me", "PS:", True),
        ("Bye.\nN.B. call me", "N.B.", True),
        ("Bye.\nNxBx call me", "N.B.", False),
    ],
)
def test_a_postscript_has_its_marker(reply: str, marker: str, *, followed: bool) -> None:
    assert follows("detectable_content:postscript", reply, postscript_marker=marker) is followed


@pytest.mark.parametrize(
    ("reply", "followed"),
    [
        ("* one\n* two", True),
        ("- one\n- two", True),
        ("Points:\n* one\n\n  - two\nEnd.", True),
        ("*one\n-two", True),
        ("* one", False),
        ("* one\n* two\n* three", False),
        ("**Title**\n* one\n* two", True),
        ("**Title**\n* one", False),
        ("a * b\nc - d", False),
        ("* one\n***\n* two", True),
        ("1. one\n2. two", False),
    ],
)
def test_bullet_points_are_exactly_as_many(reply: str, *, followed: bool) -> None:
    assert follows("detectable_format:number_bullet_lists", reply, num_bullets=2) is followed


@pytest.mark.parametrize(
    ("reply", "followed"),
    [
        ("My answer is yes.", True),
        ("Well. My answer is no. Sorry.", True),
        ("My answer is maybe.", True),
        ("My answer is perhaps.", False),
        ("my answer is yes.", False),
        ("My answer is yes", False),
    ],
)
def test_a_constrained_response_has_one_of_three_sentences(reply: str, *, followed: bool) -> None:
    assert follows("detectable_format:constrained_response", reply) is followed


@pytest.mark.parametrize(
    ("reply", "followed"),
    [
        ("*one* and *two*", True),
        ("**one** and **two**", True),
        ("*one* and **two**", True),
        ("*one*", False),
        ("**one**", False),
        ("** ** and * *", False),
        ("*one\ntwo* *three*", False),
        ("*one* *two* *three*", True),
    ],
)
def test_highlighted_sections_stand_between_asterisks_on_one_line(reply: str, *, followed: bool) -> None:
    assert follows("detectable_format:number_highlighted_sections", reply, num_highlights=2) is followed


@pytest.mark.parametrize(
    ("reply", "splitter", "followed"),
    [
        ("Section 1\na\nSection 2\nb", "Section", True),
        ("Section1 Section2", "Section", True),
        ("Section 1\na", "Section", False),
        ("SECTION 1\na\nSECTION 2\nb", "Section", False),
        ("Section one\nSection two", "Section", False),
        ("Section  1\nSection  2", "Section", False),
        ("Day 1 Day 2 Day 3", "Day", True),
        ("No. 1, No. 2", "No.", True),
        ("Not 1, Not 2", "No.", False),
        ("Q&A (1 Q&A (2", "Q&A (", True),
    ],
)
def test_sections_begin_with_a_word_and_a_number(reply: str, splitter: str, *, followed: bool) -> None:
    given = {"section_spliter": splitter, "num_sections": 2}
    assert follows("detectable_format:multiple_sections", reply, **given) is followed


@pytest.mark.parametrize(
    ("reply", "followed"),
    [
        ('{"a": 1}', True),
        ('```json\n{"a": 1}\n```', True),
        ('```JSON\n{"a": 1}\n```', True),
        ('```Json\n{"a": 1}```', True),
        ('  ```\n[1, "https://example.org"]\n```  ', True),
        ('Here: {"a": 1}', False),
        ("{'a': 1}", False),
        ('{"a": 1,}', False),
        ('```yaml\n{"a": 1}\n```', False),
        ("[" * 100_000, False),
        ("7", True),
    ],
    ids=range(11),
)
def test_json_is_the_whole_reply_with_or_without_a_fence(reply: str, *, followed: bool) -> None:
    assert follows("detectable_format:json_format", reply) is followed


@pytest.mark.parametrize(
    ("reply", "followed"),
    [
        ("<<A day>>\nIt was.", True),
        ("It was <<a day>>.", True),
        ("<<>>", False),
        ("<< >>", False),
        ("<< > >>", True),
        ("<A day>", False),
        ("<<A\nday>>", False),
        ("<<<>>>", False),
        ("<<>> <<x>>", True),
        ("<<>><<>>", False),
        ("<<X>>", True),
    ],
)
def test_a_title_stands_in_double_angular_brackets(reply: str, *, followed: bool) -> None:
    assert follows("detectable_format:title", reply) is followed


@pytest.mark.parametrize(
    ("reply", "followed"),
    [
        ("one\n******\ntwo", True),
        ("******one******two******", True),
        ("one ****** one", False),
        ("one\n******\n", False),
        ("one", False),
        ("one ****** two ****** three", False),
        ("one ****** ****** two", False),
        ("one\n***\ntwo", False),
        ("******one****** ******", False),
    ],
)
def test_two_responses_differ_and_stand_between_six_asterisks(reply: str, *, followed: bool) -> None:
    assert follows("combination:two_responses", reply) is followed
