"""Statements in which a reply chooses an answer, and does not only mention one. Pure text.

The priority of an issue is Critical.         Critical
Critical, Major, Minor or Trivial             none: the list of the labels
This matters more than a minor issue.         none: only mentioned
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from pytest_puma.replies.answers import own_words

_SIGNS = r"""[\s"'*_`()\[\]{}]*"""
#: Number of different replies whose answers are kept.
_REPLIES = 1_000
#: A longer run of signs says no more than its ends, and its length would count to the third power in the search.
_RUN = re.compile(r"""[\s"'*_`()\[\]{}]{13,}""")
# An answer is followed by the end, a sign or a reason, never by a noun: "Critical data is lost", "3 days".
_END = r"""(?= ["'*_`()\[\]{}]* (?: \s* (?: \Z | \n | [.!;,] (?!\d) | [-\u2013\u2014] \s | \( | </ )
    | \s+ (?: and | as | because | but | due | given | over | rather | since | so ) \b ) )"""
_NOUN = r"""(?: ["'*_`]* \s+ (?:bug|defect|issue|one|priority|ticket) )?"""
# "This is a critical issue that ...": after the noun the sentence may continue.
_NOUN_AND_MORE = r"""(?: ["'*_`]* \s+ (?:bug|defect|issue|ticket) \s+ (?:for|in|of|on|that|to|with|\w+ing) \b )"""

# "The priority" "of this issue" "is clearly" ...
_OF = r"(?: \s+ (?:of|for) \s+ (?:an?|the|this|that) \s+ (?:bug|issue|item|one|story|task|ticket) )?"
_IS = r"""(?: \s+ \d{1,2} (?= \s* : ) )?
    (?: ["'*_`)]* (?: \s+ (?: is | are | was | (?:must|should|will|would) \s+ be | seems (?:\s+to\s+be)? ) \b
        | \s*[:=] | ['\u2019]s\b ) | \s*\{ ) [\s"'*_`(\[{:]*
    (?: (?: about | an? | around | at | (?:actual|certain|clear|definite|obvious|probab|real)ly | likely | of | quite
        | set\s+to | the | very | (?:\w+ \s+)? (?:case|example) \s+ of ) \s+ )* ["'*_`(]*"""
# "I would go with", "classified as", "therefore it's" ...
_CHOOSE = r"""\b(?: assign | choose | estimate | give | guess | pick | say | select | (?:go|going) \s+ with
    | vote \s+ for | worth )
    (?: \s+ (?:about|an?|around|answer|issue|it['\u2019]s|label|option|priority|the|ticket) )*"""
_CALL = r"""\b(?: call | class(?:ify|ified) | consider | deem | estimate | give | label | mark | prioriti[sz]e | rate
    | score | size )(?:e?d|s)?
    (?: \s+ (?:about|an?|as|at|it|one|that|the|this|to|to\s+be|bug|issue|item|story|task|ticket) )+"""
_SO = r"""\b(?: hence | so | therefore | thus ) [,:]? (?: \s+ (?:an?|it['\u2019]s) )*"""

_DENIED = r"\b(?: not | never | nor | over | than | instead\s+of ) (?: \s+ (?:an?|as|be|of|the) )* \s+"
_JOIN = r"(?: , | ; | / | \| | [-\u2013\u2014] | \bor\b | \band\b | \bto\b | \bvs\b )"
# A condition or a question decides nothing.
_CLAUSE = re.compile(r"\b(?:how|if|unless|what|when|whether|which|why)\b[^.,;:!?\n]*", re.IGNORECASE)


@dataclass(frozen=True)
class Statements:
    """The statements about one kind of answer.

    `label`: a verbose pattern of an answer. `subjects`: a pattern of the subjects of a statement. `normal`: the answer
    of a match of `label`, `None` if it is none. `tags`: those around the data in the prompt. `more`:
    a pattern of further statements, whose last group is the label.
    """

    label: str
    subjects: str
    normal: Callable[[str], str | None]
    tags: tuple[str, ...]
    more: str = r"(?!)"

    def decided(self, reply: str) -> str | None:
        """Return the answer that is the whole reply or is stated in it; `None` if statements contradict each other."""
        return self._found(reply, "statement", "more")

    def answered(self, reply: str) -> str | None:
        """Like `decided`, for a reply that should be the answer alone: it may also open a line or a sentence."""
        return self._found(reply, "statement", "more", "opening", "bullet")

    @cached_property
    def _found(self) -> Callable[..., str | None]:
        """`_one_of`, which most samples of a cell ask about one of a few short replies."""
        return lru_cache(maxsize=_REPLIES)(self._one_of)

    def _one_of(self, reply: str, *patterns: str) -> str | None:
        text = self._decisive(own_words(reply, self.tags))
        names = ("mention",) if self._patterns["bare"].fullmatch(text) else patterns
        answers = {answer for name in names for answer in self._answers(name, text)}
        return answers.pop() if len(answers) == 1 else None

    def _decisive(self, text: str) -> str:
        """The text without lists of different answers, denied ones, conditions and questions."""
        lines = (" ".join(line.split()) for line in text.splitlines())
        text = _RUN.sub(lambda run: run[0][:6] + run[0][-6:], "\n".join(filter(None, lines)))
        text = self._patterns["list"].sub(
            lambda part: " " if len(set(self._answers("mention", part[0]))) > 1 else part[0], text
        )
        return _CLAUSE.sub(" ", self._patterns["denied"].sub(" ", text))

    def _answers(self, pattern: str, text: str) -> Iterator[str | None]:
        return (self.normal(match[match.lastindex or 0]) for match in self._patterns[pattern].finditer(text))

    @cached_property
    def _patterns(self) -> Mapping[str, re.Pattern[str]]:
        """The compiled patterns, by name."""
        decides = rf"\b(?:{self.subjects}) {_OF} {_IS} | (?: {_CHOOSE} | {_CALL} | {_SO} ) [\s:\"'*_`(]*"
        start = r"""(?: ^ [\s>#"'*_`(\[{]* | [.!] \s+ ["'*_`(]* ) (?: <(?:answer|label|priority)> \s* )?
            (?: (?:about|an?|around|roughly) \s+ )?"""
        patterns = {
            "mention": self.label,
            "bare": rf"[\W_]* (?: {self.label} [\W_]* )+",
            "list": rf"{self.label} (?: {_SIGNS} (?: {_JOIN} {_SIGNS} )+ {self.label} )+",
            "denied": rf"{_DENIED} {_SIGNS} {self.label}",
            "statement": rf"(?: {decides} ) ({self.label}) (?: {_NOUN_AND_MORE} | {_NOUN} {_END} )",
            "more": self.more,
            "opening": rf"{start} ({self.label}) {_NOUN} (?: {_END} | [*_`]* \s* : (?= \s ) )",
            # Not before a colon: "- Critical: data loss" repeats the prompt.
            "bullet": rf"""^ \s* [-\u2022] \s+ ["'*_`]* ({self.label}) {_END}""",
        }
        flags = re.IGNORECASE | re.MULTILINE | re.VERBOSE
        return {name: re.compile(pattern, flags) for name, pattern in patterns.items()}
