"""The valid answers of a task as a grammar in GBNF, and the answer that a text under it is.

root ::= " "? ("Critical" | "Major" | "Minor")
"""

from __future__ import annotations

from collections.abc import Iterable

from pytest_puma.core import Generate, Prompt, Response, SettingsError
from pytest_puma.replies.letters import LETTERS
from pytest_puma.strategies.dialogue import decides
from pytest_puma.strategies.json_grammar import json_rules, literal
from pytest_puma.strategies.task import Task

#: The key of the context with the JSON schema of the answer.
SCHEMA = "json_schema"
_NUMBER = '"-"? [0-9]{1,15} ("." [0-9]{1,15})?'


def grammar_of(task: Task, *, opening: str = "") -> str | None:
    """Return the grammar of the valid answers, after an `opening`; None if each text is one.

    Of choices, these are the letters. Of a text, it is the JSON that the schema in the context of the sample describes.
    A `SettingsError` reports a task without a schema, a `DataError` a schema with a part that is not supported.
    """
    if task.scenario.kind.form == "texts":
        schema = _schema(task)
        # `None` states that the reply to this sample is no JSON.
        return None if schema is None else "\n".join([_root("value", opening), *json_rules(schema, who=_who(task))])
    answers = LETTERS[: len(task.choices)] if task.choices else task.labels
    return _root(f"({' | '.join(map(literal, answers))})" if answers else _NUMBER, opening)


def constrained_request(task: Task, prompt: Prompt, *, index: int = 0) -> Generate:
    """Return the request for a text that is a valid answer."""
    return task.generate(prompt, index=index, grammar=grammar_of(task), thinks=False)


def read_exactly(task: Task, response: Response) -> str | None:
    """Return the answer that the whole text is; None for one that was cut off."""
    if task.scenario.kind.form == "texts":
        return task.read(response)
    text = response.text.strip()
    spellings: Iterable[str] = LETTERS if task.choices else task.labels
    answers = dict(zip(spellings, task.labels, strict=False))
    value = answers.get(text) if answers else text
    # One answer may begin another: 1 and 13.
    cut = response.truncated and (not answers or any(each != text and each.startswith(text) for each in answers))
    return None if cut or value is None or not task.allows(value) else value


def _root(answers: str, opening: str) -> str:
    return f'root ::= " "? {f"{literal(opening)} " if opening else ""}{answers}'


def _schema(task: Task) -> object:
    """The schema of the sample's reply."""
    if SCHEMA not in task.sample.context:
        msg = (
            f"{_who(task)}: its context has no {SCHEMA!r}, so that any text is an answer; expected the JSON schema of "
            "the reply from context(item), None for a reply that is no JSON, or other strategies"
        )
        raise SettingsError(msg)
    if len(task.scenario.turns(dict(task.sample.fields))) > 1 or decides(task.scenario):
        msg = f"{_who(task)}: it has several turns, and a constrained reply is a single one; expected other strategies"
        raise SettingsError(msg)
    return task.sample.context[SCHEMA]


def _who(task: Task) -> str:
    return f"scenario {task.scenario.name!r}, row {task.sample.id}"
