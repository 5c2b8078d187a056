"""A task: one trial of a sample, with its wording and all that a strategy needs for the conversation about it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from pytest_puma.core import Choice, DataError, PromptTrial, PumaError, Sample, Scenario, SettingsError, Trial
from pytest_puma.core.conversation import Bias, Generate, Generation, Message, Prompt, Response, Score
from pytest_puma.core.metric import Need
from pytest_puma.errors import raised_in
from pytest_puma.phrases import one_line
from pytest_puma.platform.signals import READING, limited
from pytest_puma.replies.answers import ends_in, extends, final_answer, own_words, strip_reasoning, without_last_word
from pytest_puma.replies.letters import LETTERS

#: The turns that every wording has.
SYSTEM, USER = "system", "user"


class Wording(Protocol):
    """The prompts of a cell: those of a template, or of the methods of a scenario."""

    @property
    def place(self) -> str:
        """Place of the wording, for messages: where the user corrects it."""

    def digest(self, task: Task) -> str:
        """Return the SHA-256 of everything that could change a prompt; `task` stands for those of the cell."""

    def messages(self, turn: str, task: Task) -> tuple[Message, ...]:
        """Return the messages of a turn; a `TemplateError` if it has none."""

    def prefill(self, task: Task) -> str:
        """Return the beginning of the reply, empty for none."""


class RenderedTurn:
    """The messages of the last turn, shared by the tasks of a cell; `asked`: the turns that conversations asked for.

    Only one turn is stored: the prompts of a long run would fill the memory, and trials of a sample follow each other.
    """

    def __init__(self) -> None:
        self.asked: set[str] = set()
        self._shown: Sequence[object] = ()
        self._messages: tuple[Message, ...] = ()

    def messages(
        self, turn: str, shown: Sequence[object], render: Callable[[], tuple[Message, ...]]
    ) -> tuple[Message, ...]:
        """Return the messages; `render` makes them unless the turn and each object that it shows are the last ones."""
        self.asked.add(turn)
        shown = (turn, *shown)
        if len(shown) != len(self._shown) or any(one is not last for one, last in zip(shown, self._shown, strict=True)):
            self._messages, self._shown = render(), shown
        return self._messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One trial of a sample with its wording, its examples and the settings of its cell.

    `examples`: the fields of each, with `gold_label` and, if known, `rationale`. `hidden`: fields of the sample that
    reveal the gold label, so that the template does not see them. `generation`: completed by `resolve_generation`.
    `seed`: that of the cell; every random choice about the trial follows from it. `chat`: the model gets its chat
    template, else plain text. `stop`: strings that end a reply. `needs`: what the metrics of the cell need of a
    prediction. `prompt_suffix`: the end of each question. `retries`: the maximum of further attempts; `attempt`:
    the number of this one, from 0; `bound`: the grammar that its replies follow, None for that of the settings.
    `last_turn`: one for all tasks of a cell, so that the trials of a sample render a prompt once.
    """

    scenario: Scenario
    sample: Sample
    wording: Wording
    examples: Sequence[Mapping[str, Any]] = ()
    hidden: frozenset[str] = frozenset()
    generation: Generation = field(default_factory=Generation)
    seed: int = 0
    trial: Trial = field(default_factory=Trial)
    chat: bool = True
    stop: tuple[str, ...] = ()
    needs: frozenset[Need] = frozenset()
    prompt_suffix: str = ""
    retries: int = 0
    attempt: int = 0
    bound: str | None = None
    last_turn: RenderedTurn = field(default_factory=RenderedTurn, repr=False, compare=False)

    def prompt(self, turn: str = USER, history: tuple[Message, ...] = ()) -> Prompt:
        """Return the prompt of a turn (the name of a block of the template), after the chat so far."""
        data = (self.scenario, self.sample, self.wording, self.examples, self.hidden)
        shown = (*data, self.trial.order, self.whole_prompt)
        messages = self.last_turn.messages(turn, shown, lambda: self.wording.messages(turn, self))
        messages = (*history, messages[-1]) if history else messages
        if self.prompt_suffix and messages and messages[-1].role == "user":
            messages = (*messages[:-1], replace(messages[-1], content=f"{messages[-1].content}{self.prompt_suffix}"))
        prefill = "" if history else self.wording.prefill(self)
        return Prompt(messages=messages, prefill=prefill, stop=self.stop, chat=self.chat)

    @property
    def whole_prompt(self) -> tuple[Message, ...]:
        """The prompt that the trial brings; empty for that of the wording."""
        return self.trial.messages if isinstance(self.trial, PromptTrial) else ()

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The choices of the sample in the order of this trial."""
        choices = self.sample.choices
        return tuple(choices[index] for index in self.trial.order) if self.trial.order else choices

    @property
    def labels(self) -> list[str]:
        """The valid answers: the choices as shown, else the labels of the scenario."""
        return [choice.text for choice in self.choices] or self.scenario.valid_labels()

    def variables(self) -> dict[str, Any]:
        """Return the variables of a template: the fields by name, and four names that take precedence over fields."""
        choices = [
            {"letter": letter, "text": choice.text} for letter, choice in zip(LETTERS, self.choices, strict=False)
        ]
        instance = {name: value for name, value in self.sample.fields.items() if name not in self.hidden}
        return instance | {
            "instance": instance,
            "examples": [dict(example) for example in self.examples],
            "labels": self.labels if choices else list(self.sample.labels) or self.scenario.valid_labels(),
            "scenario": {"name": self.scenario.name, "task_type": self.scenario.task_type},
            **({"choices": choices} if choices else {}),
        }

    def generate(
        self, prompt: Prompt, *, index: int = 0, grammar: str | None = None, thinks: bool = True, bias: Bias = None
    ) -> Generate:
        """Ask for text, decoded as the cell's settings specify; `index` numbers the sample's requests.

        `grammar`, in GBNF, is what the reply must match; the settings' own where it is left out. `thinks`, `bias`: as
        in `Generate`.
        """
        settings = self.generation
        if settings.max_tokens is None or settings.temperature is None:
            msg = f"{self.scenario.name}: {settings}: max_tokens or temperature is unset; call resolve_generation first"
            raise SettingsError(msg)
        return Generate(
            prompt=prompt,
            max_tokens=settings.max_tokens,
            temperature=settings.temperature,
            top_p=settings.top_p,
            top_k=settings.top_k,
            min_p=settings.min_p,
            seed=self.derived_seed(index),
            grammar=grammar or self.bound or settings.grammar,
            logprobs=settings.logprobs,
            thinks=thinks and self.bound is None,
            bias=bias,
        )

    def score(self, prompt: Prompt, options: Sequence[str], *, ends: bool = True) -> Score:
        """Ask for the log-probability of each option as the whole reply, or without the end of the turn.

        After a cue, the delimiter of the scenario, a space, comes before each option. Without one, the option begins
        the reply: plain text ends with a line break there, after which a space makes it a thousand times less probable.
        """
        joint = self.scenario.delimiter if prompt.prefill else ""
        return Score(prompt=prompt, continuations=tuple(f"{joint}{option}" for option in options), ends=ends)

    def read(self, reply: str | Response) -> str | None:
        """Return the answer in a reply without its reasoning, `None` if it has no valid one.

        In a response that was cut off it counts only if its last word, which may be incomplete, does not matter.
        """
        return self._settled(self._answer, reply)

    def parse(self, reply: str) -> str | None:
        """Return the answer that the scenario finds in a text; it may be invalid."""
        return self._read(self.scenario.read, reply)

    def read_final(self, reply: str | Response) -> str | None:
        """Return the answer on the last `Answer:` line; without one, that of the scenario's `parse_conclusion`.

        See `read` for a response that was cut off.
        """
        return self._settled(self._final_answer, reply)

    def _answer(self, text: str) -> str | None:
        reply = strip_reasoning(text)
        # An overflow has no text; a scenario's parser must not find an answer in it.
        return self.parse(reply) if reply else None

    def _final_answer(self, text: str) -> str | None:
        line = self.answer_line(text)
        return self._read(self.scenario.read_conclusion, strip_reasoning(text)) if line is None else self.parse(line)

    def _settled(self, read: Callable[[str], str | None], reply: str | Response) -> str | None:
        """The valid answer in a reply; None if it depends on the last word of one that was cut off."""

        def valid(text: str) -> str | None:
            value = read(text)
            return value if value is not None and self.allows(value) else None

        text = reply if isinstance(reply, str) else reply.text
        value = valid(text)
        if value is None or isinstance(reply, str) or not reply.truncated or ends_in(text, self._closed_answers):
            return value
        shorter = valid(without_last_word(text))
        # A text may be incomplete, an answer taken out of it may not.
        is_text = self.scenario.kind.form == "texts" and (value == text.strip() or extends(value, shorter))
        return value if is_text or value == shorter else None

    @property
    def _closed_answers(self) -> Sequence[str]:
        """The answers of which a reply must give one, as it may spell them."""
        form = self.scenario.kind.form
        return [*LETTERS[: len(self.choices)], *self.labels] if form in {"labels", "choices"} else ()

    def answer_line(self, text: str) -> str | None:
        """The text behind the reply's last `Answer:`, before any turn that the model made up; `None` without one."""
        return final_answer(own_words(strip_reasoning(text), self.scenario.data_tags))

    def _read(self, read: Callable[[str, Sample, Sequence[int]], str | None], reply: str) -> str | None:
        try:
            with limited(READING):
                return read(reply, self.sample, self.trial.order)
        except PumaError:
            raise
        except Exception as error:
            where = f"scenario {self.scenario.name!r}, sample {self.sample.id!r}"
            fault = f"reading the reply {one_line(reply)!r} raised {type(error).__name__}: {raised_in(error)}"
            msg = f"{where}: {fault}; expected an answer, or None if the reply has none"
            raise DataError(msg) from error

    def derived_seed(self, purpose: int | str) -> int:
        """A 64-bit seed that depends only on the cell's seed, the scenario, the sample, a purpose, trial and attempt.

        The first trial has the seed of a sample with a single trial.
        """
        attempt = [self.attempt] if self.attempt else []
        trial = [self.trial.index, *attempt] if self.trial.index or attempt else []
        parts = json.dumps([self.seed, self.scenario.name, self.sample.id, purpose, *trial])
        return int.from_bytes(hashlib.sha256(parts.encode()).digest()[:8], "big")

    def allows(self, value: str) -> bool:
        """Whether a value is a valid answer: a label or choice, or in a regression a finite number."""
        return self.scenario.kind.valid(value, self.labels)
