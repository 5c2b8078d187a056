from __future__ import annotations

import re
from pathlib import Path

import pytest
from tabulate import tabulate

from tools.readme import Marker, ReadmeError, blocks, main, parse_marker, run, settled, spliced, trimmed

ECHO = Marker("echo")

PAGE = """\
# A page

<!-- output of: python -c "print('one')" -->
```console
$ python -m build
$ .venv/bin/python -c "print('one')"
an old line
```

<!-- output of: python -c "print('two')" -->
```text
```

```text
not marked
```
"""

SESSION = """\
================ test session starts ================
platform linux -- Python 3.11.7, pytest-9.2.0
plugins: puma-0.1.0
collected 2 items

test_all.py ..                                [100%]

================= 2 passed in 0.12s =================
"""

ROW = {
    "scenario": "estimation_tawos",
    "strategy": "few_shot_3",
    "n": "50",
    "metric": "mae",
    "value": "2.50*",
    "95 % interval": "[0, 5.20]",
    "parse failures": "60%",
    "tokens": "10,000",
    "s": "0.9",
    "verdict": "PASS",
}
SECOND_METRIC = dict.fromkeys(ROW, "") | {
    "n": "50",
    "metric": "accuracy",
    "value": "0.5",
    "95 % interval": "[0.4, 0.6]",
}


def _table(cells: dict[str, str]) -> list[str]:
    """A table as pytest-puma prints it, each column as wide as its widest cell, and what stands below it."""
    align = ["right" if name in {"n", "value", "parse failures", "tokens", "s"} else "left" for name in ROW]
    rows = [ROW | cells, SECOND_METRIC]
    text = tabulate(rows, headers="keys", disable_numparse=True, tablefmt="simple", colalign=align)
    return [*text.splitlines(), "* rests on few answers", "a gate: mae 2.50 n=50 is under 2"]


def _pattern(text: str | None) -> re.Pattern[str] | None:
    return None if text is None else re.compile(text)


def _page(folder: Path, text: str) -> Path:
    page = folder / "README.md"
    page.write_text(text, encoding="utf-8")
    return page


# -- markers and blocks ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "marker"),
    [
        ("<!-- output of: pytest benchmarks -->", Marker("pytest benchmarks")),
        ("<!-- output of: pytest -k 'a or b' | exit: 1 -->", Marker("pytest -k 'a or b'", status=1)),
        (
            "<!-- output of: pytest | to: ^a|b$ | from: ^_+ test: -->",
            Marker("pytest", first=re.compile("^_+ test:"), last=re.compile("^a|b$")),
        ),
    ],
)
def test_a_marker_is_read_as_written(line: str, marker: Marker) -> None:
    assert parse_marker(line) == marker


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("<!-- output of: pytest | lines: 3 -->", "lines"),
        ("<!-- output of: pytest | exit -->", "not enough values"),
        ("<!-- output of: pytest | exit: one -->", "'one'"),
        ("<!-- output of: pytest | from: ( -->", "unterminated subpattern"),
        ("<!-- output of: python -c 'print() -->", "No closing quotation"),
        ("<!-- output of: -->", "no command"),
        ("<!-- output of: pytest", "no end"),
    ],
)
def test_a_malformed_marker_is_an_error_that_quotes_it(line: str, found: str) -> None:
    with pytest.raises(ReadmeError) as caught:
        parse_marker(line)
    assert line in str(caught.value)
    assert found in str(caught.value)


@pytest.mark.parametrize(
    ("behind", "found"),
    [
        ("", "no block"),
        ("\n\n```text\n```", "no block"),
        ("\n```python\n```", "no block"),
        ("\n```text\nwithout an end", "no block"),
        ("\n```console\n$ pytest tests\n```", "the prompt '$ pytest tests'"),
    ],
)
def test_a_marker_without_a_block_of_its_own_is_an_error(behind: str, found: str) -> None:
    with pytest.raises(ReadmeError, match=re.escape(f"<!-- output of: pytest -->: found {found}")):
        blocks(f"<!-- output of: pytest -->{behind}".split("\n"))


def test_an_output_replaces_what_stands_behind_the_prompts_and_nothing_else() -> None:
    page = spliced(PAGE.split("\n"), [["new", "", "lines"], ["two"]])
    assert "\n".join(page) == PAGE.replace("an old line", "new\n\nlines").replace(
        "```text\n```\n", "```text\ntwo\n```\n", 1
    )


