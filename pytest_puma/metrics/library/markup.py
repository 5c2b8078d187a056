"""XML as nested values: a tag becomes a key, a repeated one a key with a list, an attribute a key after `@`.

<order id="7"><item>Nut</item><item>Bolt</item></order>
{"order": {"@id": "7", "item": ["Nut", "Bolt"]}}
"""

from __future__ import annotations

from typing import Any
from xml.parsers import expat


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
        parser.Parse(text.encode(errors="replace"), True)  # noqa: FBT003 - the end of the text
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
