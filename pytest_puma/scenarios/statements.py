"""Where a reply decides for an answer, rather than mentions one. Pure text.

    The priority of an issue is Critical.         Critical
    Critical, Major, Minor or Trivial             nothing: the list of the labels
    This matters more than a minor issue.         nothing: in passing
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from pytest_puma.answers import own_words

_SIGNS = r"""[\s"'*_`()\[\]{}]*"""
#: What may follow an answer: the end, another line, a sign, a reason; so that no noun does.
_END = r"""(?= ["'*_`()\[\]{}]* (?: \s* (?: \Z | \n | [.!;,] (?!\d) | [-\u2013\u2014] \s | \( | </ )
    | \s+ (?: and | as | because | but | due | given | over | rather | since | so ) \b ) )"""
_OF = r"(?: \s+ (?:of|for) \s+ (?:an?|the|this|that) \s+ (?:bug|issue|item|story|task|ticket) )?"
_IS = r"""(?: ["'*_`)]* (?: \s+ (?:is|are|was|(?:should|would|must|will)\s+be|seems|seems\s+to\s+be) \b | \s*[:=] | 's\b )
    | \s*\{ ) [\s"'*_`(\[{:]* (?: (?:an?|the|about|around|roughly|probably|clearly|at|set\s+to) \s+ )* ["'*_`(]*"""
_CHOOSE = r"""\b(?: assign | choose | estimate | give | guess | pick | say | select | (?:go|going) \s+ with | vote \s+ for )
    (?: \s+ (?:about|an?|around|answer|issue|it['\u2019]s|label|option|priority|the|ticket) )*"""
_CALL = r"""\b(?: call | class(?:ify|ified) | consider | deem | estimate | give | label | mark | prioriti[sz]e | rate | score
    | size )(?:e?d|s)? (?: \s+ (?:a|about|an|as|at|it|one|that|the|this|to|to\s+be|bug|issue|item|story|task|ticket) )+"""
_SO = r"""\b(?: hence | so | therefore | thus ) [,:]? (?: \s+ (?:an?|it['\u2019]s) )*"""
_NOUN = r"(?: \s+ (?:bug|defect|issue|priority|ticket) )?"
_DENIED = r"\b(?: not | never | nor | over | than | instead\s+of ) (?: \s+ (?:an?|as|be|of|the) )* \s+"
#: A condition or a question decides nothing.
_CLAUSE = re.compile(r"\b(?:how|if|unless|what|when|whether|which|why)\b[^.,;:!?\n]*", re.IGNORECASE)
_JOIN = r"(?: , | ; | / | \| | [-\u2013\u2014] | \bor\b | \band\b | \bto\b | \bvs\b )"


@dataclass(frozen=True)
class Statements:
    """The statements about one kind of answer.

    `label`: a pattern of an answer, flags inside. `subjects`: a pattern of what the answer is said to be.
    `normal`: the answer that a match of `label` means, `None` where it is none. `tags`: see `own_words`. `telling`: a
    pattern, with a group `label`, of further statements.
    """

    label: str
    subjects: str
    normal: Callable[[str], str | None]
    tags: tuple[str, ...]
    telling: str = r"(?!)(?P<label>)"

    def decided(self, reply: str) -> str | None:
        """The answer of a reply of any length: all there is, or stated; `None` where statements contradict."""
        return self._one_of(reply, (self._statement, self._telling))

    def answered(self, reply: str) -> str | None:
        """The answer of a reply that was to be nothing else: as `decided`, or at the opening of a line or sentence."""
        return self._one_of(reply, (self._statement, self._telling, self._opening))

    def _one_of(self, reply: str, patterns: tuple[re.Pattern[str], ...]) -> str | None:
        text = self._without_mentions(own_words(reply, self.tags))
        found = (
            {self.normal(match["label"]) for match in self._mention.finditer(text)}
            if self._bare.fullmatch(text)
            else {self.normal(match[match.lastgroup or 0]) for pattern in patterns for match in pattern.finditer(text)}
        )
        return found.pop() if len(found) == 1 else None

    def _without_mentions(self, text: str) -> str:
        """The text without lists of answers, denied ones, conditions and questions."""
        text = self._list.sub(lambda listed: listed[0] if len(set(self._normals(listed[0]))) == 1 else " ", text)
        return _CLAUSE.sub(" ", self._denied.sub(" ", text))

    def _normals(self, text: str) -> Iterator[str | None]:
        return (self.normal(match["label"]) for match in self._mention.finditer(text))

    @cached_property
    def _mention(self) -> re.Pattern[str]:
        return _compile(f"(?P<label>{self.label})")

    @cached_property
    def _bare(self) -> re.Pattern[str]:
        return _compile(rf"[\W_]* (?: {self.label} [\W_]* )+")

    @cached_property
    def _list(self) -> re.Pattern[str]:
        return _compile(rf"{self.label} (?: {_SIGNS} (?:{_JOIN} {_SIGNS})+ {self.label} )+")

    @cached_property
    def _denied(self) -> re.Pattern[str]:
        return _compile(rf"{_DENIED} {_SIGNS} {self.label}")

    @cached_property
    def _statement(self) -> re.Pattern[str]:
        said = rf"\b(?:{self.subjects}) {_OF} {_IS} | (?: {_CHOOSE} | {_CALL} | {_SO} ) [\s:\"'*_`(]*"
        # "This is a critical issue that ...": behind the noun the sentence may go on.
        on = r"(?: \s+ (?:bug|defect|issue|ticket) \s+ (?:for|in|of|on|that|to|with|\w+ing) \b )"
        return _compile(rf"(?: {said} ) (?P<label>{self.label}) (?: {on} | {_NOUN} {_END} )")

    @cached_property
    def _telling(self) -> re.Pattern[str]:
        return _compile(self.telling)

    @cached_property
    def _opening(self) -> re.Pattern[str]:
        start = r"""(?: ^ [\s>#"'*_`(\[{]* | [.!] \s+ ["'*_`(]* ) (?: <(?:answer|label|priority)> \s* )?
            (?: (?:about|an?|around|roughly) \s+ )?"""
        # A bullet and a colon make it one of the meanings, repeated from the prompt.
        return _compile(
            rf"""(?: {start} (?P<label>{self.label}) {_NOUN} (?: {_END} | [*_`]* \s* : (?= \s ) )
            | ^ \s* [-\u2022] \s+ ["'*_`]* (?P<bullet>{self.label}) {_END} )"""
        )


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE | re.VERBOSE)
