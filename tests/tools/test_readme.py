from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tools.readme import Marker, ReadmeError, blocks, main, parse_marker, run, spliced, trimmed

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


def _pattern(text: str | None) -> re.Pattern[str] | None:
    return None if text is None else re.compile(text)


def _page(folder: Path, text: str) -> Path:
    page = folder / "README.md"
    page.write_text(text, encoding="utf-8")
    return page


@pytest.mark.parametrize(
    ("line", "marker"),
    [
        ("<!-- output of: pytest benchmarks -->", Marker("pytest benchmarks")),
        ("<!-- output of: pytest -k 'a or b' | exit: 1 -->", Marker("pytest -k 'a or b'", status=1)),
        (
            "<!-- output of: pytest | to: ^a|b$ | from: ^_+ test: -->",
            Marker("pytest", first=re.compile("^_+ test:"), last=re.compile("^a|b$")),
        ),
        ("<!-- output of: pytest | killed: 60 -->", Marker("pytest", killed=60)),
        ("<!-- output of: pytest | before: pytest -k 'a b' -->", Marker("pytest", before=("pytest", "-k", "a b"))),
    ],
)
def test_a_marker_is_read_as_written(line: str, marker: Marker) -> None:
    assert parse_marker(line) == marker


@pytest.mark.parametrize(
    ("line", "fragment"),
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
def test_a_malformed_marker_is_an_error_that_quotes_it(line: str, fragment: str) -> None:
    with pytest.raises(ReadmeError) as caught:
        parse_marker(line)
    assert line in str(caught.value)
    assert fragment in str(caught.value)


@pytest.mark.parametrize(
    ("behind", "fragment"),
    [
        ("", "no block"),
        ("\n\n```text\n```", "no block"),
        ("\n```python\n```", "no block"),
        ("\n```text\nwithout an end", "no block"),
        ("\n```console\n$ pytest tests\n```", "the prompt '$ pytest tests'"),
    ],
)
def test_a_marker_without_a_block_of_its_own_is_an_error(behind: str, fragment: str) -> None:
    with pytest.raises(ReadmeError, match=re.escape(f"<!-- output of: pytest -->: found {fragment}")):
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


def test_outputs_are_written_and_then_are_as_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = _page(tmp_path, PAGE)
    assert main([], root=tmp_path) == 0
    written = page.read_text(encoding="utf-8")
    assert written == PAGE.replace("an old line", "one").replace("```text\n```\n", "```text\ntwo\n```\n", 1)
    capsys.readouterr()
    assert main(["--check"], root=tmp_path) == 0
    assert capsys.readouterr().out == "README.md: 2 outputs are as printed\n"
    assert page.read_text(encoding="utf-8") == written


def test_pages_of_the_documentation_have_outputs_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _page(tmp_path, "no outputs\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(PAGE, encoding="utf-8")
    assert main(["--check"], root=tmp_path) == 1
    assert "docs/a.md has changed outputs: run python -m tools.readme" in capsys.readouterr().out


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
    command = "python -c \"print(*range(100), sep='\\n', flush=True); raise SystemExit('the end')\""
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
    output = run(Marker(f'python -c "{code}"'), tmp_path)
    assert re.fullmatch(r"None -o puma_store_path=\S+ 110 0 1\n", output)


def test_a_command_before_it_shares_its_store_and_its_output_is_not_shown(tmp_path: Path) -> None:
    code = "import os, pathlib; p = pathlib.Path(os.environ['PYTEST_ADDOPTS'].partition('=')[2])"
    write, read = (f'python -c "{code}; print(p.{what})"' for what in ("write_text('kept')", "read_text()"))
    marker = Marker(read, before=tuple(shlex.split(write)))
    assert run(marker, tmp_path) == "kept\n"
    with pytest.raises(ReadmeError, match="found exit status 1; expected 0"):
        run(Marker(read), tmp_path)


def test_a_run_that_ends_before_it_is_killed_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ReadmeError, match="found exit status 0 with 0 kept answers; expected 3 and more to come"):
        run(Marker("python -c pass", killed=3), tmp_path)
