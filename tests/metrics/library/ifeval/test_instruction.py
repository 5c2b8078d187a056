from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import SettingsError
from pytest_puma.metrics.library.ifeval import KINDS, read_instructions, variants
from tests.metrics.library.ifeval.checks import ENGLISH, GERMAN, follows, instruction

#: Replies that follow the instructions about a language.
LANGUAGES = {
    "language:response_language": GERMAN,
    "change_case:english_capital": ENGLISH.upper(),
    "change_case:english_lowercase": ENGLISH,
}
#: Usable arguments of each kind.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "keywords:existence": {"keywords": ["cow"]},
    "keywords:frequency": {"keyword": "cow", "frequency": 2, "relation": "less than"},
    "keywords:forbidden_words": {"forbidden_words": ["cow"]},
    "keywords:letter_frequency": {"letter": "z", "let_frequency": 1, "let_relation": "less than"},
    "language:response_language": {"language": "de"},
    "length_constraints:number_words": {"num_words": 4, "relation": "less than"},
    "length_constraints:number_sentences": {"num_sentences": 2, "relation": "less than"},
    "length_constraints:number_paragraphs": {"num_paragraphs": 2},
    "length_constraints:nth_paragraph_first_word": {"num_paragraphs": 2, "nth_paragraph": 1, "first_word": "cows"},
    "detectable_content:number_placeholders": {"num_placeholders": 2},
    "detectable_content:postscript": {"postscript_marker": "P.S."},
    "detectable_format:number_bullet_lists": {"num_bullets": 1},
    "detectable_format:constrained_response": {},
    "detectable_format:number_highlighted_sections": {"num_highlights": 2},
    "detectable_format:multiple_sections": {"section_spliter": "Section", "num_sections": 1},
    "detectable_format:json_format": {},
    "detectable_format:title": {},
    "combination:two_responses": {},
    "combination:repeat_prompt": {"prompt_to_repeat": "Name a colour."},
    "startend:end_checker": {"end_phrase": "The end."},
    "startend:quotation": {},
    "punctuation:no_comma": {},
    "change_case:capital_word_frequency": {"capital_frequency": 1, "capital_relation": "less than"},
    "change_case:english_capital": {},
    "change_case:english_lowercase": {},
}
#: A reply that follows an instruction loosely, but not strictly.
LOOSE = {
    "keywords:existence": "The c*o*w",
    "keywords:frequency": "Cow!\nThe cow.",
    "keywords:forbidden_words": "A text without cow:\nNothing.",
    "keywords:letter_frequency": "Zero of them:\nNothing.",
    "language:response_language": (
        "Certainly, I will answer this question in German for you, because you asked me to write about "
        f"that old animal which everybody in our village would still know, namely how {ENGLISH}\n{GERMAN}"
    ),
    "length_constraints:number_words": "Here are three words:\none two three",
    "length_constraints:number_sentences": "Sure. Here you are.\nOne sentence.",
    "length_constraints:number_paragraphs": "Sure:\n***\none\n***\ntwo",
    "length_constraints:nth_paragraph_first_word": "Sure!\n\nCows eat.\n\nBarns stand.",
    "detectable_content:postscript": "Bye. P*.*S. Call me.",
    "detectable_format:number_bullet_lists": "* one\n* that was one",
    "detectable_format:constrained_response": "My answer is *yes*.",
    "detectable_format:multiple_sections": "**Section** 1",
    "detectable_format:json_format": "Here it is:\n{}\nEnjoy!",
    "detectable_format:title": "<*<A day>*>",
    "combination:two_responses": "Sure:\n******\none\n******\ntwo",
    "combination:repeat_prompt": "Sure!\nName a colour. Blue.",
    "startend:end_checker": "It was so. The end.\nGoodbye!",
    "startend:quotation": 'Here:\n"It rains."\nBye.',
    "punctuation:no_comma": "Sure, here you are:\nNone.",
    "change_case:capital_word_frequency": "SURE:\nNothing.",
    "change_case:english_capital": f"Sure:\n{ENGLISH.upper()}",
    "change_case:english_lowercase": f"Sure:\n{ENGLISH}",
}


