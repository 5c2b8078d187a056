"""A sample, one question with its gold answer; its trials; and the origin of a request about one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_puma.core.conversation import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of the possible answers that a sample presents. `idk`: it stands for "I don't know"."""

    text: str
    right: bool = False
    idk: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One question with its gold answer.

    `id` is stable: the value of the data's key column, else a hash of the content. `units`: the things that the sample
    is made of, such as the two issues of a pair. Samples that share a unit are not independent, so intervals resample
    units. `labels`: the order in which its prompt lists them; the scenario's if empty. `row`: its place in the data.
    `equal_row`: the place of an earlier equal row. `groups`: the value of each group column.

    `references`: all ground truths, of which `gold` is the first; without any, `gold` is empty. `choices`: the possible
    answers in the order of the data. `context`: arguments of metrics, such as a JSON schema. `asked`: the turns of the
    sample without examples, for metrics that ask a judge; empty for others.
    """

    id: str
    fields: Mapping[str, Any]
    gold: str
    units: tuple[str, ...]
    labels: tuple[str, ...] = ()
    row: str = ""
    equal_row: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)
    references: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    asked: tuple[Message, ...] = ()

    @property
    def group(self) -> tuple[str, ...]:
        """The value of each group column; empty if the scenario has none."""
        return tuple(self.groups.values())


@dataclass(frozen=True, slots=True, order=True)
class Trial:
    """The n-th time that a sample is asked, from 0. Trials of one sample are one unit for intervals and tests.

    `order`: the places in the data of the sample's choices, in the order in which this trial shows them; empty for the
    order of the data.
    """

    index: int = 0
    order: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptTrial(Trial):
    """A trial that brings its whole prompt, in place of that of a wording."""

    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a request in a cell: a trial of a sample, and the `index` of the request in the conversation.

    Of a request to a judge also the `metric` that asks, and the `reply` that it asks about.
    """

    cell: str
    sample: Sample
    trial: Trial
    index: int = 0
    metric: str = ""
    reply: str = ""

    def at(self, index: int) -> Origin:
        """Return the origin of a request of the same conversation."""
        if index == self.index:
            return self
        return Origin(self.cell, self.sample, self.trial, index, self.metric, self.reply)

    @property
    def name(self) -> str:
        """The sample for messages, with the number of the trial if it is not the first one."""
        trial = f", trial {self.trial.index + 1}" if self.trial.index else ""
        return f"sample {self.sample.id!r}{trial}"
