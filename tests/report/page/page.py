"""The page of a run as data: its blocks as the viewer reads them, and the tables and texts of its summary."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Sequence
from functools import cached_property
from html.parser import HTMLParser
from typing import Any

from pytest_puma.report.page.encoding import PRESENT


class Page:
    """The page of a run, read as a browser would."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.packed = dict(re.findall(r'<script type="text/plain" id="(\w+)">([\w+/=]*)</script>', text))
        self.summary = re.sub(r"<script.*?</script>|<style>.*?</style>", "", text, flags=re.DOTALL)

    def inflated(self, name: str) -> bytes:
        """The bytes of a block."""
        return zlib.decompress(base64.b64decode(self.packed[name]), wbits=-15)

    def block(self, name: str) -> Any:
        """The content of a block of JSON."""
        return json.loads(self.inflated(name))

    @cached_property
    def index(self) -> dict[str, Any]:
        """The block `ix`."""
        index: dict[str, Any] = self.block("ix")
        return index

    def flags(self, cell_id: str) -> list[int]:
        """The flags of each row of a cell."""
        sizes = [self.index["scenarios"][each["scenario"]]["rows"] for each in self.index["cells"]]
        place = self.place(cell_id)
        start, size = sum(sizes[:place]), sizes[place]
        data = self.inflated("fl")
        assert len(data) == 2 * sum(sizes)
        return [int.from_bytes(data[2 * row : 2 * row + 2], "little") for row in range(start, start + size)]

    def place(self, cell_id: str) -> int:
        """The place of a cell in the index."""
        return [each["id"] for each in self.index["cells"]].index(cell_id)

    def cell(self, cell_id: str) -> dict[str, Any]:
        """A cell in the index."""
        cell: dict[str, Any] = self.index["cells"][self.place(cell_id)]
        return cell

    def keys(self, cell_id: str) -> list[tuple[str, int] | None]:
        """The sample and trial of each row of a cell; None where it has none."""
        rows = self.block(f"r{self.cell(cell_id)['scenario']}")
        trials = rows["trials"] or [0] * len(rows["ids"])
        keys = list(zip(rows["ids"], trials, strict=True))
        return [key if flag & PRESENT else None for key, flag in zip(keys, self.flags(cell_id), strict=True)]

    def answers(self, cell_id: str) -> list[str | None]:
        """The answer in each row."""
        block = self.block(f"a{self.place(cell_id)}")
        return [None if number is None else block["table"][number] for number in block["answers"]]

    def entries(self, cell_id: str) -> list[dict[str, Any] | None]:
        """The texts of each row."""
        rows: list[dict[str, Any] | None] = self.block(f"t{self.place(cell_id)}")["rows"]
        return rows

    def prompts(self, cell_id: str, row: int) -> list[list[dict[str, str]]]:
        """The prompts of a row as messages, put together by the rules of the format."""
        head, entry = self.block(f"h{self.place(cell_id)}"), self.entries(cell_id)[row]
        pieces = self.block(f"s{self.cell(cell_id)['scenario']}")["pieces"]
        assert entry is not None
        prompts: list[list[dict[str, str]]] = []
        turn = 0
        for prompt in entry["prompts"]:
            if prompt is None:
                prompts.append(prompts[-1])
                continue
            messages = [{"role": role, "content": text} for role, text in head["start"][turn]]
            for role, number in prompt:
                if role is None:
                    messages[-1]["content"] += pieces[number]
                else:
                    messages.append({"role": role, "content": pieces[number]})
            messages[-1]["content"] += head["end"][turn]
            prompts.append(messages)
            turn += 1
        return prompts

    @cached_property
    def tables(self) -> list[list[list[str]]]:
        """The texts in the cells of each table of the summary."""
        reader = _Tables()
        reader.feed(self.summary)
        return reader.tables

    @cached_property
    def shown(self) -> str:
        """All text of the summary."""
        reader = _Tables()
        reader.feed(self.summary)
        return " ".join(reader.texts)


class _Tables(HTMLParser):
    """The texts of a document, and those in the cells of its tables."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.texts: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"th", "td"}:
            self.tables[-1][-1].append("")
            self._inside = True
        labels = dict(attrs)
        if label := labels.get("aria-label"):
            self.texts.append(label)

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag not in {"th", "td"}

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append(" ".join(data.split()))
        if self._inside:
            self.tables[-1][-1][-1] += data
