"""A first benchmark: a test file with a scenario, and the templates of its prompts, as texts.

`benchmark.py.jinja` and `prompt.jinja` write them, and `output.jinja` the lines of the command.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pytest_puma.cli.init.columns import Columns, quoted
from pytest_puma.cli.init.file_column import FileColumn
from pytest_puma.cli.init.gates import ProposedGate, proposed_gates
from pytest_puma.core import SettingsError
from pytest_puma.phrases import counted
from pytest_puma.planning.registry import Registry
from pytest_puma.strategies.template import PLACEHOLDER
from pytest_puma.task_types.regression import number_text

TEST_FOLDER = "benchmarks"
#: Samples of a run: all rows up to the first number; more if a gate needs them, up to the second.
FEW, MANY = 200, 500
#: Values of a regression from which `option_scoring` chooses.
_VALUES = 10
#: Names of columns that mean something else in a template.
_TAKEN = frozenset({"labels", "examples", "scenario", "instance", "self", "loop", "true", "false", "none"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstBenchmark:
    """A benchmark of the rows in a file. `labels`: the valid ones; in a regression the values to choose from."""

    name: str
    data: str
    columns: Columns
    labels: tuple[str, ...]
    rows: int
    gates: tuple[ProposedGate, ...]

    @classmethod
    def plan(cls, file: Path, columns: Columns, golds: Sequence[str], *, name: str | None) -> FirstBenchmark:
        """Return the benchmark of a file with these right answers; a `SettingsError` for a name that is no use."""
        return cls(
            name=_name(file, name),
            data=_seen_from_tests(file),
            columns=columns,
            labels=columns.labels if columns.task == "classification" else _spread(golds),
            rows=len(golds),
            gates=proposed_gates(columns.task, golds),
        )

    @property
    def test_file(self) -> Path:
        """The path of the test file."""
        return Path(TEST_FOLDER, f"test_{self.name}.py")

    @property
    def samples(self) -> int:
        """The number of rows in a run: as many as the gates need, or fewer if there are fewer."""
        needed = max((int(gate.needed) + 1 for gate in self.gates if gate.decides(self.rows)), default=FEW)
        return min(self.rows, max(FEW, min(needed, MANY)))

    @property
    def letters(self) -> str:
        """The labels as one text if they are capital letters, which `a` as a word does not name; else empty."""
        letters = all(len(label) == 1 and "A" <= label <= "Z" for label in self.labels)
        return "".join(self.labels) if letters else ""

    def files(self) -> dict[Path, str]:
        """Return the text of each file, by its path in the project."""
        prompts = Path("prompts", self.name)
        return {
            self.test_file: written("benchmark.py.jinja", benchmark=self),
            prompts / "zero_shot.jinja": self._prompt(examples=False),
            prompts / "few_shot.jinja": self._prompt(examples=True),
        }

    def _prompt(self, *, examples: bool) -> str:
        return written("prompt.jinja", benchmark=self, examples=examples, placeholder=PLACEHOLDER)


def written(template: str, **values: object) -> str:
    """Return the text that a template of this folder makes."""
    # The text of a prompt has the usual marks of Jinja2.
    environment = Environment(  # noqa: S701 - no HTML
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
        block_start_string="[%",
        block_end_string="%]",
        variable_start_string="[[",
        variable_end_string="]]",
        comment_start_string="[#",
        comment_end_string="#]",
    )
    functions = (counted, literal, listed, quoted, variable, word)
    environment.filters |= {function.__name__: function for function in functions}
    return environment.get_template(template).render(values)


def _name(file: Path, wished: str | None) -> str:
    """The name of the benchmark."""
    stem = re.sub(r"\W+", "_", file.name.partition(".")[0].lower()).strip("_")
    default = stem if stem.isidentifier() else f"rows_{stem}".rstrip("_")
    name = default if wished is None else wished
    if not name.isidentifier() or iskeyword(name):
        msg = f"--name {name}: expected letters, digits and '_', as in support_tickets"
        raise SettingsError(msg)
    if name in Registry().scenarios:
        msg = f"{name} is the name of a built-in scenario, whose prompts would be replaced; choose another: --name NAME"
        raise SettingsError(msg)
    return name


def _seen_from_tests(file: Path) -> str:
    """The path of the data from the folder of the test file; outside of the project the whole path."""
    here = Path.cwd()
    if not file.is_relative_to(here):
        return str(file)
    return Path(os.path.relpath(file, here / TEST_FOLDER)).as_posix()


def _spread(golds: Sequence[str]) -> tuple[str, ...]:
    """All values in order, or some that are as frequent as each other."""
    ascending = sorted(float(gold) for gold in golds)
    values = sorted(set(ascending))
    if len(values) > _VALUES:
        values = sorted({ascending[at * (len(ascending) - 1) // (_VALUES - 1)] for at in range(_VALUES)})
    return tuple(map(number_text, values))


def word(column: FileColumn) -> str:
    """Return the name of a column in a sentence."""
    return re.sub(r"[\W_]+", " ", column.name).strip() or "label"


def variable(name: str, row: str) -> str:
    """Return the name of a field of a row in a template."""
    plain = name.isidentifier() and name.isascii() and not iskeyword(name) and name.casefold() not in _TAKEN
    return name if row == "instance" and plain else f"{row}[{literal(name)}]"


def literal(text: str) -> str:
    """Return a text as Python and Jinja2 write it."""
    signs = {'"': '\\"', "\\": "\\\\"}
    plain = (signs.get(sign, sign) if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
    return f'"{"".join(plain)}"'


def listed(texts: Sequence[str], *, indent: int) -> str:
    """Return a list of texts, on several lines if it is long."""
    line = f"[{', '.join(map(literal, texts))}]"
    if len(line) + indent <= 100:  # noqa: PLR2004 - a usual length of lines
        return line
    blank = " " * indent
    return "[\n" + "".join(f"{blank}    {literal(text)},\n" for text in texts) + f"{blank}]"
