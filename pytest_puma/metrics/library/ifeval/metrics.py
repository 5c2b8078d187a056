"""Metrics of IFEval: whether a reply follows the instructions of its prompt, strictly or loosely.

The context has the instructions as the rows of IFEval state them: ids of kinds, and the arguments of each.

context = {"instruction_id_list": ["punctuation:no_comma", "length_constraints:number_words"],
           "kwargs": [{}, {"relation": "at least", "num_words": 300}]}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from typing import Any

from pytest_puma.core import Pool, Prediction, Sample, SettingsError
from pytest_puma.metrics.library.ifeval.kind import Kind
from pytest_puma.metrics.library.ifeval.kinds import KINDS
from pytest_puma.metrics.library.reading import argument, completion_metric
from pytest_puma.metrics.statistic import divide
from pytest_puma.phrases import there_are


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction with its arguments."""

    kind: Kind
    arguments: Mapping[str, Any]

    def strict(self, reply: str) -> bool:
        """Whether the reply as it is follows the instruction; an empty one never does."""
        return bool(reply.strip()) and self.kind.follows(reply, **self.arguments)

    def loose(self, reply: str) -> bool:
        """Whether the reply follows the instruction without its first or last line, or without asterisks."""
        return any(map(self.strict, variants(reply)))


def variants(reply: str) -> tuple[str, ...]:
    """Return a reply as it is, without the first line, without the last, without both; then all four without `*`."""
    lines = reply.split("\n")
    shorter = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    return (reply, *shorter, *(part.replace("*", "") for part in (reply, *shorter)))


def read_instructions(who: str, ids: Sequence[Any], arguments: Sequence[Any]) -> tuple[Instruction, ...]:
    """Return the instructions of a prompt. Raises a `SettingsError` for an unknown kind or unusable arguments.

    `who`: the start of its message.
    """
    if not ids or len(ids) != len(arguments):
        msg = f"{who}: {len(ids)} ids in instruction_id_list and {len(arguments)} entries in kwargs; expected one each"
        raise SettingsError(msg)
    return tuple(starmap(partial(_read, who), zip(ids, arguments, strict=True)))


def _read(who: str, name: Any, arguments: Any) -> Instruction:
    if not isinstance(name, str) or name not in KINDS:
        msg = f"{who}: no kind of instruction {name!r}; {there_are(str(name), KINDS)}"
        raise SettingsError(msg)
    if arguments is not None and not isinstance(arguments, Mapping):
        msg = f"{who}: {name}: kwargs are {arguments!r}; expected a dictionary of arguments"
        raise SettingsError(msg)
    try:
        return Instruction(KINDS[name], KINDS[name].read(arguments or {}))
    except ValueError as error:
        msg = f"{who}: {name}: {error}; correct kwargs in the data"
        raise SettingsError(msg) from None


def _score(
    metric: str, check: Callable[[Instruction, str], bool], value: Callable[[Sequence[bool]], Any]
) -> Callable[[Sample, Prediction], Any]:
    """Return the score function: the value of the checks of all instructions."""

    def score(sample: Sample, prediction: Prediction) -> Any:
        ids, kwargs = (
            argument(sample, name, list[Any], metric=metric, expected=f"a list of {elements}")
            for name, elements in (("instruction_id_list", "kinds of instructions"), ("kwargs", "their arguments"))
        )
        instructions = read_instructions(f"{metric}: sample {sample.id!r}", ids, kwargs)
        return value([check(instruction, prediction.text) for instruction in instructions])

    return score


def _all(followed: Sequence[bool]) -> float:
    return float(all(followed))


def _count(followed: Sequence[bool]) -> tuple[float, float]:
    return float(sum(followed)), float(len(followed))


_CHECKS = {"": Instruction.strict, ".loose": Instruction.loose}
_POOL = Pool(2, lambda sums: divide(*sums.T))

METRICS = tuple(
    completion_metric(name=f"{name}{suffix}", score=_score(f"{name}{suffix}", check, value), pool=pool, extra="lang")
    for name, value, pool in (("ifeval.prompt", _all, None), ("ifeval.instruction", _count, _POOL))
    for suffix, check in _CHECKS.items()
)
