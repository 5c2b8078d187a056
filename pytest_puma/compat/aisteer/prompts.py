"""The prompts of a use case by row, and the generations that its `generate()` makes of the replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from pytest_puma.compat.aisteer.generation import Call, Called, ModelProxy
from pytest_puma.core import DataError, Message, Prediction

_ROLES = ("system", "user", "assistant")
#: A prediction as `generate()` sees it: its row, its trial, and its answer. Baselines have no more of a reply.
Reply: TypeAlias = tuple[str, int, "str | None"]
Generation: TypeAlias = dict[str, Any]


class Prompts:
    """The prompts that `generate` states, in the order of its call."""

    def __init__(self, generate: Callable[[ModelProxy], list[Generation]], rows: dict[str, dict[str, Any]]) -> None:
        """Run `generate` until its call. `rows`, by id, get a further id for each copy in a resample.

        Raises a `DataError` if there is no call, or if a prompt is of no row.
        """
        self._rows = rows
        self._generate = generate
        self._generations: dict[Reply, Generation] = {}
        #: One object for equal replies, as those of hundreds of resamples are kept.
        self._known: dict[Reply, Reply] = {}
        #: The fields of every generation that have the id of its row.
        self._id_fields: list[str] = []
        self.call = _call_of(generate)
        self._places: dict[str, list[int]] = {row: [] for row in rows}
        for place, prompt in enumerate(self.call.prompts):
            row = str(prompt.get("id", place))
            if row not in rows:
                msg = f"generate(): a prompt has the id {row!r}, which no row has; expected the id of its row in each"
                raise DataError(msg)
            self._places[row].append(place)
        if unasked := [row for row, places in self._places.items() if not places]:
            msg = f"generate(): no prompt has the id {unasked[0]!r} of a row; expected one, or no such row"
            raise DataError(msg)

    def of_row(self, row: str) -> list[tuple[Message, ...]]:
        """Return the messages of each prompt of a row."""
        return [_messages(self.call.prompts[place].get("prompt")) for place in self._places[row]]

    def repeat(self, row: str, trial: int) -> int:
        """Return the number of the repeat, from 0: trials are all prompts of the row, then all again."""
        return trial // len(self._places[row])

    def replies(self, predictions: Sequence[Prediction]) -> tuple[Reply, ...]:
        """Return the replies, after `generate` ran again for those that are new."""
        runs: dict[int, list[str | None]] = {}
        found = ((*prediction.key, prediction.answer) for prediction in predictions)
        replies = tuple(self._known.setdefault(reply, reply) for reply in found)
        for row, trial, text in replies:
            if (row, trial, text) not in self._generations:
                run = runs.setdefault(self.repeat(row, trial), [None] * len(self.call.prompts))
                run[self._places[row][trial % len(self._places[row])]] = text
        for repeat, texts in runs.items():
            self._generations.update(self._replayed(repeat, texts))
        return replies

    def resampled(self, replies: Sequence[Reply]) -> list[Generation]:
        """Return the generations of replies. A question that occurs twice is two questions, with ids of their own."""
        copies: Counter[Reply] = Counter()
        generations = []
        for reply in replies:
            copies[reply] += 1
            generations.append(self._copy(reply, copies[reply]))
        return generations

    def _copy(self, reply: Reply, number: int) -> Generation:
        """A generation; of a further copy, under another id of its row."""
        row, generation = reply[0], self._generations[reply]
        if number == 1:
            return generation
        name = f"{row} (copy {number})"
        self._rows.setdefault(name, self._rows[row])
        return {**generation, **dict.fromkeys(self._id_fields, name)}

    def _replayed(self, repeat: int, texts: Sequence[str | None]) -> Iterator[tuple[Reply, Generation]]:
        """What `generate` makes of a reply to each prompt, None for those that were not asked."""
        generations = self._generate(ModelProxy(self.call, texts))
        if len(generations) != len(texts):
            found = f"generate() returns {len(generations)} generations for {len(texts)} prompts"
            msg = f"{found}; expected one for each prompt, in their order"
            raise DataError(msg)
        ids = [(self._rows[row].get("id"), place) for row, places in self._places.items() for place in places]
        self._id_fields = [
            field
            for field, value in generations[0].items()
            if value is not None and all(generations[place].get(field) == name for name, place in ids)
        ]
        for row, places in self._places.items():
            for trial, place in enumerate(places, len(places) * repeat):
                yield (row, trial, texts[place]), generations[place]


def _call_of(generate: Callable[[ModelProxy], object]) -> Call:
    try:
        generate(ModelProxy())
    except Called as called:
        return called.call
    msg = "generate() ends without batch_retry_generate(...); expected one call with all prompts"
    raise DataError(msg)


def _messages(prompt: object) -> tuple[Message, ...]:
    if isinstance(prompt, str) and prompt.strip():
        return (Message(role="user", content=prompt),)
    chat = prompt if isinstance(prompt, (list, tuple)) else ()
    turns = [turn for turn in chat if isinstance(turn, Mapping) and turn.get("role") in _ROLES]
    if not turns or len(turns) != len(chat) or not all(isinstance(turn.get("content"), str) for turn in turns):
        msg = f"prompt_data has the prompt {prompt!r}; expected a text, or a list of {{'role': ..., 'content': ...}}"
        raise DataError(msg)
    return tuple(Message(role=turn["role"], content=turn["content"]) for turn in turns)
