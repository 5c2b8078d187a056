"""Files and functions of a size that one reads at a glance, and one name for one class."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAX_FILE, MAX_FUNCTION = 250, 50
MAX_README = 160
#: Classes of eval-framework, whose names its tasks use.
FOREIGN_CLASSES = "pytest_puma/compat/eval_framework/nouns.py"


def sources() -> Iterator[tuple[str, str]]:
    for folder in ("pytest_puma", "tests", "tools", "benchmarks"):
        for path in (ROOT / folder).rglob("*.py"):
            if "node_modules" not in path.parts:
                yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def test_files_are_short() -> None:
    assert {name for name, text in sources() if len(text.splitlines()) > MAX_FILE} == set()


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= MAX_README


def test_functions_are_short() -> None:
    long = [
        f"{name}:{node.lineno} {node.name}"
        for name, text in sources()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (node.end_lineno or 0) - node.lineno >= MAX_FUNCTION
    ]
    assert long == []


def test_public_classes_have_names_of_their_own() -> None:
    names = Counter(
        node.name
        for name, text in sources()
        if name.startswith("pytest_puma/") and name != FOREIGN_CLASSES
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []
