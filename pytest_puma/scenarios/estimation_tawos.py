"""Estimation: the story points of a backlog item."""

from __future__ import annotations

import math
import re
from pathlib import Path

from pytest_puma.replies.answers import FIBONACCI, snap_fibonacci
from pytest_puma.replies.statements import Statements
from pytest_puma.scenarios.file import FileScenario
from pytest_puma.task_types.regression import number_text

#: The research data set: its licence forbids distribution, so it is used if the project's data folder has it.
RESEARCH_DATA = Path("data", "tawos_clean.csv")

_PROJECT_MARKS = ("pyproject.toml", "pytest.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", ".git")
#: The largest card of the usual decks: a larger number is no estimate, but a year or a status code.
MAXIMUM = 100

_TAGS = ("item",)
_UNIT = r"(?: \s* (?: story[\s-]*points? | points? | pts | sp ) \b )?"
# Neither part of a name, a date, a time or a version (S3, UTF-8, 14:04, v1.2), nor negative.
_NUMBER = r"""(?<![^\W_]) (?<!\d[.,:/]) (?<![-\u2212]) (?<!\d[\u2013\u2014])
    (?: \d{1,4} (?:\.\d+)? | (?<!\.)\.\d+ ) (?! \d | [.,:/-]\d )"""


def _estimate(text: str) -> str | None:
    """The number at the start of the text, as the point value within 1 of it if there is one."""
    number = re.match(r"[\d.]+", text)
    value = math.inf if number is None else float(number[0])
    return number_text(snap_fibonacci(value)) if value <= MAXIMUM else None


_STATEMENTS = Statements(
    label=_NUMBER + _UNIT,
    subjects=r"(?:story[\s_-]*)?points?|estimate|estimation|answer|effort|boxed|this|it|size\s+of\s+(?:the|this)\s+item|(?:the|this)\s+(?:item|one|story|task)",
    normal=_estimate,
    tags=_TAGS,
    more=rf"({_NUMBER} \s* (?: story[\s-]*points? | sp ) \b)",
)
# The number of a list item; what follows it counts only if it is stated.
_LISTED = re.compile(r"^[ \t]*(\d+)[.)][ \t]+(?=\S)", re.MULTILINE)
# The number of an item that was cut off, if it continues the list.
_LAST = re.compile(r"\n(\d+)[.)]?\Z")


def _without_lists(reply: str) -> str:
    """The reply with a word in place of the number of each list item, so that no item opens with an estimate."""
    items, last = _LISTED.findall(reply), _LAST.search(reply)
    if items and last and _value(last[1]) == _value(items[-1]) + 1:
        reply = reply[: last.start()]
    return _LISTED.sub("item ", reply)


def _value(digits: str) -> int:
    """The number; 0 for one that is too long to be converted."""
    return int(digits) if len(digits) < 10 else 0  # noqa: PLR2004 - more than any list has


class EstimationTawosScenario(FileScenario):
    """The story points of a backlog item from its title and description.

    Without own data, `data/tawos_clean.csv` of the current project is used if it exists, else the bundled stand-in.
    """

    name = "estimation_tawos"
    task_type = "regression"
    data = "backlog_500.csv"
    pool = "backlog_examples.csv"
    key = "item_id"
    label_column = "story_points"
    data_tags = _TAGS
    columns = {  # noqa: RUF012 - a declaration, read only
        "item_id": ("issue_key", "key", "id"),
        "project": ("project_key",),
        "title": ("summary",),
        "description": ("body",),
        "story_points": (
            "story_point",
            "points",
            "story point estimate",
            "Custom field (Story Points)",
            "Custom field (Story point estimate)",
        ),
    }

    def __init__(self, data: Path | None = None) -> None:
        super().__init__(_research_data() if data is None else data)

    def valid_labels(self) -> list[str]:
        """Return the point values, smallest first."""
        return [str(point) for point in FIBONACCI]

    def parse_response(self, response: str) -> str | None:
        """Return the estimate, up to 100, that is the whole reply, opens a line or sentence, or is stated in the reply.

        It is rounded to the point value within 1 of it, if there is one. Stricter than the first match: a range, an
        excerpt of the scale, a number of something else or of a list, and text of a repeated or invented item are no
        answer.
        """
        return _STATEMENTS.answered(_without_lists(response.rstrip()))

    def parse_conclusion(self, reply: str) -> str | None:
        """Return the estimate that is the whole reply or is stated in it: "The story points are 5"."""
        return _STATEMENTS.decided(_without_lists(reply.rstrip()))


def _research_data() -> Path | None:
    """The research data set in this folder, or in the root of the current project."""
    here = Path.cwd()
    marked = (folder for folder in (here, *here.parents) if any((folder / mark).exists() for mark in _PROJECT_MARKS))
    paths = (here / RESEARCH_DATA, next(marked, here) / RESEARCH_DATA)
    return next((path for path in paths if path.is_file()), None)
