"""A template that turns a sample into the messages of a chat, and the faults that end its rendering."""

from __future__ import annotations

import re
import traceback
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_puma.core import Message, TemplateError
from pytest_puma.phrases import did_you_mean, named, one_line
from pytest_puma.strategies.task import SYSTEM, USER, Task

if TYPE_CHECKING:
    # Not at run time: a pytest run without puma items must not pay for Jinja2.
    import jinja2

#: The messages of Jinja2 for `{{ subjct }}` and for `{{ instance.subjct }}`.
_MISSING = re.compile(r"'(\w+)'(?: is undefined)?$")
_MAX_REASON = 300
#: What a person writes in a template that `pytest-puma init` made.
PLACEHOLDER = "(write it here, or remove this line)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A compiled template.

    `sources_sha256`: the digest of its source and of every source that it loads. `turns`: the line of each of its
    blocks that can only be a turn. `only_blocks`: it has nothing else.
    """

    path: Path
    sources_sha256: str
    compiled: jinja2.Template = field(repr=False, compare=False)
    turns: Mapping[str, int] = field(repr=False, compare=False)
    only_blocks: bool = field(repr=False, compare=False)

    @property
    def place(self) -> str:
        """The path."""
        return str(self.path)

    def digest(self, task: Task) -> str:  # noqa: ARG002 - one for all trials
        """Return the digest of all sources."""
        return self.sources_sha256

    def messages(self, turn: str, task: Task) -> tuple[Message, ...]:
        """Return the messages of a turn; errors as in `render`."""
        return self.render(turn, task.variables(), hidden=task.hidden)

    def prefill(self, task: Task) -> str:  # noqa: ARG002 - a template has none
        """Return nothing: templates have no cue."""
        return ""

    def check_turns(self, read: Collection[str], strategy: str, *, complete: bool) -> None:
        """Raise an error for a block that a strategy does not read; `read` are the turns that it reads.

        They are `complete` if it never reads another one. If not, only a block that is named almost as one is an error.
        """
        readable = [SYSTEM, *sorted({*read} - {SYSTEM})]
        for name in (name for name in self.turns if name not in readable):
            hint = did_you_mean(name, readable if complete else {*readable} - {*self.turns})
            if complete or hint:
                msg = (
                    f"{self.path}, line {self.turns[name]}: {strategy} reads no block {name!r}, so no prompt "
                    f"would show its text; {hint}it reads: {', '.join(readable)}"
                )
                raise TemplateError(msg)

    def render(self, turn: str, variables: Mapping[str, Any], *, hidden: Collection[str] = ()) -> tuple[Message, ...]:
        """Return the system message, if the template has one, and the message of the turn (the name of a block).

        A `TemplateError` names the file, the line and the existing variables; `hidden` are the forbidden ones.
        """
        texts = self._render(turn, variables, hidden)
        if not texts.get(turn):
            msg = f"{self.path}: no text for the turn {turn!r}; {self._advice(turn)}"
            raise TemplateError(msg)
        message = Message(role="user", content=texts[turn])
        return (Message(role="system", content=texts[SYSTEM]), message) if texts.get(SYSTEM) else (message,)

    def _advice(self, turn: str) -> str:
        """The advice on giving a turn its text."""
        if turn == USER and not self.compiled.blocks:
            return "a file without blocks is this turn: write its text, or a block of this name"
        for misspelt in get_close_matches(turn, self.turns, n=1):
            return f"rename the block {misspelt!r} (line {self.turns[misspelt]}), or add a block of this name"
        return "add a block of this name, with text in it"

    def _render(self, turn: str, variables: Mapping[str, Any], hidden: Collection[str]) -> dict[str, str]:
        """The stripped text of the blocks for the system and the turn, or of the whole as the user's."""
        context, texts = self.compiled.new_context(dict(variables)), dict[str, str]()
        try:
            if not self.only_blocks:
                # The root comes first: it runs the imports and assignments that blocks read, and adds a parent's.
                with _silent(context.blocks):
                    texts = {USER: "".join(self.compiled.root_render_func(context))}
            if context.blocks:
                names = (name for name in (SYSTEM, turn) if name in context.blocks)
                texts = {name: "".join(context.blocks[name][0](context)) for name in names}
        except Exception as error:
            # Any error is the template's fault: it may divide by zero or add text to numbers.
            msg = f"{location(error, self.path)}: {fault(error, variables, hidden)}"
            raise TemplateError(msg) from error
        return {name: text.strip() for name, text in texts.items()}


@contextmanager
def _silent(blocks: Mapping[str, list[Any]]) -> Iterator[None]:
    """Let a template's own blocks give no text, so that none is rendered twice."""
    for overriding in blocks.values():
        overriding.insert(0, lambda _context: ())
    names = list(blocks)
    yield
    for name in names:
        del blocks[name][0]


def fault(error: Exception, variables: Mapping[str, Any], hidden: Collection[str]) -> str:
    """The fault, with a suggestion if a name does not exist."""
    message = reason(error)
    missing = _MISSING.search(message)
    name = missing[1] if missing else ""
    owner = _owner(error)
    of_example = any(owner is example for example in variables.get("examples", ()))
    if name in hidden and not of_example:
        return f"{name!r} reveals the gold answer, which no prompt may show; remove it"
    if owner is not None:
        holder = "an example" if of_example else "instance" if owner is variables.get("instance") else ""
        fields = sorted(map(str, owner))
        available = one_line(f"{did_you_mean(name, fields)}its fields are: {named(fields)}", _MAX_REASON)
        return f"{f'{holder} has no field {name!r}' if holder and name else message}; {available}"
    hint = did_you_mean(name, variables) if name else ""
    return f"{message}; {hint}the variables are: {named(sorted(variables))}"


def _owner(error: Exception) -> Mapping[Any, Any] | None:
    """The mapping that lacks a field, as `ex` in `{{ ex.label }}`; None if the fault is another one."""
    import jinja2

    # Jinja2 raises the error in a method of the undefined value, which knows its owner.
    *_, (last, _) = traceback.walk_tb(error.__traceback__)
    undefined = last.f_locals.get("self")
    owner = undefined._undefined_obj if isinstance(undefined, jinja2.Undefined) else None  # noqa: SLF001 - documented
    return owner if isinstance(owner, Mapping) else None


def reason(error: Exception) -> str:
    """The message of an error in one line of limited length; a variable's text may be part of it."""
    return one_line(str(error) or type(error).__name__, _MAX_REASON)


def location(error: Exception, path: Path) -> str:
    """File and line of the innermost template code that the error passed through."""
    position = str(path)
    for frame, line in traceback.walk_tb(error.__traceback__):
        template: jinja2.Template | None = frame.f_globals.get("__jinja_template__")
        if template is not None:
            position = f"{template.filename}, line {template.get_corresponding_lineno(line)}"
    return position
