"""Replies that were cut off, by the limit of tokens or of the context. Pure text.

The story points are 1           of 13? No answer.
The story points are 3. Becau    3: it is also read without the last word, which may be incomplete.
Critical                         Critical: a label that is all of the last line, unless another label begins with it
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_puma.replies.answers import final_answer

_SIGNS = " \t\r*_`\"'.!#()"


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
