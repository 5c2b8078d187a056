"""`pytest-puma doctor`: what this machine offers to benchmarks, and what to do about each lack.

    ok       engine      llama-cpp-python 0.3.36 answered with the bundled model
    advice   GPU         an NVIDIA GPU is here, but this llama.cpp is built without it
                         CMAKE_ARGS=-DGGML_CUDA=on pip install --force-reinstall --no-cache-dir llama-cpp-python

The exit status is 1 if the installation cannot answer at all, else 0: a lack may be a choice.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pytest_puma.cli.console import add_command
from pytest_puma.cli.doctor.machine import Finding
from pytest_puma.report import escape

#: Of a finding as JSON.
_KEYS = ("part", "found", "state", "advice", "details")
_STATE, _PART = 9, 12


def declare(commands: Any) -> None:
    """Declare the command."""
    text = "report what this machine offers to benchmarks, and what to do about each lack"
    parser = add_command(commands, "doctor", _doctor, text)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="report its chat format, too; as for --puma-model")
    parser.add_argument("--json", action="store_true", help="write the findings as JSON")


def _doctor(options: argparse.Namespace) -> int:
    # They import pytest, for which other commands need not wait.
    from pytest_puma.cli.doctor import engine, machine, project

    findings = [*machine.findings(), *engine.findings(), *project.findings(Path.cwd(), options.models)]
    usable = not any(finding.broken for finding in findings)
    if options.json:
        rows = [{name: getattr(finding, name) for name in _KEYS} for finding in findings]
        sys.stdout.write(json.dumps({"usable": usable, "findings": rows}, indent=1) + "\n")
    else:
        for line in _lines(findings):
            sys.stdout.write(f"{escape.terminal(line)}\n")
    return 0 if usable else 1


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    for finding in findings:
        first, *more = finding.found.splitlines() or [""]
        yield f"{finding.state:<{_STATE}}{finding.part:<{_PART}}{first}"
        for line in (*more, *finding.advice.splitlines()):
            yield f"{'':<{_STATE + _PART}}{line}"