def test_all_25_kinds_have_arguments_here() -> None:
    assert len(KINDS) == 25
    assert ARGUMENTS.keys() == KINDS.keys()
    # At least as many placeholders or highlights: to leave out a line or asterisks makes none.
    assert KINDS.keys() - LOOSE.keys() == {
        "detectable_content:number_placeholders",
        "detectable_format:number_highlighted_sections",
    }


@pytest.mark.parametrize("kind", LOOSE)
def test_a_loose_check_leaves_out_lines_and_asterisks(kind: str) -> None:
    rule = instruction(kind, ARGUMENTS[kind])
    assert (rule.strict(LOOSE[kind]), rule.loose(LOOSE[kind])) == (False, True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reply", ["", " \n\t", "\n\n"])
def test_an_empty_reply_follows_nothing(kind: str, reply: str) -> None:
    rule = instruction(kind, ARGUMENTS[kind])
    assert (rule.strict(reply), rule.loose(reply)) == (False, False)


def test_what_is_left_may_not_be_empty() -> None:
    # Without its only line, the reply would have no comma.
    rule = instruction("punctuation:no_comma")
    assert not rule.loose("a, b")
    assert not rule.loose("a,\nb,")


def test_the_variants_of_a_reply_are_eight() -> None:
    assert variants("*a*\n b\nc*c \nd") == (
        "*a*\n b\nc*c \nd",
        "b\nc*c \nd",
        "*a*\n b\nc*c",
        "b\nc*c",
        "a\n b\ncc \nd",
        "b\ncc \nd",
        "a\n b\ncc",
        "b\ncc",
    )
    assert variants("a") == ("a", "", "", "", "a", "", "", "")


@pytest.mark.parametrize("kind", LANGUAGES)
def test_a_language_that_is_followed_strictly_is_followed_loosely(kind: str) -> None:
    rule = instruction(kind, ARGUMENTS[kind])
    assert (rule.strict(LANGUAGES[kind]), rule.loose(LANGUAGES[kind])) == (True, True)


@given(st.sampled_from(sorted(KINDS.keys() - LANGUAGES.keys())), st.text('aZ.*,-\n"[]<> 1', max_size=40))
def test_what_is_followed_strictly_is_followed_loosely(kind: str, reply: str) -> None:
    rule = instruction(kind, ARGUMENTS[kind])
    assert rule.loose(reply) >= rule.strict(reply)


@pytest.mark.parametrize("kind", KINDS)
def test_null_empty_and_nan_arguments_of_other_kinds_are_none(kind: str) -> None:
    names = {name for arguments in ARGUMENTS.values() for name in arguments}
    empty: list[Any] = [None, float("nan"), "", [], 0]
    padding = {name: empty[place % 5] for place, name in enumerate(sorted(names))}
    assert instruction(kind, padding | ARGUMENTS[kind]) == instruction(kind, ARGUMENTS[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_whole_numbers_may_be_floats(kind: str) -> None:
    floats = {name: float(value) if isinstance(value, int) else value for name, value in ARGUMENTS[kind].items()}
    assert instruction(kind, floats) == instruction(kind, ARGUMENTS[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_an_argument_that_is_missing_or_foreign_is_refused(kind: str) -> None:
    expected = ", ".join(ARGUMENTS[kind]) or "none"
    with pytest.raises(SettingsError) as caught:
        instruction(kind, {**ARGUMENTS[kind], "colour": "blue"})
    assert str(caught.value) == (
        f"ifeval: row 1: {kind}: colour='blue' is no argument of it; expected {expected}; correct kwargs in the data"
    )
    for name in ARGUMENTS[kind]:
        for value in (None, float("nan")):
            with pytest.raises(SettingsError) as caught:
                instruction(kind, {**ARGUMENTS[kind], name: value})
            assert str(caught.value) == (
                f"ifeval: row 1: {kind}: {name} is missing; expected {expected}; correct kwargs in the data"
            )


WRONG: dict[str, list[Any]] = {
    "a list of texts": ["cow", [], ["cow", 1], [""], {"cow": 1}, 5],
    "a text": ["", "  ", 5, ["cow"]],
    "a single character": ["", "ab", 5],
    "a whole number from 0": [-1, 1.5, "3", True, [3], float("inf")],
    "a whole number from 1": [0, -1, 1.5, "3", True],
    "'less than' or 'at least'": ["more than", "", 3, ["less than"]],
    "one of af, am, ar, az": ["xx", "German", "en-de", "", 5],
}
READERS = {
    "keywords": "a list of texts",
    "forbidden_words": "a list of texts",
    "letter": "a single character",
    "language": "one of af, am, ar, az",
    "nth_paragraph": "a whole number from 1",
    **dict.fromkeys(("relation", "let_relation", "capital_relation"), "'less than' or 'at least'"),
    **dict.fromkeys(
        ("keyword", "first_word", "postscript_marker", "section_spliter", "prompt_to_repeat", "end_phrase"), "a text"
    ),
}


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (kind, name, value)
        for kind, arguments in ARGUMENTS.items()
        for name in arguments
        for value in WRONG[READERS.get(name, "a whole number from 0")]
    ],
)
def test_an_argument_of_another_type_is_refused(kind: str, name: str, value: object) -> None:
    with pytest.raises(SettingsError) as caught:
        instruction(kind, {**ARGUMENTS[kind], name: value})
    expected = READERS.get(name, "a whole number from 0")
    assert str(caught.value).startswith(f"ifeval: row 1: {kind}: {name} is {value!r}; expected {expected}")
    assert str(caught.value).endswith("; correct kwargs in the data")


@pytest.mark.parametrize(
    ("ids", "arguments", "fault"),
    [
        ([], [], "0 ids in instruction_id_list and 0 entries in kwargs; expected one each"),
        (["punctuation:no_comma"], [], "1 ids in instruction_id_list and 0 entries in kwargs; expected one each"),
        (["punctuation:no_comma"], [{}, {}], "1 ids in instruction_id_list and 2 entries in kwargs"),
        (["punctuation:no_commas"], [{}], "no kind of instruction 'punctuation:no_commas'; did you mean"),
        ([["punctuation:no_comma"]], [{}], "no kind of instruction ['punctuation:no_comma']"),
        (["punctuation:no_comma"], ["{}"], "punctuation:no_comma: kwargs are '{}'; expected a dictionary of arguments"),
    ],
)
def test_unusable_instructions_are_refused(ids: list[Any], arguments: list[Any], fault: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_instructions("ifeval: row 1", ids, arguments)
    assert str(caught.value).startswith(f"ifeval: row 1: {fault}")


def test_an_unknown_kind_is_refused_with_those_there_are() -> None:
    with pytest.raises(SettingsError, match=r"there are: keywords:existence, .*, change_case:english_lowercase$"):
        read_instructions("ifeval", ["keywords"], [{}])


def test_instructions_keep_their_order_and_one_kind_may_occur_twice() -> None:
    ids = ["startend:quotation", *["change_case:capital_word_frequency"] * 2]
    capitals = [{"capital_frequency": number, "capital_relation": "at least"} for number in (1, 9)]
    read = read_instructions("ifeval", ids, [None, *capitals])
    assert [each.strict('"YES we can"') for each in read] == [True, True, False]


def test_letters_are_read_in_lower_case_and_texts_without_space_around_them() -> None:
    assert instruction("keywords:letter_frequency", {**ARGUMENTS["keywords:letter_frequency"], "letter": "Z"}) == (
        instruction("keywords:letter_frequency", ARGUMENTS["keywords:letter_frequency"])
    )
    assert follows("detectable_format:multiple_sections", "Day 1", section_spliter=" Day ", num_sections=1)


def test_no_letter_at_all_can_be_requested() -> None:
    given = {"letter": "z", "let_frequency": 0, "let_relation": "at least"}
    assert follows("keywords:letter_frequency", "none", **given)
