"""The cue, with which a reply begins, and ground truths that repeat it.

The model continues the cue `A:`, so its reply is ` Berlin.` A ground truth `A: Berlin.` would never equal it.
"""

from __future__ import annotations


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
