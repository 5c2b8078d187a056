r"""Readers of answers in the forms that public benchmarks and their published outputs have. Pure functions of a text.

    She sells 9 eggs.        ... 9 * 2 = 18            We are not where we started.      Hence $\boxed{\frac{1}{2}}$.
    #### 18                  A: 18                     So the answer is (B).
    after_marker(text)       after_marker(text, "A:")  the_answer_is(text)               boxed(text)

A scenario calls one of them in `post_process`; without a stop string, cut off invented questions first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from textwrap import dedent

from pytest_puma.replies.answers import final_answer
from pytest_puma.replies.fences import longest
from pytest_puma.replies.letters import LETTERS, names_another
from pytest_puma.replies.numerals import decimal_text, numbers

_MARKDOWN = " \t\r*_`"
_THE_ANSWER_IS = re.compile(r"\banswer(?:\s+is|:)(?:\s*:)?", re.IGNORECASE)
#: The end of a sentence with another one behind it; the dot of a title is none.
_SENTENCE_END = re.compile(
    r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bSt)[.!?][*_`\"')\]]*\s+(?=[\"'(\[*_`]*[^\W\da-z_])"
)
#: The beginning of a box, an escaped sign, or a brace.
_BRACE = re.compile(r"(\\f?box(?:ed)?\s*\{)|\\[^\\\n]|\\\\(?!f?box)|[{}]")
#: Behind `####`: a number, and no step of a list as in the heading `#### 2. Add`.
_NUMBER_NOT_STEP = re.compile(r"[^\w\n]*\d(?!\d*[.):]\s+\w)")
_NUMBER_FIRST = re.compile(r"\W*(?:\d|[dt]?frac(?![a-z]))")
#: The time that something takes, and the size of the parts that are counted: no results beside another number.
_ASIDE = re.compile(
    r"""\b(?:in|over|within|during|after|for|per|every|by|at)\s+\d[\d,.]*\s*
        (?:second|minute|hour|day|week|month|year|[ap]\.?m\b)s?
      | (\d\s+(?:[a-z]+\s+){1,2}of|\b(?:goal|target|limit|budget|capacity)\s+of)\s+\d[\d,.]*""",
    re.IGNORECASE | re.VERBOSE,
)
#: The time that a task takes, beside its size: 3 in "it takes Ann 3 days to dig 30 holes".
_DURATION = re.compile(
    r"\b(?:takes?|took)\s+(?:[a-z]+\s+){0,3}(\d[\d,.]*)\s*(?:second|minute|hour|day|week|month|year)s?\s+to\b",
    re.IGNORECASE,
)
#: A measure that is part of a word, such as 2 in "2-foot-wide".
_IN_WORD = re.compile(r"(?<![\d,.])\d[\d,.]*-(?=[a-z]{2})", re.IGNORECASE)
#: Mathematics, whose letters are none of options.
_FORMULA = re.compile(r"\\(?!boxed|math|text)[A-Za-z]")
#: A hedge between two numbers, at the beginning of a marked answer or at the end of a sentence.
_EITHER = re.compile(r"\W*\d[\d,.]*(?<!,)\s+or\s+[^\w\s]*\d")
_EITHER_LAST = re.compile(r"(?<![\d,.])\d[\d,.]*(?<!,)\s+or\s+[^\w\s]*\d[\d,.]*\W*$")
#: `A` and `I` before another word are words, as in "A house".
_LETTER = r"(?<![\w'])(?:([{letters}])(?![\w'])(?!(?<=[AI]) +[a-z])|(?<=\()([{lower}])(?=\)))"


def last_number(text: str) -> str | None:
    """Return the last number of a text in one spelling: `1250.5` for `$1,250.50`; None if there is none."""
    value = last_value(text)
    return None if value is None else decimal_text(value)


def final_number(text: str) -> str | None:
    """Return the number that a text ends with or marks as its answer, in one spelling; None if there is none."""
    value = final_value(text)
    return None if value is None else decimal_text(value)


def final_value(text: str) -> Fraction | None:
    """Return the number of the marked answer, see `marked_answers`; if it has none, that of the last sentence.

    Of several numbers it is the one behind the last equals sign, the one that a marked answer begins with, the time
    that something takes, or the last one that states no time and no parts: 540 in "540 dollars over 30 days", 92 in
    "92 rows of 5 stars". A number that is part of a word, as in "2-foot-wide", is none; "3 or 4" names none.
    """
    for answer in marked_answers(text):
        value = _result(answer, marked=True)
        if value is not None:
            return None if _EITHER.match(answer) else value
    plain = _IN_WORD.sub("", text)
    lines = plain.rstrip().splitlines() or [""]
    sentence = _SENTENCE_END.split(lines[-1].strip())[-1]
    if _EITHER_LAST.search(sentence):
        return None
    value = _result(sentence, marked=False)
    return last_value(plain) if value is None else value


def last_value(text: str) -> Fraction | None:
    """Return the last number of a text."""
    return next(iter(list(numbers(text))[-1:]), None)


def marked_answers(text: str) -> Iterator[str]:
    r"""Yield what a text marks as its answer, in this order of precedence.

    It is in the last `\boxed{}`, behind the last `####`, in a last line that begins with `A:`, in the line behind the
    last `Answer:`, or in the sentence behind the last `answer is`.
    """
    yield from filter(None, (boxed(text), _behind_hashes(text), _last_line(text), final_answer(text), _stated(text)))


def after_marker(text: str, marker: str = "####") -> str | None:
    """Return the rest of the line behind the last marker; None without a marker, or with nothing behind it.

    A marker that begins with a letter or digit does not count inside a word: `A:` is not in `DNA:`.
    """
    boundary = r"(?<!\w)" if marker[:1].isalnum() else ""
    matches = list(re.finditer(rf"{boundary}{re.escape(marker)}([^\n]*)", text))
    return matches[-1][1].strip(_MARKDOWN) or None if matches else None


def the_answer_is(text: str) -> str | None:
    """Return the rest of the sentence behind the last `answer is`, without the dot; None if there is none.

    An option in parentheses stands alone: `(B)` for `the answer is (B) because ...`. Two of them, as in `(A) or (B)`,
    name none.
    """
    sentence = _stated(text)
    option = re.match(r"\([A-Za-z]\)", sentence or "")
    return None if option and names_another(option.string, option.end()) else sentence


def boxed(text: str) -> str | None:
    r"""Return the content of the last `\boxed{...}`, whose braces may be nested; None without a complete one."""
    opened: list[tuple[int, bool]] = []
    last = (-1, -1)
    for brace in _BRACE.finditer(text):
        if brace[0][-1] == "{" and (brace[1] or len(brace[0]) == 1):
            opened.append((brace.end(), bool(brace[1])))
        elif brace[0] == "}" and opened:
            start, is_box = opened.pop()
            last = max(last, (start, brace.start())) if is_box else last
    return text[slice(*last)].strip() or None if last[0] >= 0 else None


def first_letter(text: str, letters: str = LETTERS) -> str | None:
    """Return the first of these capital letters that stands alone, as in `B`, `(b)`, `B. desk` and `**B**`.

    The marked answer is read first, see `marked_answers`. `A` and `I` before another word are words. None without a
    letter, or if another one stands beside it: `B or C`. `letters` are those of the options, such as `ABCD`.
    """
    pattern = re.compile(_LETTER.format(letters=letters, lower=letters.lower()))
    for answer in (*marked_answers(text), text):
        if answer is not text and _FORMULA.search(answer):
            continue
        bare = answer.strip(" \t\r\n*_`\"'.,:;!?()[]")
        if len(bare) == 1 and bare.upper() in letters:
            return bare.upper()
        if match := pattern.search(answer):
            return None if names_another(answer, match.end()) else match[match.lastindex or 1].upper()
    return None


def named_label(text: str, labels: Sequence[str]) -> str | None:
    """Return the one of these labels that a text names, in any case; None if it names none or several.

    The marked answer is read first, see `marked_answers`. A label inside a word or inside a longer label does not
    count: `relevant` in `irrelevant` and in `not relevant`, if these are labels too.
    """
    longest_first = sorted(labels, key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(label)}(?!\w)" for label in longest_first), re.IGNORECASE)
    spelled = {label.casefold(): label for label in labels}
    for answer in (*marked_answers(text), text):
        named = {spelled.get(name.casefold()) for name in pattern.findall(answer)}
        if len(named) == 1:
            return named.pop()
    return None


def code(text: str) -> str | None:
    """Return the longest block between Markdown fences, or the whole text if it has none; None if that is empty.

    A block that is indented, as in a list, is shifted to the left.
    """
    return dedent(longest(text)).strip("\n").rstrip() or None


def _result(sentence: str, *, marked: bool) -> Fraction | None:
    _, equals, result = sentence.rpartition("=")
    values = list(numbers(_ASIDE.sub(r"\1;", result))) or list(numbers(result))
    if not values:
        return None
    if (marked or equals) and _NUMBER_FIRST.match(result):
        return values[0]
    duration = _DURATION.search(result)
    return last_value(duration[1]) if duration else values[-1]


def _stated(text: str) -> str | None:
    """The rest of the sentence behind the last `answer is`, or a single option at its beginning."""
    matches = list(_THE_ANSWER_IS.finditer(text))
    if not matches:
        return None
    line = text[matches[-1].end() :].lstrip().partition("\n")[0].strip(_MARKDOWN)
    option = re.match(r"\([A-Za-z]\)", line)
    if option and not names_another(line, option.end()):
        return option[0]
    sentence = _SENTENCE_END.split(line, maxsplit=1)[0].strip(_MARKDOWN)
    return sentence.removesuffix(".").strip(_MARKDOWN) or None


def _behind_hashes(text: str) -> str | None:
    """The text behind the last `####` if it begins with a number: elsewhere it is a heading of Markdown."""
    answer = after_marker(text)
    return answer if answer is not None and _NUMBER_NOT_STEP.match(answer) else None


def _last_line(text: str) -> str | None:
    """The text behind `A:` in the last line; in other lines it may be an option, or the name of a thing."""
    match = re.fullmatch(r"[ \t*_`>]*A[*_`]*:(.*)", text.rstrip().rpartition("\n")[2])
    return match and match[1].strip(_MARKDOWN)
