from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pytest_puma.platform.processes import WorkerProcess

PROGRAM = """
import os, signal, sys, time
number = 0
open(sys.argv[1], "a").write(f"{os.getpid()}\\n")
print("ready", flush=True)
for line in sys.stdin:
    number += 1
    word, _, rest = line.strip().partition(" ")
    if word == "sleep":
        time.sleep(float(rest))
    elif word == "crash" or (word == "second" and number == 2):
        os._exit(3)
    elif word == "limit":
        os.kill(os.getpid(), signal.SIGPROF)
    elif word == "half":
        sys.stdout.write("half")
        sys.stdout.flush()
        os._exit(0)
    print(f"{number} {line.strip()}", flush=True)
"""


class Worker(WorkerProcess):
    """A worker whose program lists the processes that ran it."""

    def __init__(self, folder: Path, seconds: float = 60.0, program: str = PROGRAM) -> None:
        (folder / "program.py").write_text(program)
        self.started = folder / "started"
        super().__init__(folder / "program.py", [str(self.started)], seconds)

    @property
    def processes(self) -> list[int]:
        return [int(line) for line in self.started.read_text().split()] if self.started.exists() else []


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    made = Worker(tmp_path)
    yield made
    made.close()


def is_gone(pid: int, seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_one_process_answers_all_questions(worker: Worker) -> None:
    assert not worker.processes
    assert [worker.ask("a"), worker.ask("b c"), worker.ask("")] == ["1 a", "2 b c", "3 "]
    assert len(worker.processes) == 1


def test_the_program_gets_the_module_path_of_this_process(tmp_path: Path) -> None:
    worker = Worker(tmp_path, program="import sys\nprint('ready')\nprint(sys.argv[2:], flush=True)\ninput()")
    assert worker.ask("") == str(sys.path)
    worker.close()


@pytest.mark.parametrize("question", ["sleep 600", "limit"])
def test_a_question_that_takes_too_long_has_no_answer_and_is_not_asked_again(tmp_path: Path, question: str) -> None:
    worker = Worker(tmp_path, seconds=2.0 if question.startswith("sleep") else 60.0)
    assert worker.ask("a") == "1 a"
    assert worker.ask(question) is None
    assert is_gone(worker.processes[0])
    assert len(worker.processes) == 1
    assert worker.ask("b") == "1 b"
    assert len(worker.processes) == 2
    worker.close()


@pytest.mark.parametrize("question", ["crash", "half"])
def test_a_question_that_crashes_twice_has_no_answer(worker: Worker, question: str) -> None:
    assert worker.ask("a") == "1 a"
    assert worker.ask(question) is None
    assert len(worker.processes) == 2
    assert worker.ask("b") == "1 b"
    assert len(worker.processes) == 3


def test_a_crash_by_earlier_questions_is_repaired(worker: Worker) -> None:
    worker.ask("a")
    assert worker.ask("second") == "1 second"
    assert len(worker.processes) == 2


def test_a_process_that_died_between_questions_is_replaced(worker: Worker) -> None:
    worker.ask("a")
    os.kill(worker.processes[0], signal.SIGTERM)
    assert is_gone(worker.processes[0])
    assert worker.ask("b") == "1 b"


def test_an_interrupted_question_leaves_no_answer_to_the_next_one(worker: Worker) -> None:
    worker.ask("a")
    thread = threading.get_ident()
    interrupt = threading.Timer(0.3, lambda: signal.pthread_kill(thread, signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        worker.ask("sleep 600")
    assert is_gone(worker.processes[0])
    assert worker.ask("b") == "1 b"


def test_threads_get_their_own_answers(worker: Worker) -> None:
    wrong: list[str | None] = []

    def ask(name: str) -> None:
        answers = [worker.ask(f"{name} {number}") for number in range(50)]
        wrong.extend(
            answer for number, answer in enumerate(answers) if (answer or "").split()[1:] != [name, str(number)]
        )

    threads = [threading.Thread(target=ask, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(worker.processes) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a fork")
def test_a_fork_has_a_process_of_its_own(worker: Worker) -> None:
    worker.ask("a")
    child = os.fork()
    if not child:
        fine = worker.ask("b") == "1 b" and len(worker.processes) == 2
        worker.close()
        os._exit(0 if fine else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert worker.ask("c") == "2 c"


def test_closing_ends_the_process_and_the_next_question_starts_another(worker: Worker) -> None:
    worker.ask("a")
    worker.close()
    assert is_gone(worker.processes[0])
    worker.close()
    assert worker.ask("b") == "1 b"


def test_a_worker_that_nobody_needs_ends_its_process(tmp_path: Path) -> None:
    worker = Worker(tmp_path)
    worker.ask("a")
    pid = worker.processes[0]
    del worker
    assert is_gone(pid)


@pytest.mark.parametrize("end", ["", "os.kill(os.getpid(), signal.SIGKILL)", "os._exit(0)", "raise ValueError"])
def test_the_process_ends_with_the_one_that_started_it(tmp_path: Path, end: str) -> None:
    code = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from tests.platform.test_processes import Worker\n"
        f"worker = Worker(Path({str(tmp_path)!r}))\nworker.ask('a')\n{end}\n"
    )
    subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, cwd=Path(__file__).parents[2])  # noqa: S603
    (pid,) = [int(line) for line in (tmp_path / "started").read_text().split()]
    assert is_gone(pid)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("raise SystemExit(7)", "its first line is None, its exit status 7"),
        ("print('hello')\ninput()", "its first line is 'hello', its exit status -9"),
    ],
)
def test_a_program_that_does_not_start_is_an_error(tmp_path: Path, program: str, reason: str) -> None:
    worker = Worker(tmp_path, program=program)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=rf"program\.py did not start: {reason}; expected the line 'ready'"):
            worker.ask("a")
