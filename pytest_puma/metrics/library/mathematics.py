r"""Metrics of answers in mathematics: numbers, compared exactly, and expressions, compared by algebra.

... 9 * 2 = 18               \boxed{(x+1)^2}
#### 18                      math_match with x^2+2x+1
number_match with 18
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

from pytest_puma.core import Prediction, Sample, SettingsError
from pytest_puma.core.prediction import changed
from pytest_puma.metrics.library.reading import best, completion_metric, unstripped
from pytest_puma.platform.processes import BoundedFunction
from pytest_puma.replies.answers import without_last_word
from pytest_puma.replies.numerals import number_of
from pytest_puma.replies.readers import after_marker, final_value, last_value, marked_answers

_Score: TypeAlias = Callable[[Sample, Prediction], "float | None"]
#: White space and Markdown.
_AROUND = " \t\r\n*`"
#: A power of 1/2 that is 0 for every purpose; that of a reply such as 1e999 is no float.
_MAX_EXPONENT = Fraction(1000)
#: A longer text is no expression.
_MAX_CHARACTERS = 1000
_equivalent = BoundedFunction(Path(__file__).with_name("bounded.py"), "equivalent", ("1", "1"))

#: Mathematics in a text: as TeX has it, so that "$5 and $6" has none. A second opening bracket begins anew, as a search
#: for the end from each of thousands would take minutes.
_SEGMENT = re.compile(
    r"""\$\$(.+?)\$\$ | \$(?![ ])([^$\n]+?)(?<![ ])\$(?!\d)
        | \\\(((?:(?!\\\().)+?)\\\) | (?<!\\)\\\[((?:(?!(?<!\\)\\\[).)+?)\\\]""",
    re.DOTALL | re.VERBOSE,
)
#: Commands of TeX and functions: letters that are no words.
_COMMAND = re.compile(
    r"""\\(?:text|textbf|mathrm|mathbf|mbox|begin|end)\s*\{[^{}]*\} | \\[A-Za-z]+
        | (?<![^\W\d_])(?:(?:a|arc)?(?:sin|cos|tan|cot|sec|csc)h? | log | exp | lim)(?![^\W\d_])""",
    re.VERBOSE,
)
#: A word of prose: it has three letters, or two and a blank between it and other letters or digits, or is a speed.
_PROSE = re.compile(
    r"[^\W\d_]{3,} | [^\W\d_]{2}(?=[ ]+[^\W_]) | (?<=[^\W_])[ ]+[^\W\d_]{2,} | (?<=\d)[ ]+[^\W\d_]+/[sh](?!\w)",
    re.VERBOSE,
)
_UNWRAPPED = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox)\s*\{([^{}]*)\}")
_INVISIBLE = re.compile(r"\\[!,;: ]|\\(?:left|right|displaystyle|quad)(?![A-Za-z])|\\?\$|[\s~]|\^\{?\\circ\}?")
_WORDS = re.compile(r"(?=.*[^\W\d_]{4})(?:[^\W\d_]|[ .,'-])+")
_PLAIN = (
    (re.compile(r"\\?\$"), ""),
    (re.compile(r"\n"), " "),
    (re.compile(r"(?<!\\)sqrt\s*\(([^()]*)\)"), r"\\sqrt{\1}"),
    (re.compile(r"(?<![\\A-Za-z])pi(?![A-Za-z])"), r"\\pi "),
    (re.compile(r"(?<![\\A-Za-z])inf(?:inity|ty)(?![A-Za-z])"), r"\\infty "),
    (re.compile(r"\*\*"), "^"),
    (re.compile(r"(?<!\\)\*"), r"\\cdot "),
)


def number_match(sample: Sample, prediction: Prediction) -> float | None:
    """Return 1 if the number that a reply ends with or marks as its answer equals a reference, else 0.

    A reference is a number, or a solution that ends with one behind `####`. Raises a `SettingsError` for another one.
    """
    golds = _golds(sample, "number_match")
    return float(final_value(prediction.text) in golds) if golds else None


def percentage_similarity(sample: Sample, prediction: Prediction) -> float | None:
    """Return 2 ** (-10 * |difference|) for the percentages of a reply and a reference; 0 for a reply without a number.

    Source: the exponential similarity of SpaceDigest in U. Shaham et al., "ZeroSCROLLS", 2023.
    """
    golds, answer = _golds(sample, "percentage_similarity"), final_value(prediction.text)
    if not golds or answer is None:
        return 0.0 if golds else None
    exponent = min(_MAX_EXPONENT, *(abs(answer - gold) / 10 for gold in golds))
    return float(0.5 ** float(exponent))


def math_match(text: str, reference: str) -> float:
    """Return 1 if the expression that a text marks as its answer is proven equal to the reference, else 0.

    A comparison that needs over 5 seconds of computing or 1 GiB proves nothing.
    """
    gold, answer = _expression(reference), _expression(_answer(text))
    same = _quickly_equal(gold, answer)
    if same is not None:
        return float(same)
    expected = number_of(gold)
    is_bare = expected is not None and number_of(answer) is None and _is_bare(text)
    has_words = _PROSE.search(_COMMAND.sub(r"\\", answer)) is not None
    proven = "unreadable" if is_bare and has_words else _compared(gold, answer)
    if is_bare and proven == "unreadable":
        return float(last_value(text) == expected)
    return float(proven is True)


def equal(reference: str, answer: str) -> bool:
    """Whether two expressions are proven equal."""
    gold, found = _expression(reference), _expression(answer)
    same = _quickly_equal(gold, found)
    return _compared(gold, found) is True if same is None else same


def _quickly_equal(gold: str, answer: str) -> bool | None:
    """Whether two expressions are equal, for texts and plain numbers; None for others."""
    if not gold or not answer:
        return False
    if _bare(gold) == _bare(answer):
        return True
    expected, number = number_of(gold), number_of(answer)
    return None if expected is None or number is None or "%" in gold + answer else number == expected


def _compared(gold: str, answer: str) -> bool | str | None:
    """Whether two expressions are proven equal; "unreadable" for an answer that is none."""
    if any(len(text) > _MAX_CHARACTERS or _is_words(text) for text in (gold, answer)):
        return False
    equal: bool | str | None = _equivalent(gold, answer)
    return equal


def _golds(sample: Sample, metric: str) -> list[Fraction]:
    return [_gold(sample, reference, metric) for reference in sample.references]


def _gold(sample: Sample, reference: str, metric: str) -> Fraction:
    value = number_of(reference)
    if value is None:
        value = number_of(after_marker(reference) or "")
    if value is None:
        msg = (
            f"{metric}: {reference!r} of sample {sample.id!r} is no number; expected a ground truth such as '18', "
            "'1,250.5' or '2/3', or a solution with '#### 18' at its end; return it from the scenario's truth(item)"
        )
        raise SettingsError(msg)
    return value


def _answer(text: str) -> str:
    """The answer that a text marks, else its last mathematics, else the end of its last line, or all of it."""
    marked = next(marked_answers(text), None)
    segments = _segments(text if marked is None else marked)
    if segments:
        return segments[-1] if marked is None else ", ".join(segments)
    return _bare_answer(text) if marked is None else marked


def _bare_answer(text: str) -> str:
    """The last line, or the first environment of TeX, behind its last word; all of the text if nothing is there."""
    before, begin, environment = text.strip(_AROUND).partition("\\begin")
    line = begin + environment or before.rpartition("\n")[2]
    bare = _COMMAND.sub(lambda command: "\\" * len(command[0]), line)
    end = max((word.end() for word in _PROSE.finditer(bare)), default=0)
    behind = line[end:].strip(" :")
    return behind if any(map(str.isalnum, behind)) else text


def _is_bare(text: str) -> bool:
    """Whether a text neither marks an answer nor has mathematics."""
    return next(marked_answers(text), None) is None and not _segments(text)


def _segments(text: str) -> list[str]:
    return [next(filter(None, match.groups())) for match in _SEGMENT.finditer(text)]


def _is_words(expression: str) -> bool:
    """Whether an expression is made of words, which are no products of letters: "Monday" is not "dynamo"."""
    return _WORDS.fullmatch(_UNWRAPPED.sub(r"\1", expression)) is not None


def _expression(text: str) -> str:
    """An expression in LaTeX, also if a text has it as `sqrt(2)*pi`."""
    text = text.strip(_AROUND).rstrip(".")
    for plain, latex in _PLAIN:
        text = plain.sub(latex, text)
    return text.strip()


def _bare(expression: str) -> str:
    """The expression without what only changes its looks."""
    unwrapped = _UNWRAPPED.sub(r"\1", expression)
    return re.sub(r"\\[dt]frac(?![A-Za-z])", r"\\frac", _INVISIBLE.sub("", unwrapped))


def decided(score: _Score) -> _Score:
    """Return a score function that gives 0 to a cut reply unless it marks its answer before the last word.

    That word may be incomplete, so the score without it counts too: `#### 1` may be the beginning of `#### 18`.
    """

    def of_decided(sample: Sample, prediction: Prediction) -> float | None:
        value = score(sample, prediction)
        if not value or not prediction.truncated:
            return value
        shorter = without_last_word(unstripped(prediction))
        if next(marked_answers(shorter), None) is None:
            return 0.0
        return min(value, score(sample, changed(prediction, reply=shorter)) or 0.0)

    return of_decided


METRICS = (
    completion_metric(name="number_match", score=decided(number_match)),
    completion_metric(name="percentage_similarity", score=decided(percentage_similarity)),
    completion_metric(name="math_match", score=decided(best(math_match)), extra="math"),
)
