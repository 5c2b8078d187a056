"""The name of a metric, with the slice of the samples that it is about.

    name  = metric [ '[' slice ']' ]
    slice = key=value {, key=value} | (mean|min|max) key

`accuracy[subject=law]` is the accuracy of the samples of one group; `accuracy[mean subject]` is the unweighted mean of
the accuracies of all subjects, `[min subject]` and `[max subject]` the lowest and the highest of them. `accuracy` alone
is over all samples.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from pytest_puma.errors import SettingsError

Fold: TypeAlias = Literal["mean", "min", "max"]

_LAST = re.compile(r"(?P<base>.+)\[(?P<slice>[^\]]*)\]")
#: The value of a slice may have brackets itself; so may the metric, as `per_class.a[b].f1[min x]`.
_FIRST = re.compile(r"(?P<base>[^\[]+)\[(?P<slice>.*)\]")
_FOLD = re.compile(r"\s*(mean|min|max)\s+([^\s=,]+)\s*")
_VALUE = re.compile(r"\s*([^=,]+?)\s*=\s*(.*?)\s*")
#: A comma before another column; any other one belongs to a value, as in `[subject=Health, Safety]`.
_NEXT = re.compile(r",(?=[^=,]+=)")


@dataclass(frozen=True, slots=True)
class Slice:
    """Some groups of the samples: those with all of the `values`, or, with a `fold`, the groups of a `key` combined."""

    values: tuple[tuple[str, str], ...] = ()
    fold: Fold | None = None
    key: str = ""

    def includes(self, groups: Mapping[str, str]) -> bool:
        """Return whether a sample of these groups has all of the values."""
        return all(groups.get(key) == value for key, value in self.values)

    @property
    def keys(self) -> tuple[str, ...]:
        """The group columns that it names."""
        return (self.key,) if self.fold else tuple(key for key, _ in self.values)


@dataclass(frozen=True, slots=True)
class MetricName:
    """The name of a metric in its parts; `slice` is None for all samples."""

    base: str
    slice: Slice | None = None

    @classmethod
    def parse(cls, text: str) -> MetricName:
        """Read a name. Raises a `SettingsError` for a bracket with anything but a slice in it."""
        for pattern in (_LAST, _FIRST):
            sliced = pattern.fullmatch(text)
            if sliced is not None and (part := _slice(sliced["slice"])) is not None:
                return cls(sliced["base"], part)
        if wrong := _LAST.fullmatch(text):
            msg = f"metric {text!r}: found [{wrong['slice']}]; expected [column=value], or [mean column], min or max"
            raise SettingsError(msg)
        return cls(text)


def _slice(inside: str) -> Slice | None:
    """Read what is between the brackets; None if it is no slice."""
    if folded := _FOLD.fullmatch(inside):
        return Slice(fold=cast("Fold", folded[1]), key=folded[2])
    pairs = [_VALUE.fullmatch(part) for part in _NEXT.split(inside)]
    values = tuple((pair[1], pair[2]) for pair in pairs if pair is not None)
    return Slice(values=values) if len(values) == len(pairs) else None


def of_group(base: str, key: str, value: str) -> str:
    """The name of a metric over one group."""
    return f"{base}[{key}={value}]"


def folded(base: str, fold: Fold, key: str) -> str:
    """The name of a metric over the groups of a column, combined."""
    return f"{base}[{fold} {key}]"
