"""`pytest-puma init`: a first benchmark for the rows of a file, written without a question.

pytest-puma init tickets.csv
pytest-puma init stories.jsonl --label points --text title,description --name effort
pytest-puma init issues.json --labels bug,enhancement

An export of an issue tracker becomes a plain file beside the test. All files are made up before the first one is
written, and none that exists is changed.
"""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_puma.cli.console import add_command, show
from pytest_puma.cli.init.columns import NO_KEY, Columns, find_columns
from pytest_puma.cli.init.exports import TRACKERS, Export, read_export
from pytest_puma.cli.project import ini_here, write_new
from pytest_puma.core import SettingsError
from pytest_puma.datasets.frames import Table, arrange
from pytest_puma.datasets.table import read_table
from pytest_puma.models.sources import SUGGESTED, SUGGESTED_SIZE, suggested_download
from pytest_puma.platform.user_path import user_path
from pytest_puma.scenarios.file import content_of, shown_path
from pytest_puma.strategies.template import PLACEHOLDER

_INI = """testpaths = {folders}
# Your model, in place of the bundled demonstration model:
# puma_models = {models}
"""


def declare(commands: Any) -> None:
    """Declare the command."""
    parser = add_command(commands, "init", _init, "write a first benchmark for the rows of a file")
    parser.add_argument(
        "file",
        type=user_path,
        metavar="FILE",
        help=f"the rows: .csv, .tsv, .json, .jsonl, .parquet; or an export of {TRACKERS}",
    )
    parser.add_argument("--text", metavar="COLUMNS", help="the columns that the model reads: a,b (default: found)")
    parser.add_argument("--label", metavar="COLUMN", help="the column of the right answers (default: found)")
    parser.add_argument("--labels", metavar="A,B", help="those of an export that count (default: found)")
    parser.add_argument("--id", metavar="COLUMN", help=f"the column that names a row, {NO_KEY} for none")
    parser.add_argument("--name", metavar="NAME", help="the name of the benchmark (default: that of the file)")
    parser.add_argument("--task", choices=("classification", "regression"), help="(default: by the right answers)")


def _init(options: argparse.Namespace) -> None:
    # It imports NumPy, for the power of gates.
    from pytest_puma.cli.init.benchmark import FirstBenchmark, written

    ini = ini_here(Path.cwd(), "prompts")
    file = Path.cwd() / options.file
    content = content_of(file)
    table = read_table(content, name=shown_path(file))
    export = _export(options, content, table)
    if export is not None:
        table = export.table
    columns = _columns(options, table, export)
    # Refuses the rows that the benchmark would refuse.
    frame = arrange(table, columns.layout)
    golds = [str(gold) for gold in frame[columns.label.name]]
    benchmark = FirstBenchmark.plan(file, columns, golds, name=options.name)
    files: dict[Path, str] = {}
    if export is not None:
        data = benchmark.test_file.with_name(f"{benchmark.name}.csv")
        benchmark = replace(benchmark, data=data.name)
        files[data] = frame[list(columns.names)].to_csv(index=False, lineterminator="\n")
    files |= benchmark.files()
    if ini is None:
        files[Path("pytest.ini")] = f"[pytest]\n{_ini_lines(Path('pytest.ini'))}"
    write_new(files, "choose another name: --name NAME, or remove the file")
    text = written(
        "output.jinja",
        benchmark=benchmark,
        table=table,
        export=export,
        choice="" if export is None else _choice(options.file, columns, export),
        files=files,
        ini=ini,
        ini_lines=_ini_lines(ini or Path()),
        placeholder=PLACEHOLDER,
        suggested=SUGGESTED,
        size=SUGGESTED_SIZE,
        download=suggested_download("models"),
    )
    show(text.rstrip())


def _export(options: argparse.Namespace, content: bytes, table: Table) -> Export | None:
    """The export of an issue tracker that the file is, if it is one."""
    labels = tuple(filter(None, map(str.strip, (options.labels or "").split(","))))
    export = read_export(
        content, table, name=shown_path(options.file), label=options.label, labels=labels, task=options.task
    )
    if export is None and options.labels is not None:
        msg = f"--labels: {table.name} is no export of {TRACKERS}; expected none, as all values of the label count"
        raise SettingsError(msg)
    return export


def _columns(options: argparse.Namespace, table: Table, export: Export | None) -> Columns:
    """The columns that the options name, those of an export, or those that the values suggest."""
    if export is None:
        return find_columns(table, text=options.text, label=options.label, key=options.id, task=options.task)
    columns = find_columns(
        table,
        text=options.text or ",".join(export.text),
        label=export.label,
        key=options.id or export.tracker.key,
        task=options.task,
    )
    why_text = columns.why_text if options.text else f"those of {export.tracker.name}"
    return replace(columns, why_text=why_text, why_label=export.why)


def _choice(file: Path, columns: Columns, export: Export) -> str:
    """The command that makes the same choice."""
    words = [
        *("pytest-puma", "init", str(file), "--id", NO_KEY if columns.key is None else columns.key.name),
        *("--text", ",".join(column.name for column in columns.text), "--label", export.column),
        *(("--labels", ",".join(export.labels)) if export.labels else ()),
        *(("--task", columns.task) if columns.task == "regression" else ()),
    ]
    return shlex.join(words)


def _ini_lines(ini: Path) -> str:
    if ini.suffix == ".toml":
        return _INI.format(folders='["benchmarks"]', models='["models/NAME.gguf"]')
    return _INI.format(folders="benchmarks", models="models/NAME.gguf")
