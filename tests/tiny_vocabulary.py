"""The byte-pair vocabulary of the tiny models, learned from a few sentences."""

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from typing import Final

CONTROL_TOKENS: Final = ("<bos>", "<|endoftext|>", "<|im_start|>", "<|im_end|>")
BOS, END_OF_TEXT, START_OF_TURN, END_OF_TURN = CONTROL_TOKENS
CORPUS: Final = """\
Severity: Critical. Severity: Major. Severity: Minor. Severity: Trivial. Severity: Blocker. The issue is Critical.
Critical, Major, Minor, Trivial, or Blocker? (Critical) (Major) (Critical) (Major) Answer: Minor Answer: Trivial
The server crashes when the user saves a file. The button has the wrong color in the settings dialog.
How many story points does this task need? Answer: 1 Answer: 2 Answer: 3 Answer: 5 Answer: 8 Answer: 13
Story points: 1 2 3 5 8 13 21. Points: 10 11 12 13 (13) (13) [13] [12] =13 =12
Which of A, B and C is the better answer? (A) (B) (C) AB [AB] (AB) A B C Answer: A Answer: B Answer: C
"""


@cache
def vocabulary() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tokens by id (256 bytes, merged ones, control tokens) and the merges by rank, as in 'Ġ1 3'."""
    merges = _learn_merges(CORPUS)
    return (*_byte_letters(), *(merge.replace(" ", "") for merge in merges), *CONTROL_TOKENS), merges


def _byte_letters() -> list[str]:
    """Return the visible character that stands for each byte in a GPT-2 vocabulary; a space is Ġ."""
    spare = iter(range(0x100, 0x200))
    return [letter if letter.isprintable() and letter != " " else chr(next(spare)) for letter in map(chr, range(256))]


def _learn_merges(corpus: str) -> tuple[str, ...]:
    """Byte-pair encoding (Sennrich et al. 2016): join the most frequent pair until each word is one token."""
    letters = _byte_letters()
    pieces = re.findall(r" ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+", corpus)
    words = [" ".join(letters[byte] for byte in piece.encode()) for piece in pieces]
    merges: list[str] = []
    while pairs := Counter(" ".join(pair) for word in words for pair in pairwise(word.split())):
        merge = max(pairs, key=lambda pair: (pairs[pair], pair))
        words = [re.sub(rf"(?<!\S){re.escape(merge)}(?!\S)", merge.replace(" ", ""), word) for word in words]
        merges.append(merge)
    return tuple(merges)
