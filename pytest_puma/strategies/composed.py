"""Prompts composed from the methods of a scenario: system, examples as turns, the question, and a cue for the reply."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_puma.core import Choice, DataError, Message, Scenario, TemplateError
from pytest_puma.replies.letters import lettered
from pytest_puma.strategies.task import USER, Task

_REASONING = "Think step by step. Then write {what} alone on a last line that starts with 'Answer:'."


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """The wording of a scenario's methods.

    `cloze`: choices are not shown, and their texts are the answers. `texts`: these are the answers although choices are
    shown, then without letters. `reasoning`: the reply reasons and ends in an `Answer:` line, so that it has no cue.
    """

    scenario: Scenario
    cloze: bool = False
    texts: bool = False
    reasoning: bool = False

    @property
    def place(self) -> str:
        """The methods of the scenario."""
        return f"the methods of {type(self.scenario).__name__}"

    def digest(self, task: Task) -> str:
        """Return the digest of the prompt of a task."""
        texts = [[message.role, message.content] for message in self.messages(USER, task)]
        return hashlib.sha256(json.dumps([texts, self.prefill(task)]).encode()).hexdigest()

    def messages(self, turn: str, task: Task) -> tuple[Message, ...]:
        """Return the system message, the examples as turns, and the question.

        In plain text a question whose text the answer continues begins the reply instead.
        """
        if turn != USER:
            msg = f"{self.place}: no method for the turn {turn!r}; this strategy needs a template"
            raise TemplateError(msg)
        if task.whole_prompt:
            return self._whole(task)
        item = dict(task.sample.fields)
        question = self._question(task)
        if self.reasoning:
            what = "the letter of your choice" if task.sample.choices else "the answer"
            question = f"{question}\n\n{_REASONING.format(what=what)}"
        items = [dict(example) for example in task.examples]
        examples = [(self._example(example), self._target(example, task)) for example in items]
        preamble, system = self._optional("preamble", item), self._optional("system", item)
        if not task.chat and self._continued(item, task):
            joint = self.scenario.delimiter
            continued = (f"{self._continued(example, task)}{joint}{self._target(example, task)}" for example in items)
            return tuple(Message(role="assistant", content=text) for text in (system, preamble, *continued) if text)
        if self.scenario.shots_as == "text" and examples:
            question = "\n\n".join([*(f"{example}\n{target}" for example, target in examples), question])
            examples = []
        messages = [
            message
            for example, target in examples
            for message in (Message(role="user", content=example), Message(role="assistant", content=target))
        ]
        messages.append(Message(role="user", content=question))
        if preamble:
            messages[0] = replace(messages[0], content=f"{preamble}\n\n{messages[0].content}")
        return (*([Message(role="system", content=system)] if system else []), *messages)

    def prefill(self, task: Task) -> str:
        """Return the cue, unless the question ends with it or the reply reasons first; or the text to continue."""
        if task.whole_prompt:
            return ""
        if not task.chat and (continued := self._continued(dict(task.sample.fields), task)):
            return continued
        cue, question = self._cue(task), self._text(dict(task.sample.fields), task.choices)
        return "" if self.reasoning or (task.chat and question.endswith(cue)) else cue

    def _whole(self, task: Task) -> tuple[Message, ...]:
        """The prompt that a trial brings, to which a strategy can add nothing."""
        if self.reasoning or task.examples:
            msg = f"{self.place}: make whole prompts, without examples and reasoning; expected the strategy zero_shot"
            raise TemplateError(msg)
        return task.whole_prompt

    def _question(self, task: Task) -> str:
        """The question; in plain text its final cue begins the reply instead."""
        text, cue = self._text(dict(task.sample.fields), task.choices), self._cue(task)
        if task.chat or self.reasoning or not cue or not text.endswith(cue):
            return text
        return text.removesuffix(cue).rstrip()

    def _cue(self, task: Task) -> str:
        item = dict(task.sample.fields)
        return "" if self.cloze and self._continued(item, task) else self._optional("cue", item).rstrip()

    def _continued(self, item: dict[str, Any], task: Task) -> str:
        """The text that the answer continues; empty if it replies to a question, or names a choice that is shown."""
        shows_choices = bool(task.sample.choices) and not self.cloze
        return "" if self.reasoning or shows_choices else self._optional("continued", item).rstrip()

    def _example(self, item: dict[str, Any]) -> str:
        return self._text(item, self._called("options", lambda: self.scenario.options(item), item))

    def _target(self, item: dict[str, Any], task: Task) -> str:
        """The answer of an example; without the cue if it continues a text."""
        target = self._called(
            "target", lambda: self.scenario.target_text(item, letter=not (self.cloze or self.texts)), item
        )
        text = self._checked("target", target)
        if (task.chat and not self.cloze) or not self._continued(item, task):
            return text
        return text.removeprefix(self._optional("cue", item).rstrip()).removeprefix(self.scenario.delimiter)

    def _text(self, item: dict[str, Any], choices: Sequence[Choice]) -> str:
        shown = () if self.cloze else choices
        text = self._called("instruction", lambda: self.scenario.question_text(item, shown), item)
        text = self._checked("instruction", text)
        if not self.texts:
            return text
        # No letters: the model is not to write one. An instruction with lines of its own keeps them.
        texts = [choice.text for choice in choices]
        return text.replace(lettered(texts), "\n".join(f"- {text}" for text in texts))

    def _optional(self, method: str, item: dict[str, Any]) -> str:
        """The text of a method, empty for none."""
        value = self._called(method, lambda: getattr(self.scenario, method)(item), item)
        return self._checked(method, value) if value else ""

    def _called(self, method: str, call: Callable[[], Any], item: dict[str, Any]) -> Any:
        """The value of a method; a `DataError` names the method that fails and the columns of the row."""
        try:
            return call()
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            columns = ", ".join(name for name in item if name not in {"gold_label", "rationale"})
            msg = f"{type(self.scenario).__name__}.{method} failed with {error!r}; the row has: {columns}"
            raise DataError(msg) from error

    def _checked(self, method: str, text: Any) -> str:
        if not isinstance(text, str) or not text.strip():
            msg = f"{type(self.scenario).__name__}.{method} returned {text!r}; expected a text that is not empty"
            raise DataError(msg)
        return text
