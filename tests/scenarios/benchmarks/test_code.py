"""Programs in replies: each way in which models write code."""

from __future__ import annotations

import pytest

from pytest_puma.scenarios.benchmarks.programs import functions_of, program

BEGINNING = 'import math\n\n\ndef half(x):\n    return x / 2\n\n\ndef area(r):\n    """Of a circle."""\n'
HEAD = "import math\n\n\ndef half(x):\n    return x / 2"
BODY = "    if r < 0:\n        return 0\n    return math.pi * r * r"
FUNCTION = f"def area(r):\n{BODY}"
COMPLETE = f"{BEGINNING}{BODY}\n"
AGAIN = f"{HEAD}\n\n\n{FUNCTION}\n"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param(BODY.strip(), COMPLETE, id="a body that lost its first spaces"),
        pytest.param(BODY, COMPLETE, id="a body"),
        pytest.param(f"\n{BODY}\n\n", COMPLETE, id="a body between empty lines"),
        pytest.param(f"{BODY.strip()}\n```\nIt returns the area.", COMPLETE, id="a body up to the end of the block"),
        pytest.param(f"{BODY.strip()}\n```\n\n```python\narea(1)\n```", COMPLETE, id="a body before another block"),
        pytest.param("return 1", f"{BEGINNING}    return 1\n", id="a body of one line"),
        pytest.param(
            "if r:\n    return 1\nreturn 2", f"{BEGINNING}    if r:\n        return 1\n    return 2\n", id="dedented"
        ),
        pytest.param(
            "if r:\n    return 1", f"{BEGINNING}    if r:\n        return 1\n", id="dedented, all lines but one"
        ),
        pytest.param(FUNCTION, AGAIN, id="the function again"),
        pytest.param(f"Sure:\n\n```python\n{FUNCTION}\n```\nDone.", AGAIN, id="a block with words around it"),
        pytest.param(f"Sure\n```python\n{FUNCTION}\n```", AGAIN, id="a block after a word that is Python"),
        pytest.param(f"```\n{FUNCTION}\n```", AGAIN, id="a block without a language"),
        pytest.param(f"```python\n{FUNCTION}", AGAIN, id="a block without an end"),
        pytest.param(f"```python\nprint(1)\n```\n```python\n{FUNCTION}\n```", AGAIN, id="the second block"),
        pytest.param(f"Sure:\n\n```python\n{BODY}\n```", COMPLETE, id="a block with the body"),
        pytest.param(f"    Indented:\n    ```python\n{FUNCTION}\n    ```", AGAIN, id="indented fences"),
    ],
)
def test_a_reply_becomes_a_program(reply: str, expected: str) -> None:
    source = program(BEGINNING, reply, "area")
    assert functions_of(source)[-1] == "area"
    assert source == expected


def test_the_second_block_wins_only_if_the_first_one_is_no_way_to_read_the_reply() -> None:
    reply = f"```python\n{FUNCTION}\n```\n```python\ndef area(r):\n    return 3\n```"
    assert program(BEGINNING, reply, "area") == AGAIN


@pytest.mark.parametrize("reply", ["I cannot do that, sorry.", "return (", "```python\n```", "x = '\0'"])
def test_what_is_no_program_defines_nothing(reply: str) -> None:
    assert functions_of(program(BEGINNING, reply, "area")) == []


def test_without_a_beginning_the_function_is_all() -> None:
    assert program("", f"```python\n{FUNCTION}\n```", "area") == f"{FUNCTION}\n"


def test_a_helper_with_a_longer_name_is_another_function() -> None:
    assert program("", "def area_of(r):\n    return 1", "area") == "def area_of(r):\n    return 1\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f():\n    def g(): pass\n", ["f"]),
        ("async def f(): pass\ndef g(): pass", ["f", "g"]),
        ("x = '\\d'\ndef f(): pass", ["f"]),
        ("def f(:", []),
        ("", []),
        ("(" * 100_000, []),
    ],
)
def test_functions_are_those_of_the_top_level(text: str, names: list[str]) -> None:
    assert functions_of(text) == names
