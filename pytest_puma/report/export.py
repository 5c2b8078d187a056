"""A run for other programs: its report files, rows in a file of the user's choice, and properties of JUnit XML.

The measures as CSV:

cell,scenario,strategy,perturbation,model,metric,value,low,high,level,n,note,verdicts
triage_jira-zero_shot@qwen,triage_jira,zero_shot,,qwen,accuracy,0.66,0.52,0.77,0.95,50,,PASS
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeAlias

from pytest_puma.codec.plain import plain, storable
from pytest_puma.core import DataError, Outcome, Run, SettingsError, cell_id
from pytest_puma.core.responder import NOT_VERIFIED
from pytest_puma.planning.reports import FORMATS, PageSettings, ReportFile, foreign
from pytest_puma.platform.files import obstacle, write_whole
from pytest_puma.platform.installation import install_extra
from pytest_puma.report import escape

_NUMBERS = ("value", "low", "high", "level", "n")
COLUMNS = (*cell_id.COLUMNS, "metric", *_NUMBERS, "note", "verdicts")
_Rows: TypeAlias = Iterable[Mapping[str, Any]]


def emit(run: Run, report: ReportFile, *, folder: Path | None, page: PageSettings) -> str:
    """Write a report; return a line on it. `folder`: that of the run, None if it has none.

    A `DataError` refuses to overwrite any other file.
    """
    form = FORMATS[report.format]
    if reason := foreign(report):  # the run itself may have written it, such as the store
        msg = f"--puma-report {report.format}:{report.path}: {reason}"
        raise DataError(msg)
    write = resolve_name(form.writer)
    _write(report.path, write(run, folder, page) if form.of_samples else write(run))
    return f"report: {report.path.absolute().as_uri() if report.format == 'html' else report.path}"


def export(path: Path, columns: Sequence[str], rows: _Rows) -> int:
    """Write rows, under `columns` and then all others; return their number.

    Raises a `SettingsError` for an unknown suffix or a path that cannot be written, a `DataError` without pyarrow, and
    an `OSError`.
    """
    write = WRITERS.get(path.suffix.lower())
    if write is None:
        msg = f"-o {path}: the suffix {path.suffix!r} is unknown; expected one of {', '.join(WRITERS)}"
        raise SettingsError(msg)
    if reason := obstacle(path):
        msg = f"-o {path}: {reason}; expected the path of a file that can be written"
        raise SettingsError(msg)
    table = list(rows)
    _write(path, write(list(dict.fromkeys([*columns, *(name for row in table for name in row)])), table))
    return len(table)


def measure_rows(run: Run) -> Iterator[dict[str, object]]:
    """Yield each measure of each cell under `COLUMNS`, then its gates without a measure, as `no_regression`.

    Several verdicts on one metric are separated by a semicolon and a space.
    """
    for outcome in run.outcomes:
        names = {column: name or "" for column, name in outcome.name.columns().items()}
        statuses: dict[str, list[str]] = {}
        for verdict in outcome.judgement.verdicts:
            statuses.setdefault(verdict.gate.word or verdict.gate.metric, []).append(verdict.status)
        for measure in outcome.measures.values():
            numbers = {name: getattr(measure, name) for name in ("metric", *_NUMBERS, "note")}
            level = math.nan if math.isnan(measure.low) else measure.level
            yield names | numbers | {"level": level, "verdicts": "; ".join(statuses.pop(measure.metric, ()))}
        for name, judged in statuses.items():
            yield names | {"metric": name, **dict.fromkeys(_NUMBERS), "note": "", "verdicts": "; ".join(judged)}


def junit_properties(outcome: Outcome) -> list[tuple[str, str]]:
    """Return names and values, with all digits and without NaN.

    Examples: `puma.f1_macro` is `0.626`, `puma.f1_macro.interval` is `0.48 0.754`, `puma.f1_macro.interval_level` is
    `0.95`. `puma.f1_macro.note` is there if nobody has verified the weights behind it.
    """
    entries: list[tuple[str, str]] = [("puma.cell", outcome.cell)]
    for measure in outcome.measures.values():
        if not math.isnan(measure.value):
            entries.append((f"puma.{measure.metric}", repr(float(measure.value))))
            entries.append((f"puma.{measure.metric}.n", str(measure.n)))
        if NOT_VERIFIED in measure.note:
            entries.append((f"puma.{measure.metric}.note", measure.note))
        if not math.isnan(measure.low):
            entries.append((f"puma.{measure.metric}.interval", f"{float(measure.low)!r} {float(measure.high)!r}"))
            entries.append((f"puma.{measure.metric}.interval_level", repr(float(measure.level))))
    entries += [
        (f"puma.gate {verdict.gate}", f"{verdict.status}: {verdict.reason}") for verdict in outcome.judgement.verdicts
    ]
    # pytest escapes only the values, but a name may contain a label with a control character.
    return [(escape.xml(name), escape.xml(value)) for name, value in entries]


def as_csv(run: Run) -> str:
    """Return the measures as CSV: all digits, empty for NaN; text that begins like a formula gets a `'` in front."""
    return _csv(COLUMNS, measure_rows(run))


def as_parquet(run: Run) -> bytes:
    """Return the measures as a Parquet file: the columns of CSV, exact, for pandas and other tools of data."""
    return _parquet(COLUMNS, list(measure_rows(run)))


def _write(path: Path, content: str | bytes) -> None:
    """Write a whole file. A text of data or of a test may have half of a character."""
    write_whole(path, content if isinstance(content, bytes) else storable(content))


def _csv(columns: Sequence[str], rows: _Rows) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(escape.csv, columns))
    writer.writerows([_csv_cell(row.get(name)) for name in columns] for row in rows)
    return text.getvalue()


def _csv_cell(value: object) -> object:
    """Return an empty cell for None and NaN, and JSON for a list or an object."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    is_nested = isinstance(value, list | tuple | dict)
    return escape.csv(json.dumps(value, ensure_ascii=False) if is_nested else value)


def _json(_: Sequence[str], rows: _Rows) -> str:
    return json.dumps(list(map(plain, rows)), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _json_lines(_: Sequence[str], rows: _Rows) -> str:
    return "".join(json.dumps(plain(row), ensure_ascii=False, allow_nan=False) + "\n" for row in rows)


def _parquet(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return a file in which a column with values of several types is JSON text; a `DataError` without pyarrow."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        msg = f"Parquet files need pyarrow: {install_extra('parquet')}"
        raise DataError(msg) from error

    def column(values: list[Any]) -> Any:
        try:
            return pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            return pa.array([None if value is None else json.dumps(value, ensure_ascii=False) for value in values])

    file = io.BytesIO()
    pq.write_table(pa.table({name: column([row.get(name) for row in rows]) for name in columns}), file)
    return file.getvalue()


#: The writer of each suffix.
WRITERS: Mapping[str, Callable[[Sequence[str], Sequence[Mapping[str, Any]]], str | bytes]] = {
    ".csv": _csv,
    ".json": _json,
    ".jsonl": _json_lines,
    ".parquet": _parquet,
}
