"""Preparation of a model's reply for the parser. Pure text: no file, no model, no scenario.

    <think>Nobody can log in, so ...</think>
    The outage hits everyone.
    **Answer:** Critical

`strip_reasoning` removes the first line, `own_words` repeated data and invented turns; `final_answer` then returns
`Critical`. A reply that the limit of tokens or of the context cut off has an answer if its last word does not matter:

    The story points are 1           of 13? No answer.
    The story points are 3. Becau    3: it is also read without the last word, which may be incomplete.
    Critical                         Critical: a label that is all of the last line, unless another one begins with it

The model continues the cue `A:`, so its reply is ` Berlin.`, which a ground truth `A: Berlin.` would never equal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

#: The point values that agile teams estimate with.
FIBONACCI = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89)

#: Marks around thoughts, of the models whose replies are published. The engine writes those of its model as `<think>`.
_TAG = re.compile(
    r"""(?P<opens> <(?:\w+:)?(?:think|thinking|reasoning)(?::\w+)?> | \[THINK\] | <\|START_THINKING\|>
                | <\|channel>thought\b | (?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)<\|message\|>
                | <\|think\|> )
      | </(?:\w+:)?(?:think|thinking|reasoning)(?::\w+)?> | \[/THINK\] | <\|END_THINKING\|> | <channel\|>
      | (?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>
      | <\|end\|><\|begin\|>assistant<\|content\|>""",
    re.IGNORECASE | re.VERBOSE,
)
_MARKER = re.compile(
    r"""(?: ^ [\s>#*_`\-+\u2022]* (?:\d+[.)][\s*_`]*)?         # quote, heading, bold, bullet, step number
          | [.!?] ["')\]*_`]* \s+ [*_`]* )                    # or behind a sentence
        (?:the\s+)? (?:final\s+)? answer (?:\s+is)? [*_`]*
        (?: \s* [:\uFF1A] | (?= [*_`#\s]* $ ) )              # a heading needs no colon""",
    re.IGNORECASE | re.VERBOSE,
)
#: The model's own role, as a base model repeats it.
_ROLE = re.compile(r"\A\s*assistant\s*:", re.IGNORECASE)
#: The beginning of a turn that the model invented.
_INVENTED = re.compile(
    r"(?: ^ | [.!?] [ \t] ) [>#*_` \t]* (?: user | human | question | (?-i:Q) ) [*_` \t]* [:\uFF1A]",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_MARKDOWN = "*_`# \t\r"
_SIGNS = " \t\r*_`\"'.!#()"


def strip_reasoning(text: str) -> str:
    """Return the text without the reasoning blocks of a reasoning model.

    An unclosed block extends to the end of the text; a closing tag without an opening one ends a block
    that began before the text (many chat templates put the opening tag into the prompt).
    """
    kept, rest, thinking = _outside_thoughts(text)
    # A blank separates the words before and after a block.
    return " ".join([*kept, *([] if thinking else [rest])]).strip()


def in_thoughts(text: str) -> bool:
    """Whether a reply ends inside a reasoning block."""
    return _outside_thoughts(text)[2]


def _outside_thoughts(text: str) -> tuple[list[str], str, bool]:
    """The texts before reasoning blocks, the text behind the last mark, and whether this one opens a block."""
    # A mark begins with one of these; a search of a long text for marks takes as long as all other reading.
    if "<" not in text and "[" not in text:
        return [], text, False
    kept: list[str] = []
    position, thinking = 0, False
    for tag in _TAG.finditer(text):
        if not tag["opens"]:
            if not thinking:
                kept.clear()
            thinking = False
        elif not thinking:
            kept.append(text[position : tag.start()])
            thinking = True
        position = tag.end()
    return kept, text[position:], thinking


def own_words(text: str, tags: Sequence[str] = ()) -> str:
    """Return the text without a copy of the question's data, up to the first invented turn.

    `tags` are those around the data in the prompt. A reply may begin with a copy of the data, each tag once: from an
    opening tag, or a line `Title:`, to the closing tag or an `Answer:` line. After own words, or the second time, a tag
    opens an invented question, as `User:`, `Human:`, `Question:` and `Q:` always do.
    """
    if invented := _INVENTED.search(text):
        text = text[: invented.start() + 1] if text[invented.start()] in ".!?" else text[: invented.start()]
    text = _ROLE.sub("", text)
    if not tags:
        return text
    opening, closing = _around_data(tuple(tags))
    seen: set[str] = set()
    while data := opening.search(text):
        before, tag = text[: data.start()], data[0].strip().casefold()
        if before.strip() or tag in seen:
            return before
        seen.add(tag)
        end = closing.search(text, data.end())
        text = "" if end is None else text[end.end() :]
    return text


@cache
def _around_data(tags: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The patterns of the beginning and the end of a copy of data between tags."""
    names, flags = "|".join(map(re.escape, tags)), re.IGNORECASE | re.MULTILINE
    opening = re.compile(rf"<(?:{names})\b[^>]*(?:>|$)|^[ \t>#*_`]*title[*_`]*[ \t]*:", flags)
    return opening, re.compile(rf"</(?:{names})>|^(?=[ \t*_`]*(?:final\s+)?answer[*_`]*[ \t]*:)", flags)


def final_answer(text: str) -> str | None:
    """Return the text after the last `Answer:` at the start of a line or after a sentence; `None` without one.

    Markdown around it, `Final answer:` and `The answer is:` are understood. If the marker is alone on its line, the
    next line with text is the answer.
    """
    lines = text.splitlines()
    for number in range(len(lines) - 1, -1, -1):
        if markers := list(_MARKER.finditer(lines[number])):
            candidates = (lines[number][markers[-1].end() :], *lines[number + 1 :])
            return next(filter(None, (line.strip(_MARKDOWN) for line in candidates)), None)
    return None


def snap_fibonacci(value: float) -> float:
    """Return the point value within 1 of `value`: the nearest, the lower one on a tie; else `value` itself."""
    nearest = min(FIBONACCI, key=lambda point: (abs(point - value), point))
    return float(nearest) if abs(nearest - value) <= 1 else value


def without_last_word(text: str) -> str:
    """Return a text without the word that it ends with; all of it if it ends with white space."""
    *_, last = text.rsplit(maxsplit=1) or [""]
    return text[: len(text) - len(last)] if text.endswith(last) else text


def ends_in(text: str, answers: Sequence[str]) -> bool:
    """Return True if the last line or its `Answer:` is one of these answers, and the beginning of no other one.

    A letter is no beginning of a word, which is rarely cut off behind its first letter.
    """
    line = text.rstrip().rpartition("\n")[2]
    last = (final_answer(line) or line).strip(_SIGNS).casefold()
    one_letter = len(last) == 1 and last.isalpha()
    begun = {answer.casefold() for answer in answers if answer.casefold().startswith(last)}
    return {answer for answer in begun if not (one_letter and answer[1:2].isalpha())} == {last}


def extends(text: str, beginning: str | None) -> bool:
    """Return True if a text goes on where another one ends, which is not empty."""
    return bool(beginning) and text.startswith((beginning or "").rstrip())


def begins_with(text: str, cue: str) -> bool:
    """Return True if a text begins with the cue; the cue `A` begins no `Athens`."""
    cue, text = cue.strip(), text.lstrip()
    if not cue or not text.startswith(cue):
        return False
    following = text[len(cue) : len(cue) + 1]
    return not (cue[-1].isalnum() and following.isalnum())


def after_cue(text: str, cue: str) -> str:
    """Return the text after the cue at its beginning, without surrounding space."""
    return text.lstrip().removeprefix(cue.strip()).strip()
