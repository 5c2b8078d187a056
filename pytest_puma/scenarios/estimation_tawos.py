"""Estimation: the story points of a backlog item."""

from __future__ import annotations

import math
import re
from pathlib import Path

from pytest_puma.scenarios.answers import FIBONACCI, snap_fibonacci
from pytest_puma.scenarios.file import FileScenario
from pytest_puma.scenarios.statements import Statements
from pytest_puma.task_types.regression import number_text

#: The research data set, which its licence lets nobody ship: used where the project's data folder holds it.
RESEARCH_DATA = Path("data", "tawos_clean.csv")

_PROJECT_MARKS = ("pyproject.toml", "pytest.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", ".git")
#: Above the largest card of the usual decks a number is no estimate, but a year or a status code.
MAXIMUM = 100

_TAGS = ("item",)
_UNIT = r"(?: \s* (?: story[\s-]*points? | points? | pts | sp ) \b )?"
# Neither part of a name, a date, a time or a version (S3, UTF-8, 14:04, v1.2), nor negative.
_NUMBER = r"""(?<![^\W_]) (?<!\d[.,:/]) (?<![-\u2212]) (?<!\d[\u2013\u2014])
    (?: \d{1,4} (?:\.\d+)? | (?<!\.)\.\d+ ) (?! \d | [.,:/-]\d )"""


def _estimate(text: str) -> str | None:
    """The number that opens the text, as the point value within 1 of it where there is one."""
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
# The number of a list item.
_LISTED = re.compile(r"^[ \t]*\d+[.)][ \t]+(?=\S)", re.MULTILINE)


class EstimationTawosScenario(FileScenario):
    """The story points of a backlog item from its title and description.

    Without data of the user's own, `data/tawos_clean.csv` of the current project is read where there
    is one, else the bundled stand-in.
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
        """The point series, smallest first."""
        return [str(point) for point in FIBONACCI]

    def parse_response(self, response: str) -> str | None:
        """The estimate, up to 100, that is the whole reply, opens a line or sentence of it, or is stated in it.

        As the point value within 1 of it, where there is one. Stricter than the first match: a range, an excerpt of the
        scale, a number of something else and what stands in a repeated or invented item are no answer.
        """
        return _STATEMENTS.answered(_LISTED.sub("", response))

    def parse_conclusion(self, reply: str) -> str | None:
        """The estimate that is the whole reply or is stated in it: "The story points are 5"."""
        return _STATEMENTS.decided(_LISTED.sub("", reply))


def _research_data() -> Path | None:
    """The research data set in the current project: in this folder, or in the root of the project it belongs to."""
    here = Path.cwd()
    marked = (folder for folder in (here, *here.parents) if any((folder / mark).exists() for mark in _PROJECT_MARKS))
    places = (here / RESEARCH_DATA, next(marked, here) / RESEARCH_DATA)
    return next((place for place in places if place.is_file()), None)
