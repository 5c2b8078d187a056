"""Statements in which a reply chooses an answer, and does not only mention one. Pure text.

The priority of an issue is Critical.         Critical
Critical, Major, Minor or Trivial             none: the list of the labels
This matters more than a minor issue.         none: only mentioned
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pytest_puma.replies.answers import own_words

_SIGNS = r"""[\s"'*_`()\[\]{}]*"""
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
        return self._one_of(reply, (self._statement, self._more))

    def answered(self, reply: str) -> str | None:
        """Like `decided`, for a reply that should be the answer alone: it may also open a line or a sentence."""
        return self._one_of(reply, (self._statement, self._more, self._opening, self._bullet))

    def _one_of(self, reply: str, patterns: Sequence[re.Pattern[str]]) -> str | None:
        text = self._decisive(own_words(reply, self.tags))
        patterns = (self._mention,) if self._bare.fullmatch(text) else patterns
        answers = {answer for pattern in patterns for answer in self._answers(pattern, text)}
        return answers.pop() if len(answers) == 1 else None

    def _decisive(self, text: str) -> str:
        """The text without lists of different answers, denied ones, conditions and questions."""
        lines = (" ".join(line.split()) for line in text.splitlines())
        text = _RUN.sub(lambda run: run[0][:6] + run[0][-6:], "\n".join(filter(None, lines)))
        text = self._list.sub(
            lambda part: " " if len(set(self._answers(self._mention, part[0]))) > 1 else part[0], text
        )
        return _CLAUSE.sub(" ", self._denied.sub(" ", text))

    def _answers(self, pattern: re.Pattern[str], text: str) -> Iterator[str | None]:
        return (self.normal(match[match.lastindex or 0]) for match in pattern.finditer(text))

    @cached_property
    def _mention(self) -> re.Pattern[str]:
        return _compile(self.label)

    @cached_property
    def _bare(self) -> re.Pattern[str]:
        return _compile(rf"[\W_]* (?: {self.label} [\W_]* )+")

    @cached_property
    def _list(self) -> re.Pattern[str]:
        return _compile(rf"{self.label} (?: {_SIGNS} (?: {_JOIN} {_SIGNS} )+ {self.label} )+")

    @cached_property
    def _denied(self) -> re.Pattern[str]:
        return _compile(rf"{_DENIED} {_SIGNS} {self.label}")

    @cached_property
    def _statement(self) -> re.Pattern[str]:
        decides = rf"\b(?:{self.subjects}) {_OF} {_IS} | (?: {_CHOOSE} | {_CALL} | {_SO} ) [\s:\"'*_`(]*"
        return _compile(rf"(?: {decides} ) ({self.label}) (?: {_NOUN_AND_MORE} | {_NOUN} {_END} )")

    @cached_property
    def _more(self) -> re.Pattern[str]:
        return _compile(self.more)

    @cached_property
    def _opening(self) -> re.Pattern[str]:
        start = r"""(?: ^ [\s>#"'*_`(\[{]* | [.!] \s+ ["'*_`(]* ) (?: <(?:answer|label|priority)> \s* )?
            (?: (?:about|an?|around|roughly) \s+ )?"""
        return _compile(rf"{start} ({self.label}) {_NOUN} (?: {_END} | [*_`]* \s* : (?= \s ) )")

    @cached_property
    def _bullet(self) -> re.Pattern[str]:
        """Like an opening, but not before a colon: "- Critical: data loss" repeats the prompt."""
        return _compile(rf"""^ \s* [-\u2022] \s+ ["'*_`]* ({self.label}) {_END}""")


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE | re.VERBOSE)
