from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import ModelError
from pytest_puma.core.model import Endpoint
from pytest_puma.models.resolve import resolve_models
from pytest_puma.models.server import without_secrets

URL = "http://127.0.0.1:8080/v1"


def resolved(*arguments: str) -> list[tuple[str, Endpoint | None]]:
    return [(model.name, model.endpoint) for model in resolve_models(arguments, directories=[])]


def test_an_argument_names_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "sk-1")
    assert resolved(
        f"server:qwen={URL}/,model=Qwen/Qwen2.5-7B", f"server:big:70b={URL},model=b, key=API_KEY,parallel=64"
    ) == [
        ("qwen", Endpoint(url=URL, model="Qwen/Qwen2.5-7B")),
        ("big-70b", Endpoint(url=URL, model="b", key="API_KEY", parallel=64)),
    ]


def test_it_is_neither_computed_here_nor_read() -> None:
    (model,) = resolve_models([f"server:a={URL},model=m"], directories=[])
    assert (model.computes, model.is_read, model.size, model.path) == (False, False, 0, Path())


@pytest.mark.parametrize(
    ("argument", "error"),
    [
        (URL, "found no URL after a name; expected server:NAME=URL,model=ID"),
        ("a=host:80,model=m", "found no URL after a name"),
        (f"a={URL}", "found no model=ID"),
        (f"a={URL},model=", "found model without a value"),
        (f"a={URL},model=m,model=n", "found model twice"),
        (f"a={URL},model=m,n_ctx=4096", "found 'n_ctx'; the keys of a server are: model=ID, key=VARIABLE, parallel="),
        (f"a={URL},model=m,chat=off", "found 'chat'; the keys of a server are"),
        (f"a={URL},model=m,parallel=0", "parallel is '0'; expected a number from 1 to 256"),
        (f"a b={URL},model=m", "the alias 'a b' contains ' '"),
        (f"a={URL},model=m,key=NOT_SET", "the environment variable NOT_SET is not set"),
    ],
)
def test_a_wrong_argument_names_the_part(argument: str, error: str) -> None:
    with pytest.raises(ModelError, match=f"--puma-model 'server:.*{error}"):
        resolved(f"server:{argument}")


@pytest.mark.parametrize(
    ("secret", "shown"),
    [
        ("a=http://u:hunter2@host/v1,model=m", "a=http://...host/v1,model=m"),
        ("a=http://host/v1?api=hunter2,model=m", "a=http://host/v1...,model=m"),
        ("a=http://host/v1,key=sk-hunter2,model=m", "a=http://host/v1,key=...,model=m"),
        ("a=http://host/v1,model=m,key=hunter2", "a=http://host/v1,model=m,key=..."),
    ],
)
def test_a_secret_in_an_argument_is_refused_and_not_shown(secret: str, shown: str) -> None:
    assert without_secrets(f"server:{secret}") == f"server:{shown}"
    with pytest.raises(ModelError) as caught:
        resolved(f"server:{secret}")
    assert "hunter2" not in str(caught.value)


def test_two_servers_of_one_name_are_refused() -> None:
    with pytest.raises(ModelError, match=r"is named 'a' too; give one of them another name: server:NAME=http://h/v1"):
        resolved(f"server:a={URL},model=m", "server:a=http://h/v1,model=m")
