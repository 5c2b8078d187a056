"""Programs in other languages than Python: real compilers, in the same sandbox."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil
import pytest

from pytest_puma.core import NotRunError, Program, SettingsError
from pytest_puma.core.programming_language import LANGUAGES
from pytest_puma.sandbox import server, tools
from pytest_puma.sandbox.confinement import landlock_version
from pytest_puma.sandbox.pool import ProgramPool
from tests.sandbox import foreign
from tests.sandbox.test_hostile import NOBODY, PACKAGE, _python_of

pytestmark = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")


@pytest.fixture(scope="module")
def pool() -> Iterator[ProgramPool]:
    pool = ProgramPool("sandbox", 2)
    yield pool
    pool.close()


@pytest.fixture
def language(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    try:
        tools.instructions(Program(text="", language=name))
    except NotRunError as error:
        pytest.skip(str(error))
    return name


each_language = pytest.mark.parametrize("language", LANGUAGES, indirect=True)


def program(language: str, body: str, *, seconds: int = 5, megabytes: int = 512) -> Program:
    text = f"{foreign.BEGINNINGS[language]}{body}\n{foreign.TESTS[language]}"
    return Program(text=text, language=language, seconds=seconds, megabytes=megabytes)


@each_language
def test_the_right_program_alone_passes(pool: ProgramPool, language: str) -> None:
    bodies = [foreign.RIGHT, foreign.WRONG, foreign.BROKEN, foreign.EARLY]
    right, wrong, broken, early = pool.run([program(language, body[language]) for body in bodies])
    assert right.passed, right.output
    assert not right.timed_out
    assert [ran.passed for ran in (wrong, broken, early)] == [False] * 3
    assert wrong.output
    assert early.output.endswith("before its last line]") or language == "sh"
    assert broken.output.endswith("[it does not compile]") == bool(LANGUAGES[language].compile)


@each_language
def test_an_endless_program_ends_at_its_limit(pool: ProgramPool, language: str) -> None:
    (ran,) = pool.run([program(language, foreign.ENDLESS[language], seconds=1)])
    assert (ran.passed, ran.timed_out) == (False, True)
    assert ran.output.endswith("[ended at its limit of 1 s of computing, 4 s in all]")


@each_language
def test_no_program_starts_many_processes_or_threads(pool: ProgramPool, language: str) -> None:
    # Never more than these: a test that fails must not fill the machine.
    (ran,) = pool.run([program(language, foreign.CROWDS[language])])
    assert not ran.passed


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[dict[str, Any]]:
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (tmp_path / "secret.h").write_text('"secret"', encoding="utf-8")
    (tmp_path / "doomed.txt").write_text("", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield {"folder": tmp_path, "port": listening.getsockname()[1], "process": os.getpid()}


def escapes(language: str, ground: Mapping[str, Any]) -> dict[str, Program]:
    deeds = foreign.ESCAPES[language].items()
    return {deed: program(language, _filled(text, ground)) for deed, text in deeds}


def _filled(text: str, ground: Mapping[str, Any]) -> str:
    for name, value in ground.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


@each_language
def test_no_program_gets_out(pool: ProgramPool, language: str, ground: Mapping[str, Any]) -> None:
    programs = escapes(language, ground)
    ran = dict(zip(programs, pool.run(list(programs.values())), strict=True))
    assert [deed for deed, result in ran.items() if result.passed] == []
    assert {path.name for path in ground["folder"].iterdir()} == {"secret.txt", "secret.h", "doomed.txt"}


@each_language
def test_without_a_sandbox_these_programs_get_out(language: str, ground: Mapping[str, Any]) -> None:
    pool, programs = ProgramPool("unconfined", 2), escapes(language, ground)
    ran = dict(zip(programs, pool.run(list(programs.values())), strict=True))
    pool.close()
    kept_in = {deed: result.output[-300:] for deed, result in ran.items() if not result.passed}
    assert {deed: output for deed, output in kept_in.items() if deed not in foreign.SOMETIMES} == {}


def test_all_processes_together_have_the_memory_of_one_program(pool: ProgramPool) -> None:
    fill = "perl -e '$x = \"a\" x (60 << 20); sleep 9'"
    body = f"    for i in 1 2 3 4 5 6; do {fill} & done; wait\n"
    (ran,) = pool.run([program("sh", body, megabytes=256, seconds=20)])
    assert not ran.passed
    assert ran.output.endswith("[ended at its limit of 256 MB of memory][ended by SIGKILL]")


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as another user than root already")
def test_another_user_than_root_has_the_same_limits() -> None:
    questions = [program("sh", bodies["sh"]) for bodies in (foreign.RIGHT, foreign.WRONG, foreign.CROWDS)]
    command = [_python_of(NOBODY), "-I", server.__file__, "sandbox", str(landlock_version()), "", PACKAGE]
    lines = "".join(f"{json.dumps({**asdict(it), **tools.instructions(it)})}\n" for it in questions)
    ended = subprocess.run(command, input=lines, capture_output=True, text=True, check=True, user=NOBODY)  # noqa: S603
    assert [json.loads(line)["passed"] for line in ended.stdout.splitlines()[1:]] == [True, False, False]


@pytest.mark.parametrize("language", ["java"], indirect=True)
def test_java_has_the_jars_of_the_class_path(
    pool: ProgramPool, language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (tmp_path, *tmp_path.parents):
        if folder.name.startswith(("test_", "popen-", "pytest-")):  # not that of the system, which all users share
            folder.chmod(0o755)
    (tmp_path / "Pair.java").write_text("package org.own; public class Pair {}", encoding="utf-8")
    subprocess.run(["javac", "-d", ".", "Pair.java"], cwd=tmp_path, check=True)  # noqa: S607
    with zipfile.ZipFile(tmp_path / "own.jar", "w") as jar:
        jar.write(tmp_path / "org/own/Pair.class", "org/own/Pair.class")
    text = f"import org.own.*;\n{LANGUAGES['java'].empty.replace('{', '{ static Pair pair = new Pair();', 1)}"
    (without,) = pool.run([Program(text=text, language=language)])
    monkeypatch.setenv("CLASSPATH", str(tmp_path / "own.jar"))
    (within,) = pool.run([Program(text=text, language=language)])
    assert (without.passed, within.passed) == (False, True), within.output


def test_what_a_program_leaves_behind_ends_with_it(pool: ProgramPool) -> None:
    body = "    (exec > /dev/null 2>&1; sleep 77.5) &\n    echo $(($1 * 2))\n"
    (ran,) = pool.run([program("sh", body)])
    assert ran.passed, ran.output
    # A killed process may take a moment to end.
    left = [process for process in psutil.process_iter(["cmdline"]) if process.info["cmdline"] == ["sleep", "77.5"]]
    _, alive = psutil.wait_procs(left, timeout=30)
    assert not alive


@each_language
def test_texts_of_space_and_of_no_characters_take_no_time(pool: ProgramPool, language: str) -> None:
    ran = pool.run([Program(text=text, language=language) for text in (" " * 200_000 + "x", "\ud800\0x", "")])
    assert all(result.seconds < 20 for result in ran)


def test_a_main_function_may_end_with_return_0(pool: ProgramPool) -> None:
    text = foreign.TESTS["cpp"].replace("(8));\n}", "(8));\n    return 0;\n}")
    programs = [f"{foreign.BEGINNINGS['cpp']}{body['cpp']}\n{text}" for body in (foreign.RIGHT, foreign.WRONG)]
    ran = pool.run([Program(text=it, language="cpp") for it in programs])
    assert [result.passed for result in ran] == [True, False]


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pool: ProgramPool) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    tools._found.cache_clear()  # noqa: SLF001
    with pytest.raises(NotRunError, match=r"programs in C\+\+ need g\+\+, which is not on the PATH"):
        pool.run([Program(text="", language="cpp")])
    tools._found.cache_clear()  # noqa: SLF001


def test_a_language_without_commands_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"a program is in 'cobol'; expected one of python, cpp, java, js"):
        Program(text="", language="cobol")


def test_the_versions_are_those_of_the_compilers(pool: ProgramPool) -> None:
    assert "bash" in pool.versions({"sh"})["sh"]


@pytest.mark.parametrize(
    ("place", "opened"),
    [
        (".nvm/versions/v20/bin/node", [".nvm/versions/v20"]),
        ("bin/node", ["bin/node"]),
        (".local/bin/node", [".local/bin/node"]),
    ],
)
def test_a_tool_in_a_home_folder_does_not_open_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, opened: list[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / place).write_text("", encoding="utf-8")
    assert tools._folders(str(tmp_path / place)) == [str(tmp_path / name) for name in opened]  # noqa: SLF001
