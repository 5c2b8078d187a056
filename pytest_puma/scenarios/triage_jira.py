"""Triage: the priority of an issue in a tracker."""

from __future__ import annotations

from pytest_puma.replies.statements import Statements
from pytest_puma.scenarios.file import FileScenario

#: Most urgent first.
PRIORITIES = ("Critical", "Major", "Minor", "Trivial")

_TAGS = ("issue",)
# Not \b: in the markdown `_Major_` the underscores are no part of the word.
_LABEL = rf"(?<![^\W_])(?<!\w-)(?:{'|'.join(PRIORITIES)})(?![^\W_]|-\w)"
_ISSUE = r"(?:the|this|an)\s+(?:issue|bug|defect|problem|ticket)"
_STATEMENTS = Statements(
    label=_LABEL,
    subjects=r"priority(?:\s+level)?|severity|label|answer|decision|response|category|this(?:\s+one)?|it"
    rf"|{_ISSUE}",
    normal=str.capitalize,
    tags=_TAGS,
    more=rf"\b{_ISSUE}\s+is\s+({_LABEL})\s+(?:for|in|on|to)\b|\bha[sv]e?\s+an?\s+({_LABEL})\s+priority\b",
)


class TriageJiraScenario(FileScenario):
    """The priority of an issue from its title and description; the four priorities are equally frequent."""

    name = "triage_jira"
    task_type = "classification"
    data = "jira_balanced_200.csv"
    pool = "jira_examples.csv"
    key = "issue_key"
    label_column = "priority"
    balanced = True
    ordered = True
    data_tags = _TAGS
    columns = {  # noqa: RUF012 - a declaration, read only
        "issue_key": ("key", "id", "item_id"),
        "title": ("summary",),
        "description": ("body",),
        "priority": ("priority_name",),
    }

    def valid_labels(self) -> list[str]:
        """Return the four priorities, most urgent first."""
        return list(PRIORITIES)

    def parse_response(self, response: str) -> str | None:
        """Return the priority, in any case, that is the whole reply, opens a line or sentence, or is stated in it.

        Stricter than the first match: a list of the priorities, two contradictory ones, one that is only mentioned, and
        text of a repeated or invented issue are no answer.
        """
        return _STATEMENTS.answered(response)

    def parse_conclusion(self, reply: str) -> str | None:
        """Return the priority that is the whole reply or is stated in it: "The priority is Critical"."""
        return _STATEMENTS.decided(reply)
