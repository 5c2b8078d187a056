"""The sandbox of a run: programs in, what happened to them out."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pytest_puma.core import Program, SettingsError
from pytest_puma.sandbox import pool as pool_module
from pytest_puma.sandbox import seccomp, server
from pytest_puma.sandbox.confinement import landlock_version
from pytest_puma.sandbox.escapes import escapes
from pytest_puma.sandbox.pool import ProgramPool, check_possible

pytestmark = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")


@pytest.fixture
def pool() -> Iterator[ProgramPool]:
    pool = ProgramPool("sandbox", 2)
    yield pool
    pool.close()


def test_programs_return_in_their_order(pool: ProgramPool) -> None:
    programs = [Program(text=f"print({number})") for number in range(20)]
    ran = pool.run(programs)
    assert [result.output for result in ran] == [f"{number}\n" for number in range(20)]
    assert all(result.passed and not result.timed_out and result.seconds > 0 for result in ran)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("x = 1 / 0", 'File "<program>", line 1, in <module>\nZeroDivisionError: division by zero\n'),
        ("def f(:", "SyntaxError: invalid syntax\n"),
        ("assert 1 == 2, 'no'", "AssertionError: no\n"),
        ("bytearray(1 << 40)", "MemoryError\n"),
        ("import os; os._exit(3)", "[left with status 3 before its last line]"),
        ("import os; os._exit(0)", "[left with status 0 before its last line]"),
        ("import os; os.abort()", "[ended by SIGABRT]"),
        ("while True: pass", "[ended at its limit of 1 s of computing, 4 s in all]"),
    ],
)
def test_the_output_ends_with_the_reason(pool: ProgramPool, text: str, end: str) -> None:
    (ran,) = pool.run([Program(text=text, seconds=1)])
    assert not ran.passed
    assert ran.output.endswith(end)
    assert ran.timed_out == ("limit" in end)
    assert "pytest_puma" not in ran.output, "no frame of the harness"


def test_a_program_is_run_as_a_module_without_input_arguments_and_environment(
    pool: ProgramPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "secret")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere")
    text = """
import os, sys
if __name__ == "__main__":
    input("an example that a reply ends with")
import copy, dataclasses, pickle
@dataclasses.dataclass
class Point:
    x: int
assert pickle.loads(pickle.dumps(copy.deepcopy(Point(1)))) == Point(1)
assert sys.argv == [""]
assert sys.stdin.read() == ""
assert sorted(os.environ) == ["LC_ALL", "LD_LIBRARY_PATH", "OPENBLAS_NUM_THREADS", "PYTHONHASHSEED"], os.environ
assert os.getcwd() == "/"
assert hash("a") == WANTED
annotation: undefined = 1
""".replace(
        "annotation: undefined = 1",
        "try:\n    annotation: undefined = 1\nexcept NameError: pass\nelse: raise ValueError",
    )
    (hashed,) = pool.run([Program(text="print(hash('a'))")])
    assert pool.run([Program(text=text.replace("WANTED", hashed.output.strip()))])[0].output == ""


def test_a_program_knows_nothing_of_earlier_ones(pool: ProgramPool) -> None:
    first, second = pool.run([Program(text="import json; json.planted = 1"), Program(text="import json; json.planted")])
    assert (first.passed, second.passed) == (True, False)


def test_modules_of_the_standard_library_work(pool: ProgramPool) -> None:
    names = "collections ctypes dataclasses datetime decimal fractions hashlib heapq itertools json math random re"
    modules = f"{names} sqlite3 ssl statistics string struct threading typing unittest zoneinfo".split()
    ran = pool.run([Program(text=f"import {module}") for module in modules])
    assert [module for module, result in zip(modules, ran, strict=True) if not result.passed] == []


def test_a_sandbox_that_a_program_can_leave_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    leaky = ProgramPool("unconfined", 2)
    monkeypatch.setattr(leaky, "_tested", False)
    expected = r"a program could read a file and write a file and connect to a server and start a process and send a"
    with pytest.raises(SettingsError, match=expected):
        leaky.run([Program(text="")])
    leaky.close()


def test_each_escape_fails_for_its_own_reason(pool: ProgramPool) -> None:
    with escapes() as programs:
        ran = dict(zip(programs, pool.run([Program(text=text) for text in programs.values()]), strict=True))
    assert all("PermissionError" in result.output for result in ran.values()), ran


def test_without_landlock_and_bwrap_programs_are_refused_unless_the_user_insists(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pool_module, "landlock_version", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SettingsError, match=r"cannot confine programs: it has no Landlock, and no bwrap on the PATH"):
        ProgramPool("sandbox", 1)
    check_possible("unconfined")
    bwrap = tmp_path / "bwrap"
    bwrap.write_text("")
    bwrap.chmod(0o755)
    check_possible("sandbox")


def test_a_program_ends_with_the_process_that_runs_it() -> None:
    command = [sys.executable, "-I", server.__file__, "sandbox", str(landlock_version()), "", *sys.path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:  # noqa: S603
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        print(
            '{"text": "import time; time.sleep(99)", "seconds": 60, "megabytes": 256, "packages": false}',
            file=running.stdin,
            flush=True,
        )
        while not (children := psutil.Process(running.pid).children()):
            time.sleep(0.01)
        running.kill()
    children[0].wait(timeout=10)


def test_the_calls_of_both_machines_are_known() -> None:
    for machine in ("x86_64", "aarch64"):
        assert seccomp.is_known(machine)
        assert len(seccomp.filter_of(machine, 1)) % 8 == 0
    assert not seccomp.is_known("riscv64")
