"""Metrics of replies in YAML, TOML and XML, and of the keys that a structured reply has.

context = {"keys": ["order.@id", "order.item.0"], "format": "xml"}

A reply is its longest fenced block, or all of it without one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from pytest_puma.core import Metric, Prediction, Sample
from pytest_puma.metrics.library import json_text
from pytest_puma.metrics.library.arguments import argument, optional
from pytest_puma.metrics.library.csv_table import longest_table, unstripped
from pytest_puma.metrics.library.fences import content
from pytest_puma.metrics.library.markup import read_xml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_yaml(text: str) -> Any:
    """Return a mapping or a list. Raises a `ValueError` for any other text: all prose is a string of YAML."""
    import yaml

    try:
        value = yaml.safe_load(content(text))
    except (yaml.YAMLError, AttributeError, LookupError, TypeError, OverflowError) as error:
        # PyYAML raises the latter for a value that does not fit its tag, as in `!!bool maybe`.
        raise ValueError(str(error)) from error
    return _filled(value)


def read_toml(text: str) -> Any:
    """Return a table that has a key. Raises a `ValueError` for any other text: an empty one is valid TOML."""
    return _filled(tomllib.loads(content(text)))


def _read_xml(text: str) -> Any:
    return read_xml(content(text))


def _read_csv(text: str) -> Any:
    """The records as mappings by the names in the first one."""
    table = longest_table(text)
    if table is None:
        msg = "no table"
        raise ValueError(msg)
    names = [name.strip() for name in table.rows[0]]
    return [dict(zip(names, row, strict=True)) for row in table.rows[1:]]


_READERS: Mapping[str, Callable[[str], Any]] = {
    "json": json_text.within,
    "yaml": read_yaml,
    "toml": read_toml,
    "xml": _read_xml,
    "csv": _read_csv,
}


def _filled(value: Any) -> Any:
    if not isinstance(value, (dict, list)) or not value:
        msg = "neither a mapping nor a list, or an empty one"
        raise ValueError(msg)
    return value


def _valid(name: str) -> Callable[[Sample, Prediction], float]:
    """Return the score function: 1 if the reply is in this format."""

    def score(_: Sample, prediction: Prediction) -> float:
        return float(_read(name, prediction.text) is not None)

    return score


def keys(sample: Sample, prediction: Prediction) -> float | None:
    """Return the share of the context's `keys` that the reply has; 0 for one that is not in the context's `format`."""
    paths = argument(
        sample,
        "keys",
        metric="keys",
        expected="a list of keys with dots, as 'order.items.0.name', or None if it does not apply",
        valid=_are_paths,
    )
    if paths is None:
        return None
    expected = f"one of {', '.join(_READERS)}"
    name = optional(sample, "format", "json", metric="keys", expected=expected, valid=_is_format)
    value = _read(name, unstripped(prediction))
    return sum(has_key(value, path.split(".")) for path in paths) / len(paths)


def has_key(value: Any, path: list[str]) -> bool:
    """Whether nested mappings and lists have a path; a name goes through a list if every element has it."""
    if not path:
        return True
    first, *rest = path
    if isinstance(value, Mapping):
        return first in value and has_key(value[first], rest)
    if not isinstance(value, list) or not value:
        return False
    if first.isdecimal():
        return int(first) < len(value) and has_key(value[int(first)], rest)
    return all(has_key(each, path) for each in value)


def _read(name: str, text: str) -> Any:
    """The value of a text in this format, None if it has none."""
    try:
        return _READERS[name](text)
    except (ValueError, RecursionError):
        return None


def _is_format(value: Any) -> bool:
    return isinstance(value, str) and value in _READERS


def _are_paths(value: Any) -> bool:
    return value is None or (
        isinstance(value, (list, tuple)) and bool(value) and all(isinstance(path, str) and path for path in value)
    )


_COMPLETION = frozenset({"completion"})

METRICS = (
    *(Metric(name=f"{name}.valid", score=_valid(name), kinds=_COMPLETION) for name in ("yaml", "toml", "xml")),
    Metric(name="keys", score=keys, kinds=_COMPLETION),
)
