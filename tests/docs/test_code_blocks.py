"""Each code block of the documentation is valid in its language, and its commands have options that exist."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest

from pytest_puma.cli import main
from tests.docs.code_blocks import NO_CODE, PARSERS, CodeBlock, commands, parse, read_blocks
from tests.docs.reference import PAGES, page_name

BLOCKS = {
    f"{page_name(page)}:{block.line}": block
    for page in PAGES
    for block in read_blocks(page.read_text(encoding="utf-8"))
}
#: Programs of others, whose options are not checked.
OTHERS = ("cmake", "curl", "dask", "ggml-rpc-server", "jq", "pip", "printf", "python3", "sbatch", "source", "uv")


def check_command(words: list[str], pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    """Raise pytest's UsageError, the SystemExit of the command line, or AssertionError for an option or program."""
    program, *arguments = words
    name = PurePosixPath(program).name
    if name == "pytest":
        pytester.parseconfig(*arguments)
    elif name == "pytest-puma":
        with pytest.raises(SystemExit) as stopped:
            main([*(word for word in arguments if not word.startswith("-")), "--help"])
        if stopped.value.code:
            raise stopped.value
        options = {word.partition("=")[0] for word in arguments if word.startswith("-")}
        assert options <= set(re.findall(r"--?\w[\w-]*", capsys.readouterr().out))
    else:
        assert name in OTHERS


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_a_block_is_valid_and_its_commands_have_options_that_exist(
    block: CodeBlock, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    parse(block)
    for command in commands(block.text):
        check_command(command, pytester, capsys)


def test_the_languages_and_programs_of_the_pages_are_read() -> None:
    languages = {block.language for block in BLOCKS.values()}
    assert languages >= {"python", "json", "toml", "yaml", "jinja", "csv", "console", *NO_CODE}
    assert languages <= {*PARSERS, *NO_CODE}
    programs = [PurePosixPath(words[0]).name for block in BLOCKS.values() for words in commands(block.text)]
    assert set(programs) == {"pytest", "pytest-puma", *OTHERS}


# -- the reader ------------------------------------------------------------------------------------

PAGE = """Text
```python
x = 1
```
- item

  ~~~ yaml
  a:
    - b
  ~~~
````text
```
````
"""


def test_blocks_are_read_with_their_lines_and_without_the_indentation_of_their_list() -> None:
    assert read_blocks(PAGE) == [
        CodeBlock("python", "x = 1\n", 2),
        CodeBlock("yaml", "a:\n  - b\n", 7),
        CodeBlock("text", "```\n", 11),
    ]


def test_a_block_without_an_end_is_an_error() -> None:
    with pytest.raises(ValueError, match="line 2: the block has no end"):
        read_blocks("\n```python\nx = 1\n")


def test_commands_are_the_lines_behind_a_dollar_without_comments() -> None:
    assert commands("$ cd a && pytest -k 'b c'    # of b\npytest x\n$ pip install d\n") == [
        ["cd", "a"],
        ["pytest", "-k", "b c"],
        ["pip", "install", "d"],
    ]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "    name = 1\n\n    def f(self):\n        return 2\n"),
        ("jsonl", '{"a": 1}\n{"a": 2}\n'),
        ("ini", "[pytest]\npuma_samples = 100 %\n"),
        ("yaml", "a: 1\n---\nb: 2\n"),
    ],
)
def test_a_right_block_is_parsed(language: str, text: str) -> None:
    parse(CodeBlock(language, text, 1))


@pytest.mark.parametrize(
    ("language", "text", "error"),
    [
        ("python", "def f(:\n", "invalid syntax|expected"),
        ("python", "return 1\n", "outside function"),
        ("python", "    def f(self):\n    return 2\n", "expected an indented block"),
        ("json", '{"a": 1,}', "property name"),
        ("json", '{"a": 1}\n{"a": 2}\n', "Extra data"),
        ("jsonl", '{"a": 1}\n{"a": }\n', "Expecting value"),
        ("toml", "a = [1\n", "Unclosed array"),
        ("ini", "puma_samples = 100\n", "no section headers"),
        ("yaml", "a: [1\n", "expected ',' or ']'"),
        ("yaml", "some prose\n", "expected a mapping"),
        ("jinja", "{% if a %}", "Unexpected end of template"),
        ("csv", "a,b\n1,2,3\n", "expected 2 cells"),
        ("console", "pytest benchmarks\n", "without a command"),
        ("pyhton", "x = 1\n", "no parser for the language 'pyhton'"),
        ("", "x = 1\n", "no parser for the language ''"),
    ],
)
def test_a_wrong_block_is_an_error(language: str, text: str, error: str) -> None:
    with pytest.raises(Exception, match=error):
        parse(CodeBlock(language, text, 1))


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("pytest benchmarks --puma-modell q.gguf", pytest.UsageError),
        (".venv/bin/pytest --puma-model", pytest.UsageError),
        ("pytest --no-such-option", pytest.UsageError),
        ("pytest-puma trend --metrics accuracy", AssertionError),
        ("pytest-puma liste", SystemExit),
        ("pytset benchmarks", AssertionError),
    ],
)
def test_a_command_with_a_wrong_word_is_an_error(
    line: str, error: type[BaseException], pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    (command,) = commands(f"$ {line}\n")
    with pytest.raises(error):
        check_command(command, pytester, capsys)
