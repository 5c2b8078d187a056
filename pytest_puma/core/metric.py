"""A metric: how a prediction is scored, and how the scores of many predictions become one number; a task as data.

@metric(better="low", unit="words", bounds=None)
def length_error(sample, prediction):
    return abs(len(prediction.text.split()) - int(sample.fields["words"]))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from inspect import isgeneratorfunction
from typing import Any, Literal, TypeAlias, get_args, overload

from pytest_puma.errors import SettingsError
from pytest_puma.phrases import there_are
from pytest_puma.task_types import KINDS, TaskKind

Direction: TypeAlias = Literal["high", "low", "neither"]
#: A score of one prediction; a tuple is a vector that adds up; None: the metric does not apply to this sample.
Value: TypeAlias = float | bool | tuple[float, ...] | None
Per: TypeAlias = Literal["trial", "sample", "cell"]
#: What a number is counted from: a kept answer has no time, a baseline no log-probabilities.
Source: TypeAlias = Literal["answers", "log-probabilities", "distributions", "tokens", "clock", "energy"]
#: The reason why answers have no energy, if there is no other one.
NO_ENERGY: Mapping[Source, str] = {"energy": "is not measured: it needs --puma-energy and a readable counter"}
#: Whom a metric asks about a prediction: a second model, or what runs a program.
Asked: TypeAlias = Literal["judge", "sandbox"]
Need: TypeAlias = Literal["probabilities", "likelihoods", "unconditional", "divergence", "judge", "sandbox"]

_NAME = re.compile(r"[\w.+-]+")


@dataclass(frozen=True, slots=True)
class Pool:
    """Pooling of the vectors of many predictions into one number.

    `width`: the length of each vector. `combine`: from an array of sums, resamples x width, to an array of numbers, one
    for each resample. NaN: these sums give no number.
    """

    width: int
    combine: Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A named score with a direction.

    `score` is a function of a `Sample` and its `Prediction`; if `per` is "sample", of a sample and the predictions of
    all its trials; if `per` is "cell", of all predictions of a cell. It returns a `Value`, or, if the metric has
    `parts`, a value by part. `better`: which values are better. `unit`: of the value, for reports. `bounds`: the
    minimum and maximum of a value, None if it has none. `pool`: None for the mean. `needs`: predictions without it are
    not scored; "judge" or "sandbox": whom a generator asks, the judge if it names none. `kinds`: the kinds of task to
    which the metric applies, empty for all. `extra`: the optional dependencies of pytest-puma that it needs, as `text`
    in `pip install 'pytest-puma[text]'`. `interval`: False for no confidence interval, if that of resamples would
    seldom contain the true value. `source`: what it is counted from. `digest`: of what could change a score beside its
    code, such as the words of a rubric. `companions`: metrics that read its scores or its conversation, and are
    computed with it.
    """

    name: str
    score: Callable[..., Any]
    parts: tuple[str, ...] = ()
    better: Direction = "high"
    unit: str = ""
    bounds: tuple[float, float] | None = (0.0, 1.0)
    per: Per = "trial"
    pool: Pool | None = None
    needs: frozenset[Need] = frozenset()
    kinds: frozenset[str] = frozenset()
    extra: str = ""
    interval: bool = True
    source: Source = "answers"
    digest: str = ""
    companions: tuple[Metric, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no gate could name and no report could show; any collection of needs and kinds will do."""
        for problem in self._problems():
            msg = f"metric {problem}"
            raise SettingsError(msg)
        for name in ("needs", "kinds"):
            object.__setattr__(self, name, frozenset(getattr(self, name)))

    def _problems(self) -> Iterator[str]:
        """Each wrong field, as a sentence that begins with the name of the metric."""
        if isinstance(self.parts, str):
            yield f"{self.name!r}: parts is {self.parts!r}; expected a tuple of names"
        for name in (self.name, *self.parts):
            if not _NAME.fullmatch(name):
                yield f"{name!r}: expected a name of letters, digits and any of _ . + - only"
        yield from self._wrong_words()
        if self.bounds is not None and not _are_bounds(self.bounds):
            yield f"{self.name!r}: bounds are {self.bounds!r}; expected (minimum, maximum), or None"
        if self.pool is not None and not isinstance(self.pool, Pool):
            yield f"{self.name!r}: pool is {self.pool!r}; expected Pool(width, combine), or None for the mean"
        if self.asks and self.per != "trial":
            yield f"{self.name!r} asks a {self.asks} about single predictions; expected per to be 'trial'"
        if self.per == "cell" and (self.parts or self.pool):
            yield f"{self.name!r} is a function of a whole cell; expected neither parts nor a pool"

    def _wrong_words(self) -> Iterator[str]:
        for field, words in (("better", get_args(Direction)), ("per", get_args(Per)), ("source", get_args(Source))):
            if getattr(self, field) not in words:
                yield f"{self.name!r}: {field} is {getattr(self, field)!r}; expected {', '.join(map(repr, words))}"
        for field, words in (("needs", get_args(Need)), ("kinds", tuple(KINDS))):
            values = getattr(self, field)
            if not isinstance(values, (frozenset, set, tuple, list)) or not set(values) <= set(words):
                expected = ", ".join(map(repr, words))
                yield f"{self.name!r}: {field} is {values!r}; expected a set of any of {expected}"
            elif len(asked := _asked(values)) > isgeneratorfunction(self.score):
                found = "its function has no yield" if len(asked) == 1 else "it can ask only one of them"
                yield f"{self.name!r} needs {' and '.join(map(repr, asked))}, but {found}"

    def __call__(self, *args: Any) -> Any:
        """Score, so that a decorated function can still be called."""
        return self.score(*args)

    @property
    def asks(self) -> Asked | None:
        """Whom it asks; None unless its function is a generator, which yields requests or programs."""
        return next(iter(_asked(self.needs)), "judge") if isgeneratorfunction(self.score) else None

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which its numbers appear: `json.valid` and `json.schema` of a metric with two parts."""
        return tuple(f"{self.name}.{part}" for part in self.parts) or (self.name,)


#: The confidence level of an interval.
LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """The value of a metric with its interval and the number of predictions behind it.

    `value` is NaN if there is nothing to measure (n = 0); `low` and `high` are NaN if no interval exists. `note`: a
    caveat for the reader. `level`: the confidence level of the interval. `better`: which values are better. `unit`: of
    the value, empty for a plain number.
    """

    metric: str
    value: float
    low: float
    high: float
    n: int
    note: str = ""
    level: float = LEVEL
    better: Direction = "high"
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredScore:
    """The declaration of a metric of single predictions, as in `Metric`; `pooled`: its scores are vectors."""

    name: str
    better: Direction = "high"
    unit: str = ""
    bounds: tuple[float, float] | None = (0.0, 1.0)
    pooled: bool = False
    interval: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskInfo:
    """The task that a scenario sets, as data: stored predictions can be compared and shown without the scenario.

    `type`: its `task_type`. `labels`: the valid answers of a classification, the values to choose from in a regression,
    else empty; `ordered`: they are steps of a scale. `primary`: the primary metric; `better`: which of its values are
    better. `keyed`: ids of samples mean something to people, as they are no hashes. `scores`: the metrics of single
    predictions that the cell has beside those of every such task.
    """

    type: str
    labels: tuple[str, ...] = ()
    ordered: bool = False
    primary: str = ""
    better: Direction = "neither"
    keyed: bool = True
    scores: tuple[DeclaredScore, ...] = ()

    @property
    def kind(self) -> TaskKind:
        """The kind of task, by its type; a `KeyError` if this version has no such kind."""
        return KINDS[self.type]


@overload
def metric(function: Callable[..., Any], /) -> Metric: ...
@overload
def metric(**declared: Any) -> Callable[[Callable[..., Any]], Metric]: ...
def metric(function: Callable[..., Any] | None = None, /, **declared: Any) -> Metric | Callable[..., Metric]:
    """Make a `Metric` of a function, under the function's name.

    Keywords are the fields of `Metric`: `@metric(better="low", bounds=None)`. Raises a `SettingsError` for any other.
    """
    fields = Metric.__dataclass_fields__.keys() - {"score"}
    if unknown := sorted(declared.keys() - fields):
        msg = f"@metric does not know {', '.join(unknown)}; {there_are(unknown[0], sorted(fields))}"
        raise SettingsError(msg)

    def wrap(score: Callable[..., Any]) -> Metric:
        settings: Mapping[str, Any] = {"name": score.__name__, **declared}
        return Metric(score=score, **settings)

    return wrap if function is None else wrap(function)


def _asked(needs: Iterable[Any]) -> list[Asked]:
    return [asked for asked in get_args(Asked) if asked in needs]


def _are_bounds(value: Any) -> bool:
    try:
        low, high = value
        return float(low) < float(high)
    except (TypeError, ValueError):
        return False
