import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.replies.answers import after_cue, begins_with


@pytest.mark.parametrize(
    ("text", "cue", "rest"),
    [
        ("A: Berlin.", "A:", "Berlin."),
        ("A:Berlin", "A: ", "Berlin"),
        (" A: Berlin", "A:", "Berlin"),
        ("A:", "A:", ""),
        ("(B)", "(", "B)"),
        ("Answer 42", "Answer", "42"),
    ],
)
def test_a_text_with_the_cue_loses_it(text: str, cue: str, rest: str) -> None:
    assert begins_with(text, cue)
    assert after_cue(text, cue) == rest


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("Athens", "A"),
        ("Berlin", "A:"),
        ("Berlin", ""),
        ("", "A:"),
        ("a: Berlin", "A:"),
        ("The A: B", "A:"),
        ("4th", "4"),
    ],
)
def test_a_word_that_only_begins_like_the_cue_is_no_cue(text: str, cue: str) -> None:
    assert not begins_with(text, cue)


@given(st.text(), st.sampled_from(["A:", "Answer:", "(", "=>"]))
def test_a_text_behind_the_cue_comes_back(text: str, cue: str) -> None:
    assert begins_with(f"{cue} {text}", cue)
    assert after_cue(f"{cue} {text}", cue) == text.strip()
