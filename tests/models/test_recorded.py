"""The grammar of `recorded:NAME=FILE`, and its place among other models."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_puma.core import Model, ModelError, ModelOptions
from pytest_puma.models.resolve import resolve_models


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("answers.jsonl", "a=b,c.jsonl"):
        (tmp_path / name).write_text('{"id": "x", "text": "y"}\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def resolved(*arguments: str) -> tuple[Model, ...]:
    return resolve_models(arguments, directories=[])


@pytest.mark.parametrize(
    ("argument", "name", "file", "chat", "keys"),
    [
        ("recorded:gpt4=answers.jsonl", "gpt4", "answers.jsonl", True, ()),
        ("recorded:answers.jsonl", "answers", "answers.jsonl", True, ()),
        (" recorded: gpt4 = answers.jsonl ", "gpt4", "answers.jsonl", True, ()),
        ("recorded:a:b=answers.jsonl", "a-b", "answers.jsonl", True, ()),
        ("recorded:gpt4=a=b,c.jsonl,chat=off", "gpt4", "a=b,c.jsonl", False, ()),
        ("recorded:gpt4=answers.jsonl,chat=on,text=a.b", "gpt4", "answers.jsonl", True, (("text", "a.b"),)),
        (
            "recorded:g=answers.jsonl,prompt=question,logprobs=l",
            "g",
            "answers.jsonl",
            True,
            (("prompt", "question"), ("logprobs", "l")),
        ),
        ("recorded:g=answers.jsonl,id=qid", "g", "answers.jsonl", True, (("id", "qid"),)),
    ],
)
def test_an_argument_names_a_file_of_answers(
    argument: str, name: str, file: str, *, chat: bool, keys: tuple[tuple[str, str], ...]
) -> None:
    expected = Model(name=name, path=Path.cwd() / file, options=ModelOptions(chat=chat), source="answers", keys=keys)
    assert resolved(argument) == (expected,)
    assert not expected.computes


EACH = "expected each of id, prompt, text, logprobs=KEY, or chat=off, at most once"


@pytest.mark.parametrize(
    ("argument", "problem"),
    [
        ("recorded:", "found no file; expected recorded:NAME=FILE, as in recorded:gpt4=answers.jsonl"),
        ("recorded:gpt4=", "found no file; expected recorded:NAME=FILE, as in recorded:gpt4=answers.jsonl"),
        ("recorded:gpt4=none.jsonl", "no such file: none.jsonl; expected a file of answers, as in recorded:gpt4=a"),
        ("recorded:gpt4=.", "no such file: .; expected a file of answers"),
        ("recorded:gp t=answers.jsonl", "the alias 'gp t' contains ' '"),
        ("recorded:g=answers.jsonl,n_ctx=5", f"found 'n_ctx=5'; {EACH}"),
        ("recorded:g=answers.jsonl,text", f"found 'text'; {EACH}"),
        ("recorded:g=answers.jsonl,text=a,text=b", f"found 'text=b'; {EACH}"),
        ("recorded:g=answers.jsonl,chat=yes", f"found 'chat=yes'; {EACH}"),
    ],
)
def test_an_invalid_argument_is_refused(argument: str, problem: str) -> None:
    with pytest.raises(ModelError, match=re.escape(f"--puma-model {argument!r}: {problem}")):
        resolved(argument)


def test_two_files_of_answers_need_two_names(tmp_path: Path) -> None:
    (tmp_path / "answers.txt").write_text("", encoding="utf-8")
    problem = (
        "'recorded:answers.jsonl' is named 'answers' too; give one of them another name: recorded:NAME=answers.txt"
    )
    with pytest.raises(ModelError, match=re.escape(problem)):
        resolved("recorded:answers.jsonl", "recorded:answers.txt")
