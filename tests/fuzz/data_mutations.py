"""Hostile data files: valid ones with parts changed, and texts that no parser likes."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

from hypothesis import strategies as st

from tests.fuzz.data_seeds import SEEDS

_VALUES = st.sampled_from(
    [
        "null", "true", "0", "-1", "1.5", "1e308", "NaN", "Infinity", "-Infinity", "1" + "0" * 400, "1e999",
        "1000000000", '""', '"x"', '"NaN"', '"0"', '"1e999"', '"\\u0000"', '"\\u001b[2J"', '"\\u202e"', '"\\ud800"',
        '"\\n"', '"a,b"', '"A-0"', '"' + "x" * 9999 + '"', "[]", "[[]]", "{}", "[1]", '["x"]', "[null]", '{"x": 1}',
        '{"": null}', "0.1", '{"role": "user"}', "[" * 400 + "]" * 400, '"last"', '"../../x"', "9223372036854775808",
    ]
).map(json.loads)  # fmt: skip


def _nodes(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(each for key, part in inner for each in _nodes(part, (*path, key)))]


@st.composite
def _changed_json(draw: st.DrawFn, name: str, data: bytes) -> bytes:
    """A JSON file, or a line of one, with some values replaced, removed or renamed."""
    lines = data.decode().splitlines() if name.endswith("jsonl") else [data.decode()]
    at = draw(st.integers(0, len(lines) - 1))
    value = json.loads(lines[at])
    for _ in range(draw(st.integers(1, 2))):
        path = draw(st.sampled_from(_nodes(value)))
        if not path:
            value = draw(_VALUES)
            continue
        parent = value
        for key in path[:-1]:
            parent = parent[key]
        match draw(st.integers(0, 3)):
            case 0 if isinstance(parent, dict):
                del parent[path[-1]]
            case 1 if isinstance(parent, dict):
                parent[draw(st.sampled_from(["", "x", "\x1b", "id"]))] = parent.pop(path[-1])
            case _:
                parent[path[-1]] = draw(_VALUES)
        if not isinstance(value, (dict, list)):
            break
    lines[at] = json.dumps(value)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


_PIECES = st.sampled_from(
    [
        b"\x00", b"\xff", b"\xef\xbb\xbf", b'"', b"'", b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"\x1b[2J", b"-",
        b":", "\u202e\u2028\x85".encode(), b"\xed\xa0\x80", b"[" * 5000, b"{" * 5000, b'{"a":' * 3000, b"x" * 200_000,
        b"&a ", b"9" * 5000, b"9" * 400, b"NaN", b"Infinity", b"1e999", b'"\\ud800"', b'"\\x1b"', b"null", b"{}",
        b"[]", b"=", b"@", b"*a", b"[*a, *a]", b"<<: *a", b"a: &x [*x]\n", b"!!timestamp x", b"!!bool x", b"!!int x",
        b"!!int ''", b"!<x> ", b"!!float x", b"!!binary x", b"!!python/object:os.system x", b"!!null x", b"!!set x",
        b"2026-13-01", b"? ", b"| ", b"1:" * 200 + b"1", b"---\n", b"...\n", b"%YAML 9.9\n", b"#", b"`", b"%",
        b"0x" + b"f" * 5000, b"0b1_", b"2026-01-01 00:00:00 +99:99",
    ]
)  # fmt: skip


@st.composite
def _changed_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """A file with pieces put in, or in place of some bytes, or cut off."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        match draw(st.integers(0, 3)):
            case 0:
                data = data[:start]
            case 1:
                data = data[:start] + draw(_PIECES) + data[start + draw(st.integers(0, 20)) :]
            case 2:
                data = data[:start] + draw(st.binary(min_size=1, max_size=4)) + data[start + 1 :]
            case _:
                data = data[:start] + draw(_PIECES) + data[start:]
    return data


@st.composite
def _files(draw: st.DrawFn) -> tuple[str, str]:
    name = draw(st.sampled_from(sorted(SEEDS)))
    data = SEEDS[name]
    if name.endswith((".json", ".jsonl")) and draw(st.booleans()):
        changed = draw(_changed_json(name, data))
    elif name.endswith(".gz"):
        inner = draw(_changed_bytes(gzip.decompress(data)))
        changed = gzip.compress(inner) if draw(st.booleans()) else draw(_changed_bytes(data))
    else:
        changed = draw(_changed_bytes(data))
    return name, base64.b64encode(changed).decode()


#: The name of a file and its bytes in base64.
FILES = _files()
