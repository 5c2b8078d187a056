"""The compilers and interpreters of this machine, by the languages of programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pytest_puma.core import Program
from pytest_puma.core.programming_language import LANGUAGES
from pytest_puma.errors import NotRunError
from pytest_puma.sandbox.confinement import TOOLS, readable

_SECONDS = 60


def instructions(program: Program) -> Mapping[str, Any]:
    """Return what the process that runs a program needs to know beside it: nothing more of one in Python.

    Raises a `NotRunError` if the compiler or interpreter of its language is not on the PATH.
    """
    if program.language == "python":
        return {}
    language = LANGUAGES[program.language]
    commands = [command.format(megabytes=program.megabytes).split() for command in language.commands]
    found = [_found(command[0], language.title) for command in commands if not command[0].startswith("./")]
    tools = dict.fromkeys(folder for tool in found for folder in _folders(tool))
    jars = os.environ.get("CLASSPATH", "").split(os.pathsep) if language.file.endswith(".java") else []
    tools.update(dict.fromkeys(str(Path(jar).resolve()) for jar in jars if jar.endswith(".jar")))
    paths = {command[0]: tool for command, tool in zip(commands, found, strict=False)}
    return {
        "file": language.file,
        "commands": [[paths.get(command[0], command[0]), *command[1:]] for command in commands],
        "tools": list(tools),
        "last": language.last,
        "end": language.end,
        "starts": language.starts,
        "stays": False,
        "megabytes": program.megabytes + language.runtime,
    }


def installed_languages() -> list[str]:
    """Return the titles of the languages whose compiler or interpreter is on the PATH."""
    return [
        language.title
        for language in LANGUAGES.values()
        if all(shutil.which(word) for word in (command.split()[0] for command in language.commands) if word[:2] != "./")
    ]


def python_as_compiler() -> Mapping[str, Any]:
    """Return the instructions for a program in Python that has the rights of a compiler and its programs."""
    interpreter = str(Path(sys.executable).resolve())
    return {
        # It may lie in a folder of root.
        "stays": True,
        "file": "program.py",
        "commands": [[interpreter, "-I", "-S", "program.py"]],
        "tools": [interpreter, *readable()],
        "last": "\nprint('{}', end='', flush=True)",
        "end": r"\Z",
        "starts": True,
    }


def version(name: str) -> str:
    """Return the first line that the compiler or interpreter of a language prints of its version."""
    tool = _found(LANGUAGES[name].commands[0].split()[0], LANGUAGES[name].title)
    return _printed(tool, "--version").splitlines()[0]


@cache
def _found(tool: str, title: str) -> str:
    path = shutil.which(tool)
    if path is None:
        msg = f"programs in {title} need {tool}, which is not on the PATH"
        raise NotRunError(msg)
    # The command of rustup stands for the compiler that it installed in another folder.
    is_rustup = Path(path).resolve().name == "rustup"
    return f"{_printed(path, '--print', 'sysroot')}/bin/{tool}" if is_rustup else path


@cache
def _printed(*command: str) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603
    return (ended.stdout or ended.stderr).strip()


def _folders(tool: str) -> list[str]:
    """What a program may read and run to use a tool: where it is installed, if that is no folder of the system."""
    file, home = Path(tool).resolve(), Path.home()
    if any(file.is_relative_to(folder) for folder in TOOLS):
        return []
    installed = file.parents[1]
    # A tool in the `bin` of a home folder does not open the home folder.
    return [str(file)] if home.is_relative_to(installed) or installed == home / ".local" else [str(installed)]