def test_an_output_with_a_fence_in_it_needs_a_longer_one_around() -> None:
    page = ["<!-- output of: pytest -->", "```text", "```"]
    with pytest.raises(ReadmeError, match="expected a longer one"):
        spliced(page, [["```"]])
    longer = [line.replace("```", "````") for line in page]
    assert spliced(longer, [["```"]]) == [*longer[:2], "```", longer[2]]


# -- trimming --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        ("a  \n\n b\t\n\n", ["a", "", " b"]),
        (SESSION, [line.rstrip() for line in SESSION.splitlines()[3:]]),
        (f"a warning\n{SESSION}", ["a warning", *SESSION.splitlines()[3:]]),
        ("=== test session starts ===\n2 workers [3 items]", ["=== test session starts ===", "2 workers [3 items]"]),
    ],
    ids=["trailing blanks", "header of pytest", "something before it", "nothing collected here"],
)
def test_the_header_of_pytest_and_trailing_blanks_are_dropped(output: str, lines: list[str]) -> None:
    assert trimmed(output, ECHO) == lines


@pytest.mark.parametrize(
    ("first", "last", "kept"),
    [
        ("^b", None, "b c b d"),
        (None, "^b", "a b"),
        ("^b", "^b", "b c b"),
        ("c", "d", "c b d"),
        (None, "a", "a"),
    ],
)
def test_a_stretch_reaches_from_the_first_match_to_the_first_one_behind_it(
    first: str | None, last: str | None, kept: str
) -> None:
    marker = Marker("echo", first=_pattern(first), last=_pattern(last))
    assert trimmed("a\nb\nc\nb\nd\n", marker) == kept.split()


@pytest.mark.parametrize(("first", "last"), [("x", "b"), ("b", "a")])
def test_a_stretch_that_is_not_there_is_an_error_with_the_output(first: str, last: str) -> None:
    with pytest.raises(ReadmeError, match=r"(?s)^echo: found no such line .*; expected '[xa]'.*\na\nb$"):
        trimmed("a\nb\n", Marker("echo", first=_pattern(first), last=_pattern(last)))


# -- comparing -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ("== 12 passed in 23.26s ==", "===== 12 passed in 9.05s ====="),
        ("== 12 passed in 59.99s ==", "== 12 passed in 60.02s (0:01:00) =="),
        ("0.60s call     test_all.py", "12.00s call     test_all.py"),
        ("mae 2.1 [1.9, 2.4] n=50 is over 2", "mae 2.2 [1.8, 2.5] n=50 is over 2"),
        ("predictions: .puma/runs/20261122T003532-25507", "predictions: .puma/runs/20270101T000000-9"),
        ("test_all.py ....  [ 33%]", "test_all.py ....     [33%]"),
        ("______ test_all ______", "_ test_all _"),
    ],
)
def test_a_line_with_the_same_content_stays_as_printed(printed: str, found: str) -> None:
    assert settled([found], [printed]) == [printed]


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ("== 12 passed in 23.26s ==", "== 11 passed, 1 failed in 23.26s =="),
        ("== 12 passed in 23.26s ==", "__ 12 passed in 23.26s __"),
        ("test_all.py ....  [ 33%]", "test_all.py ...F  [ 33%]"),
        ("test_all.py ....  [ 33%]", "test_all.py ....  [ 34%]"),
        ("predictions: .puma/runs/20261122T003532-25507", "predictions: runs/20261122T003532-25507"),
        ("f1_macro 0.129 is under 0.45", "f1_macro 0.129 is under 0.46"),
    ],
)
def test_a_line_with_other_content_is_drift(printed: str, found: str) -> None:
    assert settled([found], [printed]) == [found]


@pytest.mark.parametrize(
    ("column", "found"),
    [
        ("value", "2.75*"),
        ("value", "2.25*"),
        ("95 % interval", "[0.05, 5.72]"),
        ("parse failures", "66%"),
        ("tokens", "10,200"),
        ("tokens", "9,800"),
        ("s", "1234.5"),
    ],
)
def test_a_cell_that_depends_on_near_ties_or_on_the_clock_may_differ_a_little(column: str, found: str) -> None:
    assert settled(_table({column: found}), _table({})) == _table({})


