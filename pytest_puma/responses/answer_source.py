"""Responses from a file of answers: a model that was asked elsewhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from pytest_puma.core import (
    CellId,
    DataError,
    Likelihood,
    Model,
    Origin,
    Provenance,
    Request,
    Response,
    Sample,
    Score,
)
from pytest_puma.phrases import named
from pytest_puma.replies.letters import LETTERS
from pytest_puma.responses.answer_file import UNMEASURED, GivenAnswer, Kind, Logprobs, read_answers

#: The last question of a prompt with solved examples.
_LAST_QUESTION = re.compile(r"(?:^|.*\n)Q: (.+?)\nA:[^\n]*$", re.DOTALL)
_MAX_NAMED = 3


class AnswerSource:
    """The answers in a file of somebody else; the format is that of `answer_file`.

    Each trial of a sample has its own texts or log-probabilities, and takes them in the order of its requests. Samples
    with equal prompts take the lines of that prompt in the order of their rows. A `DataError` names a sample without an
    answer.
    """

    def __init__(self, model: Model) -> None:
        self._name = model.name
        self._chat = model.options.chat
        self._given = read_answers(model)
        self._by_id = {answer.id: answer for answer in self._given.answers if answer.id is not None}
        self._by_question: dict[str, list[GivenAnswer]] = {}
        for answer in self._given.answers:
            for question in _questions(answer):
                self._by_question.setdefault(question, []).append(answer)
        self.begin("", {})

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:  # noqa: ARG002 - of any cell
        """Forget which answers were used."""
        self._signature = signature
        self._by_sample: dict[str, GivenAnswer | None] = {}
        self._taken: Counter[tuple[str, int, str]] = Counter()
        self._used: dict[tuple[GivenAnswer, int, str], int] = {}
        #: The row that took a line last, by the prompt of several different answers.
        self._ordered: dict[str, int] = {}

    def find(self, requests: Sequence[Request], origins: Sequence[Origin]) -> list[Response]:
        """Return the answer to each request; all samples without one are in the same error."""
        for request, origin in sorted(zip(requests, origins, strict=True), key=lambda pair: _row(pair[1].sample)):
            self._find_answer(request, origin)
        answers = [self._by_sample[origin.sample.id] for origin in origins]
        unanswered = [origin.name for answer, origin in zip(answers, origins, strict=True) if answer is None]
        if unanswered:
            others = f" (and {len(unanswered) - 1} more)" if len(unanswered) > 1 else ""
            cell = origins[0].cell
            wanted = "prompt" if CellId.parse(cell).perturbation else "id or its prompt"
            self._refuse(f"{unanswered[0]} of {cell} has no answer{others}; expected a line with its {wanted}")
        asked = zip(answers, requests, origins, strict=True)
        return [self._response(answer, request, origin) for answer, request, origin in asked if answer is not None]

    def provenance(self) -> Provenance:
        """Return the signature with the digest of the file, and a warning if the cell used only a part of it.

        A `DataError` if answers to equal prompts may belong to samples that were not asked.
        """
        self._check_all_given()
        engine = {"answers": self._given.path.name, "answers_sha256": self._given.digest, "chat": str(self._chat)}
        return Provenance(
            signature={**self._signature, "engine": engine}, warnings=tuple(self._warnings()), unmeasured=UNMEASURED
        )

    def close(self) -> None:
        """Do nothing: the file was read as a whole."""

    def _find_answer(self, request: Request, origin: Origin) -> None:
        """Find the answer to the sample of a request. The first request has its question, later ones may not."""
        sample, perturbed = origin.sample, CellId.parse(origin.cell).perturbation is not None
        if sample.id not in self._by_sample:
            # The id of a perturbed sample is that of the original, to which the answers are.
            answer = None if perturbed else self._by_id.get(sample.id)
            self._by_sample[sample.id] = answer or self._by_text(request, sample, perturbed=perturbed)

    def _by_text(self, request: Request, sample: Sample, *, perturbed: bool) -> GivenAnswer | None:
        texts = [request.prompt.messages[-1].content]
        if not perturbed:
            texts += [value for value in sample.fields.values() if isinstance(value, str)]
        lines = list(dict.fromkeys(answer for text in texts for answer in self._by_question.get(text.strip(), ())))
        different = {repr(answer.trials): answer for answer in reversed(lines)}
        if len(different) > 1 and len({answer.prompt for answer in lines}) > 1:
            places = " and ".join(answer.shown for answer in list(different.values())[:2])
            self._refuse(f"sample {sample.id!r} has several answers: {places}; expected one line for its prompt")
        given = set(self._by_sample.values()) if len(lines) > 1 else set()
        free = [answer for answer in lines if answer not in given]
        if len(different) > 1:
            prompt, row = lines[0].prompt or "", _row(sample)
            if not free or row < self._ordered.get(prompt, 0):
                self._refuse_order(lines)
            self._ordered[prompt] = row
        return next(iter(free or lines), None)

    def _check_all_given(self) -> None:
        """Refuse different answers to one prompt of which some are left: they may belong to samples not asked."""
        given = set(self._by_sample.values())
        for prompt in self._ordered:
            lines = [answer for answer in self._given.answers if answer.prompt == prompt]
            if not given.issuperset(lines):
                self._refuse_order(lines)

    def _refuse_order(self, lines: Sequence[GivenAnswer]) -> NoReturn:
        places = " and ".join(answer.shown for answer in lines[:2])
        problem = f"{len(lines)} answers belong to the samples with one prompt in the order of their rows: {places}"
        self._refuse(f"{problem}; expected the cell to ask all these samples and no more, or lines with their ids")

    def _response(self, answer: GivenAnswer, request: Request, origin: Origin) -> Response:
        """The next value of the trial, of the kind that the request needs."""
        kind: Kind = "logprobs" if isinstance(request, Score) else "text"
        trials, trial = answer.trials.get(kind, ()), origin.trial.index
        asked = (origin.sample.id, trial, kind)
        if not trials:
            self._refuse(f"{answer.shown} has no {kind}, which {origin.name} of {origin.cell} needs")
        if trial >= len(trials):
            problem = f"has {kind} for {len(trials)} trials, but {origin.name} is asked"
            self._refuse(f"{answer.shown} {problem}; expected a list with one {kind} for each trial")
        if self._taken[asked] >= len(trials[trial]):
            problem = f"has {kind} for {len(trials[trial])} requests of {origin.name}, but there are more"
            self._refuse(f"{answer.shown} {problem}; expected a list of lists, with one {kind} for each request")
        value = trials[trial][self._taken[asked]]
        self._taken[asked] += 1
        self._used[answer, trial, kind] = max(self._taken[asked], self._used.get((answer, trial, kind), 0))
        return self._scored(answer, request, origin, value) if isinstance(request, Score) else Response(text=value)

    def _scored(self, answer: GivenAnswer, request: Score, origin: Origin, values: Logprobs) -> Response:
        names = [text.strip() for text in request.continuations]
        choices = origin.sample.choices
        if len(choices) == len(names) and names == [*LETTERS[: len(names)]]:
            names = [choices[index].text for index in origin.trial.order or range(len(choices))]
        if {*names} != {*values}:
            present, expected = (", ".join(map(repr, sorted(texts))) for texts in (values, {*names}))
            self._refuse(f"{answer.shown} has logprobs of {present}; expected those of {expected}, for {origin.name}")
        logprobs = tuple(values[name] for name in names)
        likelihoods = (Likelihood(total=value, end=None, tokens=0, greedy=False) for value in logprobs)
        return Response(logprobs=logprobs, likelihoods=tuple(likelihoods), finish="scored")

    def _warnings(self) -> Iterator[str]:
        """A sentence on lines that the cell did not use, and one on further values of lines that it used."""
        file, total = self._given.path.name, len(self._given.answers)
        used = {answer for answer, *_ in self._used}
        unused = [answer for answer in self._given.answers if answer not in used]
        if unused:
            names = named((answer.shown for answer in unused), _MAX_NAMED)
            yield f"{len(unused)} of the {total} answers in {file} are not used: {names}"
        partly = [answer for answer in self._given.answers if answer in used and self._has_more(answer)]
        if partly:
            yield (
                f"{len(partly)} of the {total} answers in {file} have more texts than are asked for: {partly[0].shown}"
            )

    def _has_more(self, answer: GivenAnswer) -> bool:
        return any(
            self._used.get((answer, trial, kind), 0) < len(requests)
            for kind, trials in answer.trials.items()
            if any((answer, trial, kind) in self._used for trial in range(len(trials)))
            for trial, requests in enumerate(trials)
        )

    def _refuse(self, problem: str) -> NoReturn:
        msg = f"recorded:{self._name}={self._given.path.name}: {problem}"
        raise DataError(msg)


def _row(sample: Sample) -> int:
    """The number of a sample's row in the data, 0 if it has none."""
    number = sample.row.rpartition(" ")[2]
    return int(number) if number.isdecimal() else 0


def _questions(answer: GivenAnswer) -> Iterator[str]:
    """The texts that a sample may have in common with the prompt of an answer: all of it, or its last question."""
    if answer.prompt is None:
        return
    yield answer.prompt.strip()
    last = _LAST_QUESTION.match(answer.prompt.rstrip())
    if last is not None:
        yield last[1].strip()
