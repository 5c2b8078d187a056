from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from pytest_puma.metrics.library import equivalence
from pytest_puma.metrics.library.equivalence import equivalent

pytest.importorskip("math_verify")

EQUAL = [
    *((r"\frac{1}{2}", "0.5"), (r"\frac12", r"\dfrac{1}{2}"), ("x^2+2x+1", "(x+1)^2"), (r"\sqrt{8}", r"2\sqrt{2}")),
    *(("x=5", "5"), (r"\{1,2\}", r"\{2,1\}"), ("x<5", "5>x"), (r"\sin^2 x + \cos^2 x", "1"), ("3!", "6")),
    *((r"5\%", "0.05"), (r"3\text{ meters}", "3"), (r"10^{-20}", r"\frac{10^{-19}}{10}"), ("10,000", "10000")),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}\frac{2}{2}\\2.0\end{pmatrix}"),
]
UNEQUAL = [
    *((r"\frac{1}{2}", "0.51"), ("x^2", "x^3"), ("4x", "4y"), ("p - q", "q - p"), ("[0,1]", "[0,1)"), ("x<5", "x<6")),
    # Six decimals would not tell these apart, and twelve not those.
    *((r"\pi", "3.141593"), ("x", "0.0000001"), ("0.0000001", "0.0000002")),
    *((r"10^{-20}", r"2 \cdot 10^{-20}"), ("0.0000000000001", "0.0000000000002"), ("0", r"10^{-20}")),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1\\3\end{pmatrix}"),
    *(("", "5"), ("5", ""), (r"\frac{", r"\frac{"), ("__import__('os')", "1"), (r"\text{yes}", r"\text{no}")),
]


@pytest.mark.parametrize(("gold", "answer"), EQUAL)
def test_expressions_that_are_equal(gold: str, answer: str) -> None:
    assert equivalent(gold, answer)
    assert equivalent(answer, gold)


@pytest.mark.parametrize(("gold", "answer"), UNEQUAL)
def test_expressions_that_are_not_proven_equal(gold: str, answer: str) -> None:
    assert not equivalent(gold, answer)
    assert not equivalent(answer, gold)


def test_no_text_is_evaluated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for text in ("open('x','w')", "exec(open('x','w'))", "__import__('os').mkdir('x')", "1 if open('x','w') else 2"):
        equivalent(text, "1")
        equivalent("1", text)
    assert not list(tmp_path.iterdir())


def test_each_line_has_an_answer_and_an_odd_expression_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[int] = []
    has_timers = hasattr(signal, "setitimer")
    if has_timers:
        monkeypatch.setattr(signal, "setitimer", lambda _, seconds: limits.append(seconds))
    lines = [["1/2", "0.5"], ["1", "2"], ["too", "many", "of them"], ["1", "1.0"]]
    replies = io.StringIO()
    equivalence.serve(io.StringIO("".join(f"{json.dumps(line)}\n" for line in lines)), replies, 7)
    assert replies.getvalue().splitlines() == ["ready", "true", "false", "false", "true"]
    # A process that waits needs no limit.
    assert limits == [7, 0] * 4 * has_timers


def compare(folder: Path, *answers: str, verify: str, seconds: int = 5, size: int = 1 << 30) -> CompletedProcess[str]:
    """Run the program with a library whose comparison with `answer` is the expression `verify`."""
    (folder / "math_verify.py").write_text(
        "print('Loading ...')\n"
        "class LatexExtractionConfig: pass\n"
        "def parse(text, **_): print(text); return [text.strip('$')]\n"
        f"def verify(golds, answers, **_): answer = answers[0]; return {verify}\n"
    )
    command = [sys.executable, "-I", str(equivalence.__file__), str(seconds), str(size), str(folder), *sys.path]
    lines = "".join(f"{json.dumps(['a', answer])}\n" for answer in answers)
    return subprocess.run(command, input=lines, capture_output=True, text=True, check=False)  # noqa: S603 - as written here


@pytest.mark.skipif(sys.platform == "win32", reason="needs timers of POSIX")
@pytest.mark.parametrize(("seconds", "power", "survives"), [(1, 16, False), (1, 8, True), (0, 14, True)])
def test_the_system_ends_a_process_in_the_middle_of_one_operation(
    tmp_path: Path, seconds: int, power: int, *, survives: bool
) -> None:
    # The first power is one operation of many seconds, in which no thread and no signal handler of Python runs.
    done = compare(tmp_path, str(power), verify="3 ** 3 ** int(answer) > 0", seconds=seconds)
    assert done.stdout.splitlines() == (["ready", "true"] if survives else ["ready"])
    assert done.returncode == (0 if survives else -signal.SIGPROF)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the address space")
def test_memory_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    done = compare(tmp_path, str(1 << 27), str(1 << 30), verify="len(bytearray(int(answer))) > 0", size=1 << 29)
    assert done.stdout.splitlines() == ["ready", "true", "false"]
    assert done.returncode == 0


def test_the_program_finds_modules_by_its_arguments_and_prints_replies_alone(tmp_path: Path) -> None:
    done = compare(tmp_path, "a", "b", verify="golds == answers")
    assert done.returncode == 0
    assert done.stdout.splitlines() == ["ready", "true", "false"]
