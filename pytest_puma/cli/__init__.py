"""The command `pytest-puma`: reads what earlier runs left in `.puma/`, and never judges a gate.

pytest-puma list
pytest-puma compare main last
pytest-puma store why triage_jira-zero_shot@qwen
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pytest_puma.core import PumaError
from pytest_puma.report import escape


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 2 for an error, which is one sentence on standard error."""
    from pytest_puma.cli import doctor, files, history, init, prompts, share, store

    parser = argparse.ArgumentParser(prog="pytest-puma", description="Begin a benchmark, and read what runs left.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (doctor, init, prompts, history, files, share, store):
        command.declare(commands)
    try:
        options = parser.parse_args(arguments)
        status: int | None = options.run(options)
    except PumaError as error:
        sys.stderr.write(f"{escape.terminal_lines(f'pytest-puma: {error}')}\n")
        return 2
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough.
        sys.stderr.close()
        return 0
    return status or 0
