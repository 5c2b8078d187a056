"""The pages of the documentation, their tables and code blocks."""

import re
from pathlib import Path

from tests.docs.code_blocks import read_blocks

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "data" / "README.md", *ROOT.glob("docs/**/*.md")])
REFERENCE = "\n".join(page.read_text(encoding="utf-8") for page in sorted(ROOT.glob("docs/reference/*.md")))


def page_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def code_blocks(language: str) -> list[str]:
    """The code blocks of a language."""
    return [block.text for block in read_blocks(REFERENCE) if block.language == language]


def example(language: str, *, name: str, holding: str = "") -> str:
    """The one block whose first line names this file, and which contains `holding`."""
    named = [block for block in code_blocks(language) if block.partition("\n")[0].strip("{}# ") == name]
    (block,) = [block for block in named if holding in block]
    return block


def table(heading: str) -> list[list[str]]:
    """The rows of the table whose first column has this heading."""
    lines = iter(REFERENCE.splitlines())
    next(line for line in lines if line.startswith(f"| {heading} |"))
    next(lines)
    rows: list[list[str]] = []
    for line in lines:
        if not line.startswith("|"):
            return rows
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def names_in(*cells: str) -> list[str]:
    """The texts in backticks."""
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]
