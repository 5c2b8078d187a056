"""Triage: the priority of an issue in a tracker."""

from __future__ import annotations

import re

from pytest_puma.scenarios.file import FileScenario

#: Most urgent first.
PRIORITIES = ("Critical", "Major", "Minor", "Trivial")

# Not \b: in the markdown `_Major_` the underscores are no part of the word.
_LABEL = re.compile(rf"(?<![^\W_])(?:{'|'.join(PRIORITIES)})(?![^\W_])", re.IGNORECASE)


class TriageJiraScenario(FileScenario):
    """The priority of an issue from its title and description; samples hold the four priorities alike."""

    name = "triage_jira"
    task_type = "classification"
    data = "jira_balanced_200.csv"
    pool = "jira_examples.csv"
    key = "issue_key"
    label_column = "priority"
    balanced = True
    ordered = True
    columns = {  # noqa: RUF012 - a declaration, read only
        "issue_key": ("key", "id", "item_id"),
        "title": ("summary",),
        "description": ("body",),
        "priority": ("priority_name",),
    }

    def valid_labels(self) -> list[str]:
        """The four priorities, most urgent first."""
        return list(PRIORITIES)

    def parse_response(self, response: str) -> str | None:
        """The first priority that stands as a word in the text, in any case."""
        found = _LABEL.search(response)
        return found and found[0].capitalize()
