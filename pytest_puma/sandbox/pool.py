"""The sandbox of a run: processes that run programs, as many at once as there are cores."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from json import dumps, loads
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from pytest_puma.core import EngineError, NotRunError, Program, Ran, SettingsError
from pytest_puma.core.programming_language import PYTHON
from pytest_puma.phrases import shown
from pytest_puma.platform.processes import WorkerProcess, signal_name
from pytest_puma.sandbox.confinement import landlock_version
from pytest_puma.sandbox.escapes import STARTS, escapes
from pytest_puma.sandbox.tools import instructions, python_as_compiler, version

#: The program of these processes; Windows cannot import it.
_SERVER = Path(__file__).with_name("server.py")
#: Seconds after which a process that runs programs is taken as broken: more than any limit of a program.
_WAIT = 600.0
UNCONFINED = "unconfined"


def check_possible(mode: str) -> None:
    """Raise a `SettingsError` if this system cannot confine programs; `mode`: the value of `--puma-run-code`."""
    if sys.platform == "win32":
        msg = "--puma-run-code: this system is Windows, which cannot run programs apart; expected Linux, such as WSL"
        raise SettingsError(msg)
    if mode != UNCONFINED and not landlock_version() and shutil.which("bwrap") is None:
        msg = (
            f"--puma-run-code: this system ({platform.system()} {platform.release()}, {platform.machine()}) cannot "
            "confine programs: it has no Landlock, and no bwrap on the PATH; expected Linux 5.13 or later, or "
            "--puma-run-code=unconfined on a machine that nobody needs"
        )
        raise SettingsError(msg)


class ProgramPool:
    """A sandbox (`core.program.Sandbox`). The first programs are five that try to leave it, unless it is unconfined.

    Raises a `SettingsError` if this system cannot confine programs.
    """

    def __init__(self, mode: str, processes: int) -> None:
        check_possible(mode)
        self._landlock, self._mode = landlock_version(), mode
        self._tested = self._tools_tested = mode == UNCONFINED
        arguments = [mode, str(self._landlock), self._wrapper]
        workers = [WorkerProcess(_SERVER, arguments, _WAIT) for _ in range(processes)]
        self._workers, self._free = workers, SimpleQueue[WorkerProcess]()
        for worker in workers:
            self._free.put(worker)

    @property
    def _wrapper(self) -> str:
        """The program that confines where Landlock is missing."""
        return "" if self._landlock or self._mode == UNCONFINED else str(shutil.which("bwrap"))

    @property
    def signature(self) -> Mapping[str, str]:
        """The version of Python, and what confines the programs."""
        confinement = self._mode if self._mode == UNCONFINED else "bwrap" if self._wrapper else "landlock"
        return {"python": platform.python_version(), "confinement": confinement}

    @property
    def warnings(self) -> Sequence[str]:
        """A sentence if nothing confines the programs."""
        sentence = (
            "programs that the model wrote ran unconfined, with the rights of the user (--puma-run-code=unconfined)"
        )
        return (sentence,) if self._mode == UNCONFINED else ()

    def run(self, programs: Sequence[Program]) -> list[Ran]:
        """Run programs; return what happened in their order.

        Raises a `SettingsError` if one can leave the sandbox, an `EngineError` if the sandbox does not work, and a
        `NotRunError` if the compiler or interpreter of a language is not on the PATH.
        """
        if any(program.language != PYTHON for program in programs):
            self._check_tools(programs)
        if not self._tested:
            self._test({})
            self._tested = True
        return self._run(programs)

    def versions(self, languages: Iterable[str]) -> Mapping[str, str]:
        """The versions of the compilers and interpreters of languages other than Python."""
        return {language: version(language) for language in sorted(languages)}

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.close()

    def _check_tools(self, programs: Sequence[Program]) -> None:
        """Refuse languages without a compiler or interpreter, and a system where their programs can leave."""
        for program in {program.language: program for program in programs}.values():
            instructions(program)
        if self._wrapper:
            msg = "programs in other languages than Python need Landlock, and this system has bwrap alone"
            raise NotRunError(msg)
        if not self._tools_tested:
            self._test(python_as_compiler())
            self._tools_tested = True

    def _run(self, programs: Sequence[Program], more: Mapping[str, Any] | None = None) -> list[Ran]:
        with ThreadPoolExecutor(len(self._workers)) as threads:
            return list(threads.map(lambda program: self._ran(program, more), programs))

    def _test(self, more: Mapping[str, Any]) -> None:
        """Run programs that must fail, and one that must not; `more`: instructions for the process that runs them.

        Programs of compilers may start processes.
        """
        with escapes() as every:
            programs = {deed: text for deed, text in every.items() if not more or deed != STARTS}
            ran = dict(zip(programs, self._run([Program(text=it) for it in programs.values()], more), strict=True))
        if escaped := [deed for deed, result in ran.items() if result.passed]:
            msg = (
                f"--puma-run-code: the sandbox of this system does not hold: a program could {' and '.join(escaped)}; "
                "expected a newer Linux kernel, or bwrap on the PATH"
            )
            raise SettingsError(msg)
        harmless = self._ran(Program(text="import json, random\nassert json.loads('[1]') == [1]"), more)
        if not harmless.passed:
            msg = f"the sandbox cannot run a harmless program: {shown(harmless.output)}"
            raise EngineError(msg)

    def _ran(self, program: Program, more: Mapping[str, Any] | None = None) -> Ran:
        question = {**asdict(program), **(instructions(program) if more is None else more)}
        worker = self._free.get()
        try:
            reply = worker.ask(dumps(question))
        finally:
            self._free.put(worker)
        if reply is None:
            msg = "the sandbox: a process that runs programs ended, or took too long, twice; expected an answer"
            raise EngineError(msg)
        happened = loads(reply)
        return Ran(
            passed=happened["passed"],
            timed_out=happened["late"],
            output=f"{happened['output']}{_end(program, happened)}",
            seconds=happened["seconds"],
        )


def _end(program: Program, happened: Mapping[str, object]) -> str:
    """A line about the end of a program that did not reach its last line and wrote no exception."""
    status = happened["status"]
    if not happened.get("compiled", True):
        return "[it does not compile]"
    if happened["late"]:
        return f"[ended at its limit of {program.seconds} s of computing, {2 * program.seconds + 2} s in all]"
    if isinstance(status, int) and status < 0:
        return f"[ended by {signal_name(-status)}]"
    # Python has written its exception.
    return (
        ""
        if happened["passed"] or (status == 1 and program.language == PYTHON)
        else f"[left with status {status} before its last line]"
    )