@pytest.mark.parametrize(
    ("column", "found"),
    [
        ("strategy", "few_shot_4"),
        ("n", "49"),
        ("metric", "rmse"),
        ("value", "2.76*"),
        ("value", "2.50"),
        ("value", "-"),
        ("95 % interval", "[0.06, 5.20]"),
        ("95 % interval", ""),
        ("parse failures", "67%"),
        ("tokens", "10,201"),
        ("s", "-"),
        ("verdict", "FAIL"),
        ("verdict", "NOT RUN"),
    ],
)
def test_a_cell_with_other_content_is_drift_of_its_row_alone(column: str, found: str) -> None:
    now, printed = _table({column: found}), _table({})
    assert settled(now, printed) == [*printed[:2], now[2], *printed[3:]]


@pytest.mark.parametrize(("printed", "found", "alike"), [("0.3", "0.35", True), ("0.3", "0.36", False)])
def test_a_small_number_may_differ_by_five_hundredths(printed: str, found: str, *, alike: bool) -> None:
    now, before = _table({"value": found}), _table({"value": printed})
    assert (settled(now, before) == before) is alike


def test_a_table_ends_with_the_first_line_that_is_no_row() -> None:
    now = [line.replace("mae 2.50 n", "mae 2.51 n") for line in _table({})]
    assert settled(now, _table({})) == now


@pytest.mark.parametrize("at", range(2, 6))
def test_a_missing_and_a_new_line_are_drift_and_the_others_are_not(at: int) -> None:
    now, printed = _table({"s": "99.9"}), _table({})
    assert settled([*now[:at], *now[at + 1 :]], printed) == [*printed[:at], *printed[at + 1 :]]
    assert settled(now, [*printed[:at], *printed[at + 1 :]])[at] == now[at]


# -- running ---------------------------------------------------------------------------------------


def test_outputs_are_written_and_then_are_as_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = _page(tmp_path, PAGE)
    assert main([], root=tmp_path) == 0
    written = page.read_text(encoding="utf-8")
    assert written == PAGE.replace("an old line", "one").replace("```text\n```\n", "```text\ntwo\n```\n", 1)
    capsys.readouterr()
    assert main(["--check"], root=tmp_path) == 0
    assert capsys.readouterr().out == "README.md: 2 outputs are as printed\n"
    assert page.read_text(encoding="utf-8") == written


def test_drift_is_shown_as_a_diff_with_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = _page(tmp_path, PAGE.replace("```text\n```\n", "```text\ntwo\n```\n", 1))
    before = page.read_text(encoding="utf-8")
    assert main(["--check"], root=tmp_path) == 1
    shown = capsys.readouterr().out
    assert "\n-an old line\n+one\n" in shown
    assert "+two" not in shown
    assert "python -m tools.readme" in shown
    assert page.read_text(encoding="utf-8") == before


def test_pytest_is_that_of_this_interpreter_and_may_fail_as_announced(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(): assert False\n", encoding="utf-8")
    marker = Marker("pytest -p no:cacheprovider --no-header", status=1)
    lines = trimmed(run(marker, tmp_path), marker)
    assert lines[0] == "collected 1 item"
    assert re.fullmatch(r"=+ 1 failed in \d+\.\d+s =+", lines[-1])
    assert len(lines[-1]) == 110


def test_another_status_is_an_error_with_the_last_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = "python -c \"print(*range(100), sep='\\n'); raise SystemExit('the end')\""
    _page(tmp_path, f"<!-- output of: {command} -->\n```text\nas before\n```\n")
    assert main([], root=tmp_path) == 2
    message = capsys.readouterr().err.splitlines()
    assert message[0] == f"README.md: {command}: found exit status 1; expected 0"
    assert sorted(message[2:]) == sorted([*map(str, range(71, 100)), "the end"])
    assert "as before" in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_a_terminal_or_service_around_it_changes_no_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CI", "PYTEST_ADDOPTS", "COLUMNS", "PY_COLORS"):
        monkeypatch.setenv(name, "1")
    code = (
        "import os; print(*[os.environ.get(n) for n in ('CI', 'PYTEST_ADDOPTS', 'COLUMNS', 'PY_COLORS', 'NO_COLOR')])"
    )
    assert run(Marker(f'python -c "{code}"'), tmp_path) == "None None 110 0 1\n"
