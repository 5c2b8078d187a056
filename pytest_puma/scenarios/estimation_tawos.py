"""Estimation: the story points of a backlog item."""

from __future__ import annotations

import math
import re
from pathlib import Path

from pytest_puma.answers import FIBONACCI, number_text, snap_fibonacci
from pytest_puma.scenarios.file import FileScenario

#: The research data set, which its licence lets nobody ship: used where the project's data folder holds it.
RESEARCH_DATA = Path("data", "tawos_clean.csv")

_PROJECT_MARKS = ("pyproject.toml", "pytest.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", ".git")
_NUMBER = re.compile(
    r"""(?<![^\W_]) (?<![^\W\d_]-) (?<!\d[.,])           # part of a name: S3, UTF-8, v1.2
        (?:(?<![\w)\]])[-\u2212])?                        # a sign, unless it joins: 3-5
        (?: \d{1,3}(?:,\d{3})+(?!\d) | \d+ | (?=\.\d) )  # thousands may be set apart
        (?:\.\d+)?""",
    re.VERBOSE,
)


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
        """The first number in the text, as the point value within 1 of it where there is one."""
        found = _NUMBER.search(response)
        if found is None:
            return None
        value = float(found[0].replace(",", "").replace("\u2212", "-"))
        return number_text(snap_fibonacci(value)) if math.isfinite(value) else None


def _research_data() -> Path | None:
    """The research data set in the current project: in this folder, or in the root of the project it belongs to."""
    here = Path.cwd()
    marked = (folder for folder in (here, *here.parents) if any((folder / mark).exists() for mark in _PROJECT_MARKS))
    places = (here / RESEARCH_DATA, next(marked, here) / RESEARCH_DATA)
    return next((place for place in places if place.is_file()), None)
