"""A file of answers that somebody else computed: JSON Lines, one line for each sample.

    {"id": "PUMA-17", "text": "Major"}
    {"id": "PUMA-18", "text": ["Major", "Minor"]}               one text for each trial of the sample
    {"id": "PUMA-19", "text": [["It is unclear.", "Major"]]}    one for each request of each trial
    {"prompt": "What is the capital of France?", "text": "Paris"}
    {"id": "q7", "logprobs": {"desk": -0.2, "house": -1.9}}     natural logarithms of the probabilities of choices

`id` is the `sample_id` of `predictions.jsonl`; `prompt` the question instead: the last message of the prompt, or a text
field of the sample. A file may also be one JSON list of such objects, or an object with the list under "outputs".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

from pytest_puma.core import DataError, Model, SettingsError
from pytest_puma.core.metric import Source
from pytest_puma.models.argument import LINE_KEYS
from pytest_puma.phrases import shown
from pytest_puma.platform.json_text import parse_foreign_json
from pytest_puma.platform.shape import misfit

Kind: TypeAlias = Literal["text", "logprobs"]
KINDS: tuple[Kind, ...] = ("text", "logprobs")
Logprobs: TypeAlias = Mapping[str, float]
#: A text, or `Logprobs`, for each request of each trial.
Trials: TypeAlias = tuple[tuple[Any, ...], ...]
_EXPECTED = '{"id": "PUMA-17", "text": "Major"}'
_MISSING = object()
#: What metrics are counted from and answers do not have.
UNMEASURED: Mapping[Source, str] = {
    "clock": "is unknown: a file of answers has no times",
    "tokens": "is unknown: a file of answers has no numbers of tokens",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GivenAnswer:
    """The answers to one sample, under its `id` or its `prompt`. `line`: its line, for messages."""

    line: str
    id: str | None
    prompt: str | None
    trials: Mapping[Kind, Trials]

    @property
    def shown(self) -> str:
        """The line and its key, shortened."""
        key = self.id if self.id is not None else self.prompt or ""
        return f"{self.line} ({shown(key)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswers:
    """The content of a file: its answers in order, and the SHA-256 of its bytes."""

    path: Path
    answers: tuple[GivenAnswer, ...]
    digest: str


def read_answers(model: Model) -> GivenAnswers:
    """Read the file of a model; a `DataError` names the model, the line, and what was expected."""
    reader = AnswerReader(model)
    data = reader.data()
    answers = tuple(reader.answer(line, entry) for line, entry in reader.entries(data))
    if not answers:
        reader.refuse("", f"has no answers; expected a line for each sample, such as {_EXPECTED}")
    reader.check_unique(answers)
    return GivenAnswers(path=model.path, answers=answers, digest=hashlib.sha256(data).hexdigest())


def check_answers(models: Iterable[Model], read: Callable[[Model], object], *, where: str) -> None:
    """Read the files among models, so that a mistake in one is a `SettingsError` before anything runs."""
    try:
        for model in models:
            if model.source == "answers":
                read(model)
    except DataError as error:
        msg = f"{where} {error}"
        raise SettingsError(msg) from error


class AnswerReader:
    """Reads the lines of one file, and names it in errors."""

    def __init__(self, model: Model) -> None:
        self._model = model
        keys = dict(model.keys)
        self._keys = {name: keys.get(name, name) for name in LINE_KEYS}
        # Lines in another format may have any other keys, and only the named one identifies a sample.
        self._foreign = bool(keys)
        for named, unnamed in (("id", "prompt"), ("prompt", "id")):
            if named in keys and unnamed not in keys:
                del self._keys[unnamed]

    def refuse(self, line: str, problem: str) -> NoReturn:
        """Raise the `DataError` about a line, or about the file."""
        where = f"{self._model.path.name}: {line}:" if line else self._model.path.name
        msg = f"recorded:{self._model.name}={where} {problem}"
        raise DataError(msg)

    def data(self) -> bytes:
        """Return the bytes of the file."""
        try:
            return self._model.path.read_bytes()
        except OSError as error:
            msg = f"{self._model.name}: {self._model.path}: cannot be read ({error.strerror})"
            raise DataError(msg) from error

    def entries(self, data: bytes) -> Iterator[tuple[str, Any]]:
        """Yield the name of the line, and the JSON value, of each answer."""
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            lines = data.count(b"\n", 0, error.start)
            self.refuse(f"line {lines + 1}", "is not UTF-8; expected JSON Lines in UTF-8")
        listed = _list_of(text)
        if listed is not None:
            yield from ((f"entry {number}", entry) for number, entry in enumerate(listed, start=1))
            return
        for number, content in enumerate(text.split("\n"), start=1):
            if content.strip():
                try:
                    yield f"line {number}", parse_foreign_json(content)
                except ValueError as error:
                    self.refuse(f"line {number}", f"is not JSON ({error}); expected a line such as {_EXPECTED}")

    def answer(self, line: str, entry: Any) -> GivenAnswer:
        """Check a line."""
        if not isinstance(entry, dict):
            self.refuse(line, f"is {_kind(entry)}; expected an object such as {_EXPECTED}")
        unknown = [] if self._foreign else [key for key in entry if key not in LINE_KEYS]
        if unknown:
            self.refuse(line, f"has the unknown key {shown(unknown[0])}; there are: {', '.join(LINE_KEYS)}")
        values = {name: value for name in self._keys if (value := self._value(entry, name)) is not _MISSING}
        named = [name for name in ("id", "prompt") if name in values]
        if len(named) != 1:
            wanted = " or ".join(self._keys[name] for name in ("id", "prompt") if name in self._keys)
            self.refuse(line, f"has {' and '.join(named) or f'no {wanted}'}; expected either id or prompt")
        if values.keys().isdisjoint(KINDS):
            self.refuse(line, f"has no {self._keys['text']} and no {self._keys['logprobs']}; expected one of the two")
        return GivenAnswer(
            line=line,
            id=self._name(line, values, "id"),
            prompt=self._name(line, values, "prompt"),
            trials={kind: self._trials(line, kind, values[kind]) for kind in KINDS if kind in values},
        )

    def check_unique(self, answers: Sequence[GivenAnswer]) -> None:
        """Refuse two lines with one id, but for equal answers in published files; samples may share a prompt."""
        first: dict[str, GivenAnswer] = {}
        for answer in answers:
            earlier = answer if answer.id is None else first.setdefault(answer.id, answer)
            if earlier is not answer and not (self._foreign and earlier.trials == answer.trials):
                self.refuse(answer.line, f"has the same id as {earlier.shown}; expected one line for each sample")

    def _value(self, entry: Mapping[str, Any], name: str) -> Any:
        """The value under a key, or under keys of nested objects if the key has dots."""
        key = self._keys[name]
        if key in entry:
            return entry[key]
        value: Any = entry
        for part in key.split("."):
            value = value.get(part, _MISSING) if isinstance(value, dict) else _MISSING
        return value

    def _name(self, line: str, values: Mapping[str, Any], name: str) -> str | None:
        value = values.get(name)
        if name in values and not (isinstance(value, str) and value.strip()):
            self.refuse(line, f"{self._keys[name]} is {shown(value)}; expected a text that is not empty")
        return value

    def _trials(self, line: str, kind: Kind, value: Any) -> Trials:
        """The values of each request of each trial."""
        check = self._text if kind == "text" else self.logprobs
        trials = [listed(trial) for trial in listed(value)]
        if not trials or not all(trials):
            self.refuse(line, f"{self._keys[kind]} has an empty list; expected a value for each trial of the sample")
        return tuple(tuple(check(line, request) for request in trial) for trial in trials)

    def _text(self, line: str, value: Any) -> str:
        if not isinstance(value, str):
            problem = f"{self._keys['text']} has {_kind(value)}"
            self.refuse(line, f"{problem}; expected a text, or a list with one for each trial of the sample")
        return value

    def logprobs(self, line: str, value: Any) -> Logprobs:
        """Check the log-probabilities of a line."""
        name = self._keys["logprobs"]
        if not isinstance(value, dict) or not value:
            kind = "an empty object" if value == {} else _kind(value)
            self.refuse(line, f'{name} has {kind}; expected an object such as {{"desk": -0.2, "house": -1.9}}')
        for choice, number in value.items():
            if not _is_logprob(number):
                expected = "the natural logarithm of a probability, at most 0"
                self.refuse(line, f"{name} of {shown(choice)} is {shown(number)}; expected {expected}")
        return {choice: float(number) for choice, number in value.items()}


def listed(value: Any) -> list[Any]:
    """Return a list as it is, another value as a list of one."""
    return value if isinstance(value, list) else [value]


def _list_of(text: str) -> list[Any] | None:
    """The answers of a file that is one JSON value; None for JSON Lines."""
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        whole = parse_foreign_json(text)
    except ValueError:
        return None
    outputs = whole.get("outputs") if isinstance(whole, dict) else whole
    return outputs if isinstance(outputs, list) else None


def _is_logprob(value: Any) -> bool:
    """Whether it is a number up to 0, minus infinity included; some whole numbers are too large for a float."""
    return (isinstance(value, float) and value <= 0) or (not misfit(value, int) and value <= 0)


def _kind(value: Any) -> str:
    """The kind of a JSON value, with its article."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds: dict[type, str] = {str: "a text", dict: "an object", list: "a list"}
    return kinds.get(type(value), "a number")
