"""An informal register, as in a chat: contractions, chatty words, fillers."""

from __future__ import annotations

import re
from random import Random

#: Share of the sentences after the first that begin with a filler.
_FILLED = 1 / 3

CHATTY = {
    "i am": "i'm",
    "i have": "i've",
    "we are": "we're",
    "we have": "we've",
    "they are": "they're",
    "it is": "it's",
    "that is": "that's",
    "there is": "there's",
    "what is": "what's",
    "is not": "isn't",
    "are not": "aren't",
    "was not": "wasn't",
    "were not": "weren't",
    "do not": "don't",
    "does not": "doesn't",
    "did not": "didn't",
    "has not": "hasn't",
    "have not": "haven't",
    "had not": "hadn't",
    "can not": "can't",
    "cannot": "can't",
    "could not": "couldn't",
    "would not": "wouldn't",
    "should not": "shouldn't",
    "will not": "won't",
    "going to": "gonna",
    "want to": "wanna",
    "have to": "gotta",
    "kind of": "kinda",
    "because": "cuz",
    "please": "pls",
    "thanks": "thx",
    "thank you": "thx",
    "you": "u",
    "your": "ur",
    "although": "tho",
    "though": "tho",
    "therefore": "so",
    "however": "but",
    "furthermore": "plus",
    "moreover": "plus",
    "additionally": "also",
    "in addition": "also",
    "for example": "like",
    "approximately": "around",
    "immediately": "right away",
    "currently": "rn",
    "sometimes": "every now and then",
    "people": "folks",
    "everyone": "everybody",
    "receive": "get",
    "received": "got",
    "receives": "gets",
    "obtain": "get",
    "require": "need",
    "requires": "needs",
    "attempt": "try",
    "attempted": "tried",
    "examine": "check out",
    "discovered": "found out",
    "remove": "get rid of",
    "occurs": "pops up",
    "occurred": "popped up",
    "appears": "shows up",
    "application": "app",
    "applications": "apps",
    "configuration": "config",
    "database": "db",
    "documentation": "docs",
    "repository": "repo",
    "environment": "env",
    "information": "info",
    "administrator": "admin",
    "administrators": "admins",
    "message": "msg",
    "messages": "msgs",
    "very": "super",
    "really": "rly",
}
_FORMAL = re.compile(rf"\b(?:{'|'.join(sorted(CHATTY, key=len, reverse=True))})\b", re.IGNORECASE)
OPENERS = ("hey, ", "hi folks, ", "so ", "ok so ", "heads up, ", "yo, ", "hello again, ")
FILLERS = ("anyway, ", "btw ", "tbh ", "well, ", "i mean, ", "like i said, ", "ngl ", "so yeah, ")
#: The first word of the text, or of a later sentence.
_START = re.compile(r"(\A|(?<=[.!?])\s+)([^\W\d_]+)")


def informal(text: str, random: Random) -> str:
    """Add a greeting, contractions, chatty words and some fillers; sentences begin in lower case."""

    def begin(match: re.Match[str]) -> str:
        if match.start():
            filler = random.choice(FILLERS) if random.random() < _FILLED else ""
        else:
            filler = random.choice(OPENERS)
        word = match[2].lower() if match[2].istitle() else match[2]
        return f"{match[1]}{filler}{word}"

    return _START.sub(begin, _FORMAL.sub(_chatty, text))


def _chatty(match: re.Match[str]) -> str:
    # The pattern matches a long s (U+017F) as an s, but the table does not contain it.
    return CHATTY.get(match[0].lower(), match[0])
