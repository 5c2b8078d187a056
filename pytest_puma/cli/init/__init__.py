"""`pytest-puma init`: a first benchmark for the rows of a file, written without a question.

pytest-puma init tickets.csv
pytest-puma init stories.jsonl --label points --text title,description --name effort

All files are made up before the first one is written, and none that exists is changed.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pytest_puma.cli.init.columns import NO_KEY, Wish, find_columns
from pytest_puma.cli.init.project import TEST_FOLDER, ini_lines, project_here, write_new
from pytest_puma.cli.output import show
from pytest_puma.datasets.layout import arrange
from pytest_puma.datasets.table import read_table
from pytest_puma.models import suggested
from pytest_puma.platform.user_path import user_path
from pytest_puma.report.rows import counted
from pytest_puma.scenarios.file import content_of, shown_path


def add_command(commands: Any) -> None:
    """Declare the command."""
    text = "write a first benchmark for the rows of a file"
    parser = commands.add_parser("init", help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.set_defaults(run=_init)
    parser.add_argument("file", type=user_path, metavar="FILE", help="the rows: .csv, .tsv, .jsonl or .parquet")
    parser.add_argument("--text", metavar="COLUMNS", help="the columns that the model reads: a,b (default: found)")
    parser.add_argument("--label", metavar="COLUMN", help="the column of the right answers (default: found)")
    parser.add_argument("--id", metavar="COLUMN", help=f"the column that names a row, {NO_KEY} for none")
    parser.add_argument("--name", metavar="NAME", help="the name of the benchmark (default: that of the file)")
    parser.add_argument("--task", choices=("classification", "regression"), help="(default: by the right answers)")


def _init(options: argparse.Namespace) -> None:
    # It imports NumPy, for the power of gates.
    from pytest_puma.cli.init.benchmark import Benchmark

    ini = project_here(Path.cwd())
    file = Path.cwd() / options.file
    table = read_table(content_of(file), name=shown_path(file))
    wish = Wish(text=options.text, label=options.label, key=options.id, task=options.task)
    columns = find_columns(table, wish)
    # Refuses the rows that the benchmark would refuse.
    golds = arrange(table, columns.layout)[columns.label.name]
    benchmark = Benchmark.plan(file, columns, [str(gold) for gold in golds], name=options.name)
    files = benchmark.files()
    if ini is None:
        files[Path("pytest.ini")] = ini_lines(Path("pytest.ini"), new=True)
    write_new(files)
    show(f"{table.name}: {counted(len(golds), 'row')}", *columns.sentences(), *benchmark.sentences())
    show("", "wrote:", *(f"  {path.as_posix()}" for path in files))
    if ini is not None:
        show("", f"{ini.name} stays as it is; lines for its section of pytest:", "", ini_lines(ini, new=False).rstrip())
    command = f"pytest {TEST_FOLDER}/{benchmark.test_file}"
    show(
        "",
        "next:",
        f"  {command}    # on the bundled demonstration model",
        "The demonstration model knows three other tasks: expect it to miss these gates. A small model that follows",
        f"instructions ({suggested.SIZE}), if you have none:",
        f"  {suggested.download('models')}",
        f"  {command} --puma-model {suggested.FILE}",
        "Both templates have a line with dots. Write what you know in their place: nothing helps a model more.",
    )
