"""Metrics of replies in YAML, TOML and XML, of the keys that a structured reply has, and of single marks in a text.

context = {"keys": ["order.@id", "order.item.0"], "format": "xml"}

A reply is its longest fenced block, or all of it without one. XML becomes nested values: a tag becomes a key, a
repeated one a key with a list, an attribute a key after `@`.

<order id="7"><item>Nut</item><item>Bolt</item></order>
{"order": {"@id": "7", "item": ["Nut", "Bolt"]}}
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal
from xml.parsers import expat

from msgspec import Meta

from pytest_puma.core import Metric, Prediction, Sample
from pytest_puma.metrics.library.csv_metrics import longest_table
from pytest_puma.metrics.library.json_metrics import within
from pytest_puma.metrics.library.reading import Count, argument, completion_metric, unstripped
from pytest_puma.replies.fences import content

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_POSTSCRIPT = re.compile(r"(?<![\w.])P\.(P\.)?S\.")
#: Not a link of Markdown.
_PLACEHOLDER = re.compile(r"\[([^\[\]\n]*)\](?!\()")
_PATHS = Annotated[list[Annotated[str, Meta(min_length=1)]], Meta(min_length=1)] | None
_FORMAT = Literal["json", "yaml", "toml", "xml", "csv"]


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


def read_xml(text: str) -> dict[str, Any]:
    """Return the document.

    Raises a `ValueError` if the text is no XML, or defines entities: one line of them can grow to gigabytes.
    """
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(content(text).encode(errors="replace"), True)  # noqa: FBT003 - the end of the text
    except expat.ExpatError as error:
        raise ValueError(str(error)) from error
    return reader.document


class _Reader:
    """The elements that are open, each as its values and its texts."""

    def __init__(self) -> None:
        self.document: dict[str, Any] = {}
        self._open: list[tuple[dict[str, Any], list[str]]] = [(self.document, [])]

    def start(self, _: str, attributes: dict[str, str]) -> None:
        self._open.append(({f"@{name}": value for name, value in attributes.items()}, []))

    def end(self, tag: str) -> None:
        values, texts = self._open.pop()
        parent, _ = self._open[-1]
        value = values or "".join(texts).strip()
        if tag not in parent:
            parent[tag] = value
        elif isinstance(parent[tag], list):
            parent[tag].append(value)
        else:
            parent[tag] = [parent[tag], value]

    def text(self, text: str) -> None:
        self._open[-1][1].append(text)


def _refuse(name: str, *_: object) -> None:
    msg = f"the text defines the entity {name!r}"
    raise ValueError(msg)


def _read_csv(text: str) -> Any:
    """The records as mappings by the names in the first one."""
    table = longest_table(text)
    if table is None:
        msg = "no table"
        raise ValueError(msg)
    names = [name.strip() for name in table.rows[0]]
    return [dict(zip(names, row, strict=True)) for row in table.rows[1:]]


_READERS: Mapping[str, Callable[[str], Any]] = {
    "json": within,
    "yaml": read_yaml,
    "toml": read_toml,
    "xml": read_xml,
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
    expected = "a list of keys with dots, as 'order.items.0.name', or None if it does not apply"
    paths = argument(sample, "keys", _PATHS, metric="keys", expected=expected)
    if paths is None:
        return None
    name = argument(sample, "format", _FORMAT, metric="keys", expected=f"one of {', '.join(_READERS)}", default="json")
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
    return all(has_key(element, path) for element in value)


def _read(name: str, text: str) -> Any:
    """The value of a text in this format, None if it has none."""
    try:
        return _READERS[name](text)
    except (ValueError, RecursionError):
        return None


def postscript(_: Sample, prediction: Prediction) -> float:
    """Return 1 if the reply has `P.S.` or `P.P.S.`."""
    return float(_POSTSCRIPT.search(prediction.text) is not None)


def placeholders(sample: Sample, prediction: Prediction) -> float:
    """Return 1 if the reply has at least as many placeholders, as `[address]`, as the context's `placeholders` (1)."""
    expected = "a whole number from 1"
    minimum = argument(sample, "placeholders", Count, metric="placeholders", expected=expected, default=1)
    # `[ ]` is the empty box of a list.
    return float(sum(bool(name.strip()) for name in _PLACEHOLDER.findall(prediction.text)) >= minimum)


METRICS = (
    *(completion_metric(name=f"{name}.valid", score=_valid(name)) for name in ("yaml", "toml", "xml")),
    completion_metric(name="keys", score=keys),
    Metric(name="postscript", score=postscript),
    Metric(name="placeholders", score=placeholders),
)
