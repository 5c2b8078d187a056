r"""Answers in mathematics as Minerva reads them (Lewkowycz et al. 2022, appendix D): last lines, boxes, units.

    ... so x = 5.
    Final Answer: The final answer is $5$ inches. I hope it is correct.

Candidates are, in this order: the answer of the final line, that of the last box; else the last formula between dollar
signs; else all of the text. `minerva` compares the first one with the reference by algebra, `minerva.flex` any of
them. A reference may be a whole solution with a box.

`*.relaxed` accept further wordings of the final line. context = {"language": "de"} for German ones:

    Finale Antwort: Die finale Antwort lautet $5$. Ich hoffe, die Antwort ist korrekt.

Articles and units are removed as words: the original removes "ft" from `\left`, and "a " from `a + b`. A comma is
removed only between thousands: the original makes 12 of the pair 1,2.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from pytest_puma.core import Prediction, Sample
from pytest_puma.metrics.library.mathematics import equal
from pytest_puma.metrics.library.reading import argument, completion_metric
from pytest_puma.replies.answers import strip_reasoning, without_last_word
from pytest_puma.replies.readers import boxed

#: A final line, by language and whether its wording is relaxed.
_FINAL_LINES = {
    ("en", False): re.compile(
        r"Final Answer: The final answer is(.*?)\.?(?: I hope it is correct|\s*\Z)",
    ),
    ("en", True): re.compile(
        r"""final\s+answer\s*:\s*the\s+(?:final\s+)?answer\s+is(.*?)\.?
            (?:\s*i\s+hope\s+it\s+is\s+correct|\n\s*\n|\s*\Z)""",
        re.DOTALL | re.IGNORECASE | re.VERBOSE,
    ),
    ("de", False): re.compile(
        r"Finale Antwort: Die finale Antwort lautet(.*?)\.?(?: Ich hoffe, die Antwort ist korrekt|\s*\Z)",
    ),
    ("de", True): re.compile(
        r"""(?:finale|endgültige)\s+antwort\s*:\s*(?:die\s+(?:(?:finale|endgültige)\s+)?antwort\s+(?:ist|lautet))?
            (.*?)\.?(?:\s*ich\s+hoffe,?\s+(?:die\s+antwort|sie|es)\s+(?:ist|sei)\s+korrekt|\n\s*\n|\s*\Z)""",
        re.DOTALL | re.IGNORECASE | re.VERBOSE,
    ),
}
_UNITS = (
    "square|ways|integers|dollars|mph|inches|ft|hours|km|units|sue|points|feet|minutes|digits|cents|degrees|cm|gm|pounds"
    "|meters|meals|edges|students|children ?tickets|multiples"
)
#: Appendix D: articles, units, white space and TeX that changes nothing, then the contents of commands.
_APPENDIX_D = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"(?<![\\A-Za-z])an? (?=[A-Za-z]{2}|\d)", ""),
        (r"\.\$", "$"),
        (rf"(?<![\\A-Za-z])(?:{_UNITS})+(?![A-Za-z])", ""),
        (r"\\\$|\\ | ", ""),
        (r"mbox", "text"),
        (r",?\\text\{and\}", ","),
        (r"\\text\{(?:\n?s?|m|\.)\}(?:\^[23])?|\\mathrm\{th\}|\^(?:\\circ|\{\\circ\})|\\l?dots|\\;|,\\!|\{,\}|\"", ""),
        (r".*?\$(.*?)\$.*", r"$\1$"),
        (r"\\(?:text|textbf|overline)\{(.*?)\}", r"\1"),
        (r"\\boxed\{(.*)\}", r"\1"),
        (r"frac([^{])(.)", r"frac{\1}{\2}"),
        (r"sqrt(\[[^\]]*\])(\w)", r"sqrt\1{\2}"),
        (r"sqrt([^{\[])", r"sqrt{\1}"),
        (r"\$", ""),
    )
)
_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{3})+")
#: Characters of an answer. A longer text is none, and the time of the expressions above is quadratic.
_LONGEST = 1_000


def normalised(answer: str) -> str:
    """Return the answer behind the last equals sign, without units, articles and what TeX adds for the eye."""
    plain = answer.rpartition("=")[2]
    if len(plain) > _LONGEST:
        return plain
    for pattern, replacement in _APPENDIX_D:
        plain = pattern.sub(replacement, plain)
    return plain.replace(",", "") if _THOUSANDS.fullmatch(plain) else plain


def candidates(text: str, final_line: re.Pattern[str], *, complete: bool = True) -> list[str]:
    """Return the answers that a text may mean, the first one first.

    A text that is not `complete` has only those that it marks.
    """
    line = final_line.search(text)
    found = [answer for answer in (line and normalised(line[1].strip()), boxed(text)) if answer]
    if not found and complete:
        *_, formula, _ = text.split("$") if text.count("$") > 1 else (text, "")
        found = [formula]
    return [normalised(answer) for answer in found]


def _score(*, relaxed: bool, flexible: bool) -> Callable[[Sample, Prediction], float | None]:
    """Return the score function of a reply: 1 if a candidate equals a reference, else 0."""

    def score(sample: Sample, prediction: Prediction) -> float | None:
        language: Literal["en", "de"] = argument(
            *(sample, "language", Literal["en", "de"]), metric="minerva", expected="'en' or 'de'", default="en"
        )
        text = strip_reasoning(prediction.raw[0]) if len(prediction.raw) == 1 else prediction.text
        cut = prediction.truncated
        final_line = _FINAL_LINES[language, relaxed]
        found = candidates(without_last_word(text) if cut else text, final_line, complete=not cut)
        golds = [normalised(boxed(reference) or reference) for reference in sample.references]
        compared = found if flexible else found[:1]
        return float(any(equal(gold, answer) for gold in golds for answer in compared)) if golds else None

    return score


METRICS = tuple(
    completion_metric(name=name, score=_score(relaxed=relaxed, flexible=flexible), extra="math")
    for name, relaxed, flexible in (
        ("minerva", False, False),
        ("minerva.flex", False, True),
        ("minerva.relaxed", True, False),
        ("minerva.relaxed.flex", True, True),
    )
)
