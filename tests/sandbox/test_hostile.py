"""Hostile programs get nowhere, as root and as another user; without a sandbox they would."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.sandbox import server
from pytest_puma.sandbox.confinement import landlock_version
from tests.sandbox.hostile import CHEATS, ESCAPES, SOMETIMES

PACKAGE = str(Path(server.__file__).parents[2])
NOBODY = 65534
confined = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")


@pytest.fixture
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A folder with files, and a server; anybody may write there."""
    folder = tmp_path_factory.mktemp("ground")
    for parent in (folder, *folder.parents[:2]):
        parent.chmod(0o777)
    for name in ("secret", "precious", "spare", "doomed", "moved"):
        (folder / f"{name}.txt").write_text(name, encoding="utf-8")
        (folder / f"{name}.txt").chmod(0o666)
    (folder / "planted.py").write_text("", encoding="utf-8")
    (folder / "planted_link").symlink_to(folder / "secret.txt")
    harness = shutil.copy(server.__file__, folder / "harness.py")
    Path(harness).chmod(0o666)
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(folder / "unix"))
        local.listen()
        (folder / "unix").chmod(0o777)
        threading.Thread(target=_serve, args=(listening,), daemon=True).start()
        port = listening.getsockname()[1]
        yield {"folder": folder, "port": port, "process": os.getpid(), "server": harness}


def _serve(listening: socket.socket) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        with connection:
            connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n")


def run(
    programs: Sequence[str], *, mode: str = "sandbox", user: int | None = None, bwrap: str = ""
) -> list[dict[str, Any]]:
    """What happened to each program, in a process of its own that runs them."""
    python = sys.executable if user is None else _python_of(user)
    command = [python, "-I", server.__file__, mode, "0" if bwrap else str(landlock_version()), bwrap, PACKAGE]
    questions = "".join(
        json.dumps({"text": text, "seconds": 1, "megabytes": 256, "packages": False}) + "\n" for text in programs
    )
    ended = subprocess.run(  # noqa: S603 - the process under test
        command, input=questions, capture_output=True, text=True, check=True, timeout=300, user=user
    )
    ready, *replies = ended.stdout.splitlines()
    assert ready == "ready"
    return [json.loads(reply) for reply in replies]


def _python_of(user: int) -> str:
    """An interpreter that the user may start, with the package that it may read."""
    for python in (sys.executable, "/usr/bin/python3"):
        tried = [python, "-I", "-c", f"open({server.__file__!r})"]
        try:
            if subprocess.run(tried, check=False, capture_output=True, user=user).returncode == 0:  # noqa: S603
                return python
        except OSError:
            continue
    pytest.skip(f"user {user} can start no Python that reads {server.__file__}")


def escapes(ground: Mapping[str, Any]) -> list[str]:
    return [text.format(**ground) for text in ESCAPES.values()]


def check_ground(ground: Mapping[str, Any]) -> None:
    """Nothing has changed."""
    folder = ground["folder"]
    names = {"secret.txt", "precious.txt", "spare.txt", "doomed.txt", "moved.txt", "planted.py", "planted_link"}
    assert {path.name for path in folder.iterdir()} == names | {"harness.py", "unix"}
    assert (folder / "precious.txt").read_text(encoding="utf-8") == "precious"
    assert (folder / "spare.txt").read_text(encoding="utf-8") == "spare"
    assert Path(ground["server"]).read_bytes() == Path(server.__file__).read_bytes()


@confined
def test_no_program_gets_out(ground: Mapping[str, Any]) -> None:
    happened = dict(zip(ESCAPES, run(escapes(ground)), strict=True))
    assert [name for name, result in happened.items() if result["passed"]] == []
    check_ground(ground)


@confined
@pytest.mark.skipif(os.geteuid() != 0, reason="the other test runs as another user than root already")
def test_no_program_gets_out_as_another_user(ground: Mapping[str, Any]) -> None:
    happened = dict(zip(ESCAPES, run(escapes(ground), user=NOBODY), strict=True))
    assert [name for name, result in happened.items() if result["passed"]] == []
    check_ground(ground)


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bwrap is not installed")
def test_no_program_gets_out_of_bwrap(ground: Mapping[str, Any]) -> None:
    harmless = "import json, random, ssl, sqlite3"
    happened = run([*escapes(ground), *CHEATS.values(), harmless], bwrap=str(shutil.which("bwrap")))
    passed = [name for name, result in zip([*ESCAPES, *CHEATS, "harmless"], happened, strict=True) if result["passed"]]
    assert passed == ["list the root", "harmless"], "the root is another one there"
    check_ground(ground)


def test_without_a_sandbox_these_programs_get_out(ground: Mapping[str, Any]) -> None:
    happened = dict(zip(ESCAPES, run(escapes(ground), mode="unconfined"), strict=True))
    kept_in = {name: result["output"][-200:] for name, result in happened.items() if not result["passed"]}
    assert {name: output for name, output in kept_in.items() if name not in SOMETIMES} == {}


@confined
@pytest.mark.parametrize("user", [None, pytest.param(NOBODY, marks=pytest.mark.skipif(os.geteuid() != 0, reason=""))])
def test_no_program_passes_without_its_last_line(user: int | None) -> None:
    happened = dict(zip(CHEATS, run(list(CHEATS.values()), user=user), strict=True))
    assert [name for name, result in happened.items() if result["passed"]] == []
    late = {name for name, result in happened.items() if result["late"]}
    assert {"loop", "loop and ignore signals", "sleep", "sleep behind a closed output", "stop"} <= late
    assert all(len(result["output"]) <= 5000 for result in happened.values())
