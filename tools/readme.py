"""Check of the example outputs in README.md and `docs/`: run each marked command, then write its output or compare it.

    <!-- output of: pytest benchmarks | from: ^=+ puma | to: ^predictions: | exit: 1 -->
    ```console
    $ .venv/bin/pytest benchmarks
    ...
    ```

The block is `console` or `text`. It may begin with prompts (`$`), the last of which shows the command; the output
follows. `from` and `to` select the lines between two lines, both included; `exit` is the expected status, by default 0.
Each block has an empty response store, so that its command computes what it shows. A run before it can fill the store:
that of the command `before`, or with `killed: N` that of the same command, killed as soon as N answers are kept.

A difference that any two runs have is no change; `tools/readme_drift.py` lists these.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

from tools.killed import NotKilledError, kill_at
from tools.readme_drift import settled

_ROOT = Path(__file__).parents[1]
_LAST = 30  # lines of output that an error shows

_MARKER = "<!-- output of:"
_GRAMMAR = (
    f"{_MARKER} COMMAND [| from: REGEX] [| to: REGEX] [| exit: STATUS] [| before: COMMAND] [| killed: ANSWERS] -->"
)
_OPTIONS: dict[str, Callable[[str], Any]] = {
    "from": re.compile,
    "to": re.compile,
    "exit": int,
    "before": shlex.split,
    "killed": int,
}
_FENCE = re.compile(r"(`{3,})(console|text)")

_PROGRAMS = {"python": [sys.executable], "pytest": [sys.executable, "-m", "pytest"]}
_SET = {"COLUMNS": "110", "PY_COLORS": "0", "NO_COLOR": "1"}
_UNSET = {"CI", "BUILD_NUMBER", "PYTEST_ADDOPTS"}  # they change what pytest prints
_HEADER = re.compile(r"^=+ test session starts =+$.*?^(?=collected )", re.MULTILINE | re.DOTALL)


class ReadmeError(Exception):
    """A malformed marker, or a command that did not do what its marker expects."""

    def __init__(self, who: str, *, found: object, expected: object, output: str = "") -> None:
        tail = ["its last lines:", *output.rstrip().split("\n")[-_LAST:]] if output else []
        super().__init__("\n".join([f"{who}: found {found}; expected {expected}", *tail]))


@dataclass(frozen=True, slots=True)
class Marker:
    """A command, its expected exit status, and the first and last line of the output to show.

    `before`: a command that runs first. `killed`: the command itself runs first, up to this number of kept answers.
    """

    command: str
    status: int = 0
    first: re.Pattern[str] | None = None
    last: re.Pattern[str] | None = None
    before: tuple[str, ...] = ()
    killed: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """The place of an output in the page: lines from `start`, counted from 0, up to the fence at `end`."""

    marker: Marker
    start: int
    end: int


def parse_marker(line: str) -> Marker:
    """Parse a marker comment; a `ReadmeError` names the malformed part."""
    command, *options = (part.strip() for part in line.removeprefix(_MARKER).removesuffix("-->").split(" | "))
    try:
        values = {name: _OPTIONS[name](value.strip()) for name, value in (option.split(":", 1) for option in options)}
        words = shlex.split(command)
    except (KeyError, ValueError, re.error) as error:
        raise ReadmeError(line, found=repr(error), expected=_GRAMMAR) from error
    if not words or not line.endswith("-->"):
        raise ReadmeError(line, found="no command or no end", expected=_GRAMMAR)
    return Marker(
        command,
        status=values.get("exit", 0),
        first=values.get("from"),
        last=values.get("to"),
        before=tuple(values.get("before", ())),
        killed=values.get("killed", 0),
    )


def blocks(lines: Sequence[str]) -> list[Block]:
    """The marked blocks of a page; a `ReadmeError` quotes a marker that is malformed or has no block of its own."""
    return [_block(lines, at) for at, line in enumerate(lines) if line.startswith(_MARKER)]


def _block(lines: Sequence[str], at: int) -> Block:
    marker, start = parse_marker(lines[at]), at + 2
    opening = _FENCE.fullmatch("".join(lines[at + 1 : start]))
    if not opening or opening[1] not in lines[start:]:
        raise ReadmeError(lines[at], found="no block after it", expected="```console or ```text, and ``` at its end")
    while lines[start].startswith("$ "):
        start += 1
    prompt = lines[start - 1].removeprefix("$ ").removeprefix(".venv/bin/")
    if start > at + 2 and prompt != marker.command:
        raise ReadmeError(lines[at], found=f"the prompt {lines[start - 1]!r}", expected="one with the same command")
    return Block(marker, start, end=lines.index(opening[1], start))


def spliced(lines: Sequence[str], outputs: Sequence[Sequence[str]]) -> list[str]:
    """The page with an output in each marked block; a `ReadmeError` if a line of an output would end its block."""
    result = list(lines)
    for block, output in reversed(list(zip(blocks(lines), outputs, strict=True))):
        if any(line.lstrip().startswith(lines[block.end]) for line in output):
            raise ReadmeError(block.marker.command, found="a fence in its output", expected="a longer one around it")
        result[block.start : block.end] = output
    return result


def run(marker: Marker, root: Path) -> str:
    """The output of the command in this folder; a `ReadmeError` if its exit status is not the expected one."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "responses.sqlite")
        environment = {name: value for name, value in os.environ.items() if name not in _UNSET} | _SET
        environment["PYTEST_ADDOPTS"] = f"-o {shlex.quote(f'puma_store_path={store}')}"
        if marker.killed:
            try:
                kill_at(marker.killed, _arguments(marker.command), store=store, cwd=root, env=environment)
            except NotKilledError as error:
                raise ReadmeError(marker.command, found=error, expected="a run to kill") from error
        if marker.before:
            _output(shlex.join(marker.before), 0, root, environment)
        return _output(marker.command, marker.status, root, environment)


