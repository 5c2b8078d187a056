"""Changed prompts of puma-tiny: the same content in other words or another order, or other content."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_puma.platform.bundled import bundled_folder
from tools.statistics.changed_run import ChangedRun

_SYSTEM, _QUESTION, _ONLY = "_system.jinja", "_question.jinja", "_only_answer.jinja"
_PARTIAL = {"triage_jira": "_issue.jinja", "prioritization_jira": "_pair.jinja"}
_EITHER = {"triage_jira": '{{ labels | join(", ") }}', "prioritization_jira": '{{ labels | join(" or ") }}'}
#: Whole templates, composed of the same parts.
_ORDERS = {
    "issue first": "{% block user %}{% include PARTIAL %}\n\n{% include QUESTION %}\n{% include ONLY %}{% endblock %}",
    "question twice": (
        "{% block user %}{% include QUESTION %}\n{% include ONLY %}\n\n{% include PARTIAL %}\n\n"
        "{% include QUESTION %}{% endblock %}"
    ),
    "without a question": "{% block user %}{% include ONLY %}\n\n{% include PARTIAL %}{% endblock %}",
    "meanings": (
        "{% block user %}{% include QUESTION %}\n{% include '_meanings.jinja' %}\n{% include ONLY %}\n\n"
        "{% include PARTIAL %}{% endblock %}"
    ),
    "in one message": (
        "{% block user %}{% include '_system.jinja' %}\n{% include QUESTION %}\n{% include ONLY %}\n\n"
        "{% include PARTIAL %}{% endblock %}"
    ),
}
_SPOILERS = {
    "always the first": "If you are not sure, choose {{ labels[0] }}.",
    "always the last": "If you are not sure, choose {{ labels[-1] }}.",
    "ignore the title": "Judge by the description alone; titles are often wrong.",
    "an example": "An example: a crash on start that loses data is {{ labels[0] }}, a typo is {{ labels[-1] }}.",
}


def changed_prompts(scenario: str) -> Iterator[ChangedRun]:
    """Yield the runs of a scenario with changed prompts."""
    for (file, name), text in _wordings(_EITHER[scenario]).items():
        yield ChangedRun(name=name, kind="wording", prompts={file: f"{text}\n" if text else ""})
    for name, source in _ORDERS.items():
        template = source.replace("PARTIAL", f"'{_PARTIAL[scenario]}'")
        template = template.replace("QUESTION", f"'{_QUESTION}'").replace("ONLY", f"'{_ONLY}'")
        yield ChangedRun(name=name, kind="wording", prompts={"zero_shot.jinja": template})
    only = (bundled_folder("prompts") / scenario / _ONLY).read_text(encoding="utf-8")
    for name, sentence in _SPOILERS.items():
        yield ChangedRun(name=name, kind="prompt", prompts={_ONLY: f"{only}{sentence}\n"})
    partial = (bundled_folder("prompts") / scenario / _PARTIAL[scenario]).read_text(encoding="utf-8")
    for name, edited in _partials(partial).items():
        kind = "wording" if name.startswith("tag") else "prompt"
        yield ChangedRun(name=name, kind=kind, prompts={_PARTIAL[scenario]: edited})


def _wordings(labels: str) -> dict[tuple[str, str], str]:
    """The parts of the prompt in other words."""
    return {
        (_QUESTION, "question 1"): f"Which one is it: {labels}?",
        (_QUESTION, "question 2"): f"Please decide with care: {labels}.",
        (_QUESTION, "question 3"): f"You have to choose one of these: {labels}. Which one fits best?",
        (_ONLY, "only 1"): "Answer with one of these and nothing else.",
        (_ONLY, "only 2"): "Do not explain anything. Write the answer alone.",
        (_ONLY, "only 3"): "",
        (_SYSTEM, "system 1"): "You are a helpful assistant.",
        (_SYSTEM, "system 2"): "You work in the support team of a software company and sort incoming issues.",
        (_SYSTEM, "system 3"): "",
    }


def _partials(text: str) -> dict[str, str]:
    """The text of an issue, or of two, truncated or in other layouts."""

    def described(tail: str) -> str:
        changed = text
        for name in ("description", "description_a", "description_b"):
            changed = changed.replace(f"{{{{ {name} }}}}", f"{{{{ {name}{tail} }}}}")
        return changed

    titles = text
    for name in ("title", "title_a", "title_b"):
        titles = titles.replace(f"{{{{ {name} }}}}", "untitled")
    cuts = {f"description up to {length}": described(f"[:{length}]") for length in (30, 60, 90, 120, 160, 220)}
    return cuts | {
        "without the title": titles,
        "description backwards": described(".split() | reverse | join(' ')"),
        "description in capitals": described(" | upper"),
        "tag ticket": text.replace("issue", "ticket"),
        "tag names": text.replace("Title:", "Summary:").replace("Description:", "Details:"),
        "tag none": text.replace("Title: ", "").replace("Description: ", ""),
    }
