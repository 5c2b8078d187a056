"""The pages of `docs/tasks/`: the files of their examples, their command, and its printed output."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.docs.code_blocks import read_blocks
from tests.docs.reference import ROOT

#: A line behind the table: a note, a sentence about a gate, the data, or the end of the report.
_BEHIND = re.compile(r"\*|=|\s*$|[\w., ]+: ")
_RULE = re.compile(r"-+(  -+)+")


@dataclass(frozen=True)
class TaskPage:
    """`files` by name; `command`: that of the page without `pytest`; `output`: the lines after it."""

    files: dict[str, str]
    command: list[str]
    output: list[str]

    def write(self, folder: Path) -> None:
        """Write the files of the example."""
        for name, text in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def read_page(path: Path) -> TaskPage:
    """The example of a page. The first line of a block names its file; a CSV is named by the Python block."""
    blocks = [(block.language, block.text) for block in read_blocks(path.read_text(encoding="utf-8"))]
    files = {}
    for language, text in blocks:
        first, _, rest = text.partition("\n")
        if language in {"python", "jinja"}:
            files[first.strip("{}# ")] = rest
        if language == "csv":
            (name,) = re.findall(r'data = "(\w+\.csv)"', next(iter(files.values())))
            files[name] = text
    (console,) = (text for language, text in blocks if language == "console")
    command, dots, *output = console.splitlines()
    assert command.startswith("$ pytest "), command
    assert dots == "..."
    return TaskPage(files, command.removeprefix("$ pytest ").split(), output)


def table_rows(output: list[str]) -> set[tuple[str, str]]:
    """The strategy or naive baseline, and the metric, of each row of the table of a run."""
    at = next(at for at, line in enumerate(output) if _RULE.fullmatch(line))
    spans = [match.span() for match in re.finditer("-+", output[at])]
    names = [output[at - 1][start:end].strip() for start, end in spans]
    rows: set[tuple[str, str]] = set()
    strategy = ""
    for line in output[at + 1 :]:
        if _BEHIND.match(line):
            break
        cells = {name: line[start:end].strip() for name, (start, end) in zip(names, spans, strict=True)}
        strategy = cells["strategy"] or strategy
        if cells["metric"] and cells.get("value"):
            rows.add((strategy, cells["metric"]))
    return rows


PAGES = sorted(path for path in (ROOT / "docs" / "tasks").glob("*.md") if path.name != "README.md")