def _output(command: str, status: int, root: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(  # noqa: S603 - a command of our own page
        _arguments(command),
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != status:
        raise ReadmeError(command, found=f"exit status {done.returncode}", expected=status, output=done.stdout)
    return done.stdout


def _arguments(command: str) -> list[str]:
    program, *arguments = shlex.split(command)
    return [*_PROGRAMS.get(program, [program]), *arguments]


def trimmed(output: str, marker: Marker) -> list[str]:
    """The lines to show, without pytest's header; a `ReadmeError` if `from` or `to` matches none of them."""
    lines = [line.rstrip() for line in _HEADER.sub("", output, count=1).rstrip().split("\n")]
    start = _find(lines, marker.first, marker) if marker.first else 0
    end = _find(lines, marker.last, marker, start + bool(marker.first)) + 1 if marker.last else None
    return lines[start:end]


def _find(lines: Sequence[str], pattern: re.Pattern[str], marker: Marker, start: int = 0) -> int:
    for at, line in enumerate(lines[start:], start):
        if pattern.search(line):
            return at
    missing = f"no such line after line {start} of its output"
    raise ReadmeError(marker.command, found=missing, expected=repr(pattern.pattern), output="\n".join(lines))


def main(arguments: Sequence[str] | None = None, *, root: Path = _ROOT) -> int:
    """Write the outputs or, with `--check`, compare them; return 0 for no change, 1 after drift, 2 after an error."""
    parser = argparse.ArgumentParser(prog="python -m tools.readme", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if an output has changed")
    check = parser.parse_args(arguments).check
    pages = (root / "README.md", *sorted((root / "docs").rglob("*.md")))
    return max(_of_page(page, page.relative_to(root).as_posix(), root, check=check) for page in pages)


def _of_page(page: Path, name: str, root: Path, *, check: bool) -> int:
    """Write or compare the outputs of one page, if it has any; the status is that of `main`."""
    lines = page.read_text(encoding="utf-8").split("\n")
    try:
        if not (marked := blocks(lines)):
            return 0
        outputs = [trimmed(run(block.marker, root), block.marker) for block in marked]
        if check:
            return _check(name, lines, outputs)
        page.write_text("\n".join(spliced(lines, outputs)), encoding="utf-8")
        sys.stdout.write(f"{name}: {len(outputs)} outputs are written\n")
    except ReadmeError as error:
        sys.stderr.write(f"{name}: {error}\n")
        return 2
    return 0


def _check(name: str, lines: Sequence[str], outputs: Sequence[Sequence[str]]) -> int:
    printed = [lines[block.start : block.end] for block in blocks(lines)]
    now = spliced(lines, list(map(settled, outputs, printed)))
    diff = list(unified_diff(lines, now, name, "as run now", lineterm=""))
    changed = f"{name} has changed outputs: run python -m tools.readme" if diff else None
    sys.stdout.write("\n".join([*diff, changed or f"{name}: {len(outputs)} outputs are as printed", ""]))
    return 1 if diff else 0


if __name__ == "__main__":
    raise SystemExit(main())
