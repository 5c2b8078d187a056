"""The command `pytest-puma init` in an empty folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_puma.cli import main


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def error(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The error of the command for a file with this content, which leaves nothing but the file."""

    def run(content: str, *options: str, name: str = "tickets.csv") -> str:
        Path(name).write_text(content, encoding="utf-8")
        assert main(["init", name, *options]) == 2
        assert [path.name for path in Path.cwd().iterdir()] == [name]
        return capsys.readouterr().err.removeprefix("pytest-puma: ").rstrip()

    return run


@pytest.fixture
def output(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Output of the command for a file with this content."""

    def run(content: str, *options: str, name: str = "tickets.csv") -> str:
        Path(name).write_text(content, encoding="utf-8")
        assert main(["init", name, *options]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return run
