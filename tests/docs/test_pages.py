"""README.md and docs/architecture.md against the repository: the map, the example, and the names of the code."""

import re
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name

from tests.docs.reference import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def _entries(folder: str, *suffixes: str) -> Iterator[str]:
    """Folders with a file in them, as `name/`, and files of these suffixes."""
    for path in (ROOT / folder).iterdir():
        if path.is_dir() and path.name != "__pycache__" and any(path.glob("[!_.]*")):
            yield f"{path.name}/"
        elif path.suffix in suffixes and path.is_file():
            yield path.name


def test_the_map_has_what_lies_around_the_package() -> None:
    _, _, rest = ARCHITECTURE.partition("| around it | |\n|---|---|\n")
    named = [row.split("|")[1].strip(" `") for row in rest.partition("\n\n")[0].splitlines()]
    tools = {f"tools/{name}" for name in _entries("tools", ".py", ".sh", ".cmake") if name != "__init__.py"}
    assert sorted(named) == sorted(tools | {"benchmarks/", "prompts/", "data/", "docs/", "tests/"})


def test_the_example_is_a_benchmark_of_the_repository() -> None:
    (name, source) = re.findall(r"^```python\n# (benchmarks/\S+)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)[0]
    assert (ROOT / name).read_text(encoding="utf-8") == source


def test_the_architecture_names_modules_and_functions_that_exist() -> None:
    spans = re.findall(r"`([a-z_]+(?:\.\w+)+)`", ARCHITECTURE)
    names = [span for span in spans if Path(span).suffix not in {".py", ".json", ".yml"}]
    assert names
    for name in names:
        assert resolve_name(f"pytest_puma.{name}"), name


def _floors() -> list[set[str]]:
    """The rows of the table of rooms, from the top."""
    rooms, _, _ = ARCHITECTURE.partition("## Around the package")
    rows = re.findall(r"^\| (`.*?) \|", rooms, re.MULTILINE)
    return [set(re.findall(r"`(\S+)`", row)) for row in rows]


def test_the_architecture_has_a_row_for_each_room() -> None:
    assert sorted(set().union(*_floors())) == sorted({*_entries("pytest_puma", ".py")} - {"__init__.py", "bundled/"})


def test_the_floors_of_the_architecture_are_those_that_are_checked() -> None:
    _, _, contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition('name = "Imports only fall"')
    layers = re.findall(r'"(pytest_puma\..*)"', contract.partition("\n]")[0])
    rooms = [{re.sub(r"/$|\.py$", "", name) for name in floor} for floor in _floors()]
    assert rooms == [set(re.findall(r"pytest_puma\.(\w+)", layer)) for layer in layers]
