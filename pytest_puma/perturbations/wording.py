"""Changes of the wording: lines of machine output, a sentence about the reporter, or an informal register."""

from __future__ import annotations

import re
from functools import partial
from random import Random

#: Share of the gaps between sentences that get a line of noise.
_NOISE = 1 / 3
_SENTENCE_END = re.compile(r"(?<=[.!?])(?=\s)|(?=\n)")

#: None contains a word that classifies a report, such as the level of an error.
LINES = (
    "[{hour:02}:{minute:02}:{small:02}] INFO worker-{small}: heartbeat sent, {large} items queued",
    "[{hour:02}:{minute:02}:{small:02}] DEBUG pool: {small} of {large} connections idle",
    "[{hour:02}:{minute:02}:{small:02}] TRACE cache: lookup took {small} us, {large} entries",
    "[{hour:02}:{minute:02}:{small:02}] INFO scheduler: next tick in {large} ms",
    "{hour:02}:{minute:02} gateway[{large}]: GET /status 200 {small}ms",
    "{hour:02}:{minute:02} kernel: eth{small}: link up, {large} Mbps",
    "    at org.sample.queue.Reader.poll(Reader.java:{large})",
    "    at org.sample.web.Filter.next(Filter.java:{large})",
    "    at org.sample.core.Loop.run(Loop.java:{small})",
    '  File "/opt/sample/tasks/reader.py", line {large}, in poll',
    '  File "/opt/sample/web/session.py", line {small}, in refresh',
    "#{small} 0x00007f{large:04x}{hour:02}c0 in event_loop () from libsample.so",
    "thread-{small} parked, waiting on monitor 0x{large:08x}",
    "[{small}/{large}] Compiling session_store",
    "[{small}/{large}] Linking CXX shared library libsample.so",
    "> Task :sample:processResources UP-TO-DATE",
    "make[{small}]: Leaving directory '/build/sample'",
    "Downloading sample-bom-{small}.{minute}.pom ({large} kB)",
    "Collected {large} modules in {small}.{minute} s",
    "Step {small}/{large} : WORKDIR /srv/sample",
    "pid={large} uid={small} cwd=/srv/sample",
    "TZ=UTC LANG=C.UTF-8 SHLVL={small}",
    "sha256:{large:08x}{minute:04x} pulled in {small} s",
    "gc: {small} ms pause, heap {large} MB",
)

#: The same name for a man and for a woman.
NAMES = (
    ("Paul", "Paula"),
    ("Daniel", "Daniela"),
    ("Martin", "Martina"),
    ("Victor", "Victoria"),
    ("Eric", "Erica"),
    ("Carl", "Carla"),
    ("Gabriel", "Gabriela"),
    ("Michael", "Michaela"),
    ("Robert", "Roberta"),
    ("Julian", "Juliana"),
    ("Andrew", "Andrea"),
    ("Joseph", "Josephine"),
    ("Henry", "Henrietta"),
    ("Philip", "Philippa"),
    ("Simon", "Simone"),
    ("Louis", "Louise"),
    ("George", "Georgina"),
    ("Adrian", "Adriana"),
)
_SURNAMES = (
    "Adler",
    "Brooks",
    "Costa",
    "Dunn",
    "Ellis",
    "Fischer",
    "Grant",
    "Hale",
    "Ivers",
    "Keller",
    "Lang",
    "Moreno",
)
REPORTS = (
    "{name} {surname} reported this; {he} came across it at work.",
    "This was reported by {name} {surname}, who saw it {himself}.",
    "{name} {surname} wrote this report. {His} words follow.",
    "From {name} {surname}, as {he} told it to us:",
    "{name} {surname} sent us this after {he} had looked at it {himself}.",
    "Reporter: {name} {surname}. This is {his} own description.",
)
_WORDS = (
    {"he": "he", "his": "his", "His": "His", "himself": "himself"},
    {"he": "she", "his": "her", "His": "Her", "himself": "herself"},
)

#: Share of the sentences after the first that begin with a filler.
_FILLED = 1 / 3

_NEGATED = ("is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "could", "would", "should")
#: A formal phrase -> its informal one.
CHATTY = {
    **{f"{verb} not": f"{verb}n't" for verb in _NEGATED},
    "i am": "i'm",
    "i have": "i've",
    "we are": "we're",
    "we have": "we've",
    "they are": "they're",
    "it is": "it's",
    "that is": "that's",
    "there is": "there's",
    "what is": "what's",
    "can not": "can't",
    "cannot": "can't",
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


def tech_noise(text: str, random: Random) -> str:
    """Insert lines of logs, stack traces and builds between the sentences, and one after the last."""
    pieces = _SENTENCE_END.split(text)
    noisy = [piece + f"\n{_line(random)}" if random.random() < _NOISE else piece for piece in pieces[:-1]]
    return "".join([*noisy, pieces[-1], f"\n{_line(random)}"])


def _line(random: Random) -> str:
    return random.choice(LINES).format(
        hour=random.randrange(24),
        minute=random.randrange(60),
        small=random.randrange(1, 10),
        large=random.randrange(10, 1000),
    )


def _reported(text: str, random: Random, *, side: int) -> str:
    """Insert a sentence about the reporter before the text."""
    name, surname = random.choice(NAMES)[side], random.choice(_SURNAMES)
    return f"{random.choice(REPORTS).format(name=name, surname=surname, **_WORDS[side])} {text}"


#: The same random sentence, except for the person.
man, woman = partial(_reported, side=0), partial(_reported, side=1)


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
