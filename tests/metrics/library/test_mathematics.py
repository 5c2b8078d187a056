from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import SettingsError
from pytest_puma.metrics.library import LIBRARY, mathematics
from pytest_puma.metrics.library.mathematics import math_match
from pytest_puma.platform.processes import BoundedFunction
from tests.factories import prediction, sample

needs_library = pytest.mark.usefixtures("library")


@pytest.fixture
def library() -> None:
    pytest.importorskip("math_verify")


@pytest.fixture
def _no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison that needs a worker process fails."""

    def compare(*expressions: str) -> bool:
        raise AssertionError(expressions)

    monkeypatch.setattr(mathematics, "_equivalent", compare)


@pytest.fixture(scope="module")
def one_second() -> Iterator[BoundedFunction]:
    """A comparison that computes for 1 second."""
    file = Path(mathematics.__file__).with_name("bounded.py")
    function = BoundedFunction(file, "equivalent", ("1", "1"), seconds=1)
    yield function
    function.close()


@pytest.fixture
def quick(one_second: BoundedFunction, monkeypatch: pytest.MonkeyPatch) -> BoundedFunction:
    """All comparisons are quick."""
    monkeypatch.setattr(mathematics, "_equivalent", one_second)
    return one_second


def number_match(text: str, *references: str) -> float | None:
    return LIBRARY["number_match"].score(sample("q", references=references), prediction("q", reply=text))  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [
        ("9 * 2 = 18\n#### 18", "18", 1),
        ("She makes $1,250.50 a day.", "1250.5", 1),
        ("She makes $1,250.50 a day.", "$1,250.5", 1),
        ("The answer is 19.", "18", 0),
        ("The answer is 18, not 19.", "18", 1),
        ("18", "18.0", 1),
        ("18.0000001", "18", 0),
        ("1e3", "1,000", 1),
        ("70 %", "70", 1),
        ("0.7", "70%", 0),
        ("1/3", "\\frac{1}{3}", 1),
        ("0.3333", "1/3", 0),
        ("-5", "5", 0),
        ("\u22125", "-5", 1),
        ("Nobody knows.", "18", 0),
        ("", "0", 0),
        # The whole solution of GSM8K is a ground truth too.
        ("It is 18.", "16 - 3 - 4 = 9 eggs\n9 * 2 = <<9*2=18>>18 dollars\n#### 18", 1),
        ("It is 1800.", "So.\n#### 1,800", 1),
        ("It is 16.", "16 - 3 - 4 = 9 eggs\n#### 18", 0),
    ],
)
def test_the_number_of_the_answer_is_compared_exactly(text: str, reference: str, value: int) -> None:
    assert number_match(text, reference) == value


def test_any_reference_may_be_the_number() -> None:
    assert number_match("It is 3.", "2", "3") == 1
    assert number_match("It is 4.", "2", "3") == 0


def test_without_a_reference_there_is_no_number_to_find() -> None:
    assert number_match("It is 3.") is None


@pytest.mark.parametrize("reference", ["", "eighteen", "18 eggs or so", "3 + 4", "18\n#### none"])
def test_a_reference_that_is_no_number_is_an_error_that_names_the_sample(reference: str) -> None:
    with pytest.raises(SettingsError, match=r"number_match: .* of sample 'q' is no number; expected .* truth\(item\)"):
        number_match("18", "1", reference)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4))
def test_a_number_equals_itself_in_every_spelling(value: Decimal) -> None:
    for text in (f"{value:f}", f"It is {value:,f}.", f"\\boxed{{{value:f}}}", f"5 + 6\n#### {value:e}"):
        assert number_match(text, f"{value:f}") == 1
        assert number_match(text, f"{value + 1:f}") == 0


@pytest.mark.usefixtures("_no_worker")
@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [
        ("so $\\boxed{\\dfrac{1}{2}}$.", "\\frac{1}{2}", 1),
        ("\\boxed{1,000}", "1000", 1),
        ("\\boxed{0.50}", "\\frac{1}{2}", 1),
        ("\\boxed{0.3333333}", "\\frac{1}{3}", 0),
        ("\\boxed{0.0000001}", "0.0000002", 0),
        ("\\boxed{ \\left( 1,\\! 2 \\right) }", "(1, 2)", 1),
        ("\\boxed{90^\\circ}", "90", 1),
        ("\\boxed{90^{\\circ}}", "90", 1),
        ("\\boxed{\\text{no solution}}", "no solution", 1),
        ("\\boxed{\\mathrm{x}~y}", "xy", 1),
        ("\\boxed{x**2}", "x^2", 1),
        ("\\boxed{2*x}", "2 \\cdot x", 1),
        ("\\boxed{\\$5}", "5", 1),
        # Words are no products of letters.
        ("\\boxed{Monday}", "dynaMo", 0),
        ("\\boxed{no solution}", "no solutions", 0),
        ("\\boxed{\\text{even}}", "\\text{veen}", 0),
        # The answer is in the reply, marked or not.
        ("The final answer is **$x+1$**. I am sure.", "x+1", 1),
        ("The answer is $x=5$ or $x=3$.", "x=5, x=3", 1),
        ("First $x = 3$, then $y=4$ follows.", "y=4", 1),
        ("First \\(x = 3\\), then \\[y=4\\] follows.", "y=4", 1),
        ("Hence\n$$\ny = 4\n$$", "y=4", 1),
        ("x+1", "x+1", 1),
        ("She makes 18 dollars.", "18", 1),
        ("She makes 18 dollars and 20 cents.", "18", 0),
        ("I pay $5 and then $6", "6", 1),
        ("I pay $5 and then $6", "5", 0),
        # Nothing is equal to nothing.
        ("", "", 0),
        ("", "5", 0),
        ("5", "", 0),
        ("\\boxed{" + "x+" * 500 + "x}", "500x", 0),
    ],
)
def test_many_answers_are_decided_without_algebra(text: str, reference: str, value: int) -> None:
    assert math_match(text, reference) == value


@needs_library
@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [
        ("\\boxed{(x+1)^2}", "x^2+2x+1", 1),
        ("\\boxed{(x+1)^2}", "x^2+2x+2", 0),
        ("\\boxed{sqrt(2)*pi}", "\\pi\\sqrt{2}", 1),
        ("\\boxed{pirate}", "\\pi rate", 0),
        ("\\boxed{infinity}", "2\\infty", 1),
        ("\\boxed{-infty}", "\\infty", 0),
        ("\\boxed{50\\%}", "0.5", 1),
        ("\\boxed{50\\%}", "0.6", 0),
        ("\\boxed{3\\text{ cm}}", "3", 1),
        ("The answer is x = 5.", "5", 1),
        ("so $y = 4$", "4", 1),
        ("\\boxed{2^{10}}", "1024", 1),
        ("\\boxed{" + "x+" * 480 + "x}", "y", 0),
        ("\\boxed{}", "5", 0),
        # Units are ignored.
        ("\\boxed{10 kg}", "10 g", 1),
    ],
)
def test_expressions_are_compared_by_algebra(text: str, reference: str, value: int) -> None:
    assert math_match(text, reference) == value


@needs_library
@pytest.mark.parametrize(
    "bomb",
    [
        "9^{9^{9^{9}}}",
        "10^{10^{10}}",
        "10000000!",
        "(" * 400,
        "{" * 400 + "x" + "}" * 400,
        "\\sum_{n=1}^{10^{10}} \\sin(n)^n",
        "__import__('os').system('sleep 60')",
    ],
)
def test_a_bomb_is_wrong_and_the_next_answer_right(quick: BoundedFunction, bomb: str) -> None:
    assert math_match(f"\\boxed{{{bomb}}}", "3x") == 0
    assert math_match(bomb, "7") == 0
    assert math_match("\\boxed{x+x}", "2x") == 1
    assert quick("1", "1.0") is True


@needs_library
def test_a_thread_and_an_alarm_of_the_caller_change_nothing() -> None:
    values: list[float] = []
    thread = threading.Thread(target=lambda: values.append(math_match("\\boxed{x+x}", "2x")))
    thread.start()
    thread.join()
    assert values == [1]


@needs_library
def test_one_process_serves_all_comparisons_of_a_process_and_ends_with_it() -> None:
    code = (
        "import psutil\nfrom pytest_puma.metrics.library.mathematics import math_match\n"
        "print([math_match(f'${n}x+x$', f'{n + 1}x') for n in range(3)])\n"
        "print(*[child.pid for child in psutil.Process().children()])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    values, processes = done.stdout.splitlines()
    assert values == "[1.0, 1.0, 1.0]"
    assert len(processes.split()) == 1
    assert not psutil.pid_exists(int(processes))


def test_the_best_reference_counts() -> None:
    score = LIBRARY["math_match"].score
    assert score(sample("q", references=("a", "b")), prediction("q", reply="\\boxed{b}")) == 1
    assert score(sample("q"), prediction("q", reply="b")) is None


@pytest.mark.parametrize(("name", "extra"), [("number_match", ""), ("math_match", "math")])
def test_both_are_shares_of_right_completions(name: str, extra: str) -> None:
    metric = LIBRARY[name]
    assert (metric.better, metric.bounds, metric.per, metric.pool) == ("high", (0.0, 1.0), "trial", None)
    assert metric.kinds == {"completion"}
    assert not metric.needs
    assert metric.extra == extra
