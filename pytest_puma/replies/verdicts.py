"""The verdict in a written reply of a judge: one of the allowed answers at its beginning, where a line or clause ends.

    yes                          Yes, as it is polite.          {"verdict": "yes"}          **Verdict:** yes

"A better one is B" states neither A nor B, and "5/10" neither 5 nor 10.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_MARKS = r"[\s\"'`*_.:(\[{<]"
#: Before an answer: marks, a heading, and the key under which the JSON schema of a server has it.
_BEGIN = rf"{_MARKS}*(?:(?:final\s)?(?:verdict|answer){_MARKS}+)?"
#: Behind an answer: closing marks, then the end of the line, or a mark that is no part of a number or a word.
_END = r"[\"'`*_)\]}>]*(?:\s*$|\s*\n|[.,:;!](?!\d)|\s+[-\u2013\u2014(}])"


def stated_verdict(text: str, answers: Sequence[str]) -> tuple[str, int] | None:
    """Return the answer that a reply without its thoughts states, and where it begins there; None if it states none."""
    longest_first = sorted(answers, key=len, reverse=True)
    listed = "|".join(f"({re.escape(answer)})" for answer in longest_first)
    found = re.match(f"{_BEGIN}(?:{listed}){_END}", text, re.IGNORECASE)
    if found is None or found.lastindex is None:
        return None
    return longest_first[found.lastindex - 1], found.start(found.lastindex)
