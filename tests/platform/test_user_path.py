"""Paths as users write them."""

from pathlib import Path

import pytest

from pytest_puma.core import SettingsError
from pytest_puma.platform.user_path import user_path


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("~/x.csv", "/home/me/x.csv"),
        ("~", "/home/me"),
        ("a/~b.csv", "a/~b.csv"),
        ("./~b", "~b"),
        ("/x", "/x"),
        ("", "."),
    ],
)
def test_a_tilde_at_the_beginning_is_the_home(text: str, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert user_path(text) == Path(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "~nosuchuser/x.csv",
            "there is no user 'nosuchuser'; expected ~/... for your own home, or ./~nosuchuser for a file or folder of",
        ),
        ("a\0b.csv", "a path cannot contain the character NUL; expected the path of a file or folder"),
    ],
)
def test_a_path_of_no_file_is_an_error(text: str, problem: str) -> None:
    with pytest.raises(SettingsError) as error:
        user_path(text)
    assert str(error.value).startswith(f"{text!r}: {problem}")
    with pytest.raises(SettingsError, match=r"^--puma-x: "):
        user_path(text, where="--puma-x")
