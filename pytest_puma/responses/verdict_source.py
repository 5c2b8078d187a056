"""A file of verdicts that somebody gave, as a judge: JSON Lines, one line for each reply under each metric.

    {"metric": "judge.polite", "id": "7", "reply": "Wait for it.", "verdict": "no"}
    {"metric": "judge.polite", "id": "8", "reply": "We are sorry.", "verdict": "yes", "text": "It says sorry."}
    {"metric": "judge.polite", "id": "9", "reply": "Hm.", "logprobs": {"yes": -0.2, "no": -1.7}}
    {"metric": "judge.comparison", "id": "7", "reply": "Wait for it.", "verdict": ["B", "A"]}   both orders of a pair

`id` is the `sample_id` of `predictions.jsonl`. A verdict counts for its `reply` alone, so that it never judges another
one. `verdict` null is one that nobody could read. `text` has the reasons. A metric that asks several questions, or a
pair, has a list in their order. The file may also be one JSON list of such objects.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from pytest_puma.core import DataError, Generate, Model, Origin, Provenance, Request, Response, Score
from pytest_puma.judges.agreement import AGREEMENT
from pytest_puma.phrases import shown
from pytest_puma.responses.answer_file import AnswerReader, Logprobs, listed

#: Metric, sample and reply.
_Key: TypeAlias = tuple[str, str, str]
_NAMES = ("metric", "id", "reply")
_KEYS = (*_NAMES, "verdict", "logprobs", "text")
_EXPECTED = '{"metric": "judge.polite", "id": "7", "reply": "Wait for it.", "verdict": "no"}'


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GivenVerdict:
    """A line of the file. `verdicts`: a word, log-probabilities, or None, for each question and order."""

    line: str
    reasons: str
    verdicts: tuple[str | Logprobs | None, ...]


def read_verdicts(model: Model) -> tuple[Mapping[_Key, GivenVerdict], str]:
    """Read the file of a judge: its verdicts, and the SHA-256 of its bytes. A `DataError` names an unusable line."""
    reader = AnswerReader(model)
    if model.keys:
        reader.refuse("", f"found {model.keys[0][0]}=; lines of a judge have the keys {', '.join(_KEYS)}")
    data = reader.data()
    verdicts: dict[_Key, GivenVerdict] = {}
    for line, entry in reader.entries(data):
        key, verdict = _verdict(reader, line, entry)
        if key in verdicts:
            reader.refuse(line, f"has the same {', '.join(_NAMES)} as {verdicts[key].line}; expected one line for each")
        verdicts[key] = verdict
    if not verdicts:
        reader.refuse("", f"has no verdicts; expected lines such as {_EXPECTED}")
    return verdicts, hashlib.sha256(data).hexdigest()


def _verdict(reader: AnswerReader, line: str, entry: Any) -> tuple[_Key, GivenVerdict]:
    """Check a line."""
    if not isinstance(entry, dict):
        reader.refuse(line, f"is {shown(entry)}; expected an object such as {_EXPECTED}")
    if unknown := [key for key in entry if key not in _KEYS]:
        reader.refuse(line, f"has the unknown key {shown(unknown[0])}; there are: {', '.join(_KEYS)}")
    for name in (*_NAMES, "text"):
        if not isinstance(entry.get(name, "" if name == "text" else None), str):
            found = f"has {name} {shown(entry[name])}" if name in entry else f"has no {name}"
            reader.refuse(line, f"{found}; expected a text, as in {_EXPECTED}")
    if ("verdict" in entry) == ("logprobs" in entry):
        reader.refuse(line, f"has {'both' if 'verdict' in entry else 'no'} verdict and logprobs; expected one of them")
    values = listed(entry["verdict"] if "verdict" in entry else entry["logprobs"])
    if "logprobs" in entry:
        values = [reader.logprobs(line, value) for value in values]
    elif not values or not all(value is None or isinstance(value, str) for value in values):
        reader.refuse(line, f"has the verdict {shown(entry['verdict'])}; expected a text, null, or a list of them")
    given = GivenVerdict(line=line, reasons=entry.get("text", ""), verdicts=tuple(values))
    return (entry["metric"], entry["id"], entry["reply"]), given


class VerdictSource:
    """The verdicts of a file, as a source. A `DataError` names the reply without one."""

    def __init__(self, model: Model) -> None:
        self._who = f"recorded:{model.name}={model.path.name}"
        self._verdicts, digest = read_verdicts(model)
        self._engine = {"answers": model.path.name, "answers_sha256": digest}

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:  # noqa: ARG002 - verdicts are of any cell
        """Begin a cell."""
        self._signature, self._taken = dict(signature), Counter[tuple[GivenVerdict, int]]()

    def find(self, requests: Sequence[Request], origins: Sequence[Origin]) -> Iterator[Response]:
        """Yield the reasons or the next verdict for each request."""
        given = [self._verdicts.get(_key(origin)) for origin in origins]
        if missing := [origin for verdict, origin in zip(given, origins, strict=True) if verdict is None]:
            self._refuse_missing(missing)
        for verdict, request, origin in zip(given, requests, origins, strict=True):
            if verdict is not None:
                yield self._response(verdict, request, origin)

    def provenance(self) -> Provenance:
        """Return the signature with the digest of the file."""
        return Provenance(signature={**self._signature, "engine": self._engine})

    def close(self) -> None:
        """Do nothing: the file was read as a whole."""

    def _response(self, given: GivenVerdict, request: Request, origin: Origin) -> Response:
        if isinstance(request, Generate):
            return Response(text=given.reasons)
        number = self._taken[given, origin.trial.index]
        self._taken[given, origin.trial.index] += 1
        if number == len(given.verdicts):
            problem = f"{given.line} has {number} of the verdicts that {origin.metric} asks for"
            self._refuse(f"{problem}; expected a list with one for each question, and for each order of a pair")
        return Response(logprobs=self._logprobs(given, given.verdicts[number], request), finish="scored")

    def _logprobs(self, given: GivenVerdict, verdict: str | Logprobs | None, request: Score) -> tuple[float, ...]:
        if verdict is None:
            return ()
        folded = [answer.casefold() for answer in request.continuations]
        chances = {verdict: 0.0} if isinstance(verdict, str) else verdict
        found = {word.strip().casefold(): logprob for word, logprob in chances.items()}
        if not {*found} <= {*folded}:
            expected = ", ".join(request.continuations)
            self._refuse(f"{given.line} has the verdict {shown(verdict)}; expected one of {expected}")
        return tuple(found.get(answer, -math.inf) for answer in folded)

    def _refuse_missing(self, missing: Sequence[Origin]) -> NoReturn:
        metric, sample, reply = _key(missing[0])
        others = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        another = [given.line for key, given in self._verdicts.items() if key[:2] == (metric, sample)]
        about = f"; {another[0]} is about another reply" if another else ""
        problem = f"no verdict of {metric} about the reply {shown(reply)} to {missing[0].name}{others}{about}"
        self._refuse(f"{problem}; expected a line such as {_EXPECTED}")

    def _refuse(self, problem: str) -> NoReturn:
        msg = f"{self._who}: {problem}"
        raise DataError(msg)


def _key(origin: Origin) -> _Key:
    return origin.metric.removesuffix(AGREEMENT), origin.sample.id, origin.reply
