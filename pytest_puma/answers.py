"""From a model's text to what a parser should read. Pure text: no file, no model, no scenario.

    <think>Nobody can log in, so ...</think>
    The outage hits everyone.
    **Answer:** Critical

`strip_reasoning` takes the first line away, `final_answer` then gives `Critical`.
"""

from __future__ import annotations

import re

#: The point values that agile teams estimate with.
FIBONACCI = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89)

_TAG = re.compile(r"<(?P<open>/?)(?:think|thinking|reasoning)>|\[(?P<bracket>/?)THINK\]", re.IGNORECASE)
_MARKER = re.compile(
    r"""^[\s>#*_`\-+\u2022]* (?:\d+[.)][\s*_`]*)?            # quote, heading, bold, bullet, step number
        (?:the\s+)? (?:final\s+)? answer (?:\s+is)? [*_`]* \s*
        (?: [:\uFF1A] (?P<rest>.*) | (?P<bare>[*_`#]*\s*$) ) # a heading may do without the colon""",
    re.IGNORECASE | re.VERBOSE,
)
_MARKDOWN = "*_`# \t\r"


def strip_reasoning(text: str) -> str:
    """The text without the blocks in which a reasoning model thinks.

    An unclosed block goes to the end of the text; a closing tag without an opening one ends a block
    that began before the text did (many chat templates put the opening tag into the prompt).
    """
    kept: list[str] = []
    position, thinking = 0, False
    for tag in _TAG.finditer(text):
        if tag["open"] or tag["bracket"]:
            if not thinking:
                kept.clear()
            thinking = False
        elif not thinking:
            kept.append(text[position : tag.start()])
            thinking = True
        position = tag.end()
    if not thinking:
        kept.append(text[position:])
    # A blank keeps the words on either side of a block apart.
    return " ".join(kept).strip()


def final_answer(text: str) -> str | None:
    """What stands behind the last line that starts with `Answer:`, or `None` when no line does.

    Markdown around it, `Final answer:` and `The answer is:` are understood. Where the marker stands
    alone on its line, the next line with text is the answer.
    """
    lines = text.splitlines()
    for number in range(len(lines) - 1, -1, -1):
        if marker := _MARKER.match(lines[number]):
            candidates = (marker["rest"] or "", *lines[number + 1 :])
            return next(filter(None, (line.strip(_MARKDOWN) for line in candidates)), None)
    return None


def snap_fibonacci(value: float) -> float:
    """The point value within 1 of `value`: the nearest, the lower one on a tie; else `value` itself."""
    nearest = min(FIBONACCI, key=lambda point: (abs(point - value), point))
    return float(nearest) if abs(nearest - value) <= 1 else value


def number_text(value: float) -> str:
    """A finite number as a person writes it: `3`, not `3.0`; `0.5` stays."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
