"""Files that are no store, or none that can be written: what is opened, what is left alone, and the sentence."""

from __future__ import annotations

import resource
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pytest_puma.responses.opening import open_to_read, open_to_write
from pytest_puma.responses.schema import APPLICATION, VERSION, create_tables
from tests.disk import limited


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".puma" / "responses.sqlite"


def filled(path: Path) -> sqlite3.Connection:
    connection = open_to_write(path).connection
    assert connection is not None
    connection.execute("INSERT INTO run(name, started) VALUES ('r', 'now')")
    return connection


def names(connection: sqlite3.Connection | None) -> list[str]:
    assert connection is not None
    return [name for (name,) in connection.execute("SELECT name FROM run")]


def test_a_new_store_is_written_ahead_and_gives_back_its_pages(path: Path) -> None:
    opened = open_to_write(path)
    assert (opened.writable, opened.note) == (True, "")
    assert opened.connection is not None
    settings = {"journal_mode": "wal", "auto_vacuum": 2, "synchronous": 1, "user_version": VERSION}
    for name, value in (settings | {"application_id": APPLICATION, "secure_delete": 2}).items():
        assert opened.connection.execute(f"PRAGMA {name}").fetchone() == (value,), name


def test_two_processes_may_create_it_at_once(path: Path) -> None:
    path.parent.mkdir()
    one, other = (sqlite3.connect(path, isolation_level=None) for _ in range(2))
    create_tables(one, path)
    create_tables(other, path)
    assert names(filled(path)) == ["r"]


def test_a_creation_that_fails_in_the_middle_leaves_nothing(path: Path) -> None:
    path.parent.mkdir()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.set_authorizer(lambda _, name, *__: sqlite3.SQLITE_DENY if name == "pass" else sqlite3.SQLITE_OK)
    with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
        create_tables(connection, path)
    connection.close()
    with closing(sqlite3.connect(path)) as again:
        assert again.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    assert names(filled(path)) == ["r"]


def test_what_is_written_can_be_read_at_once_and_after_the_end(path: Path) -> None:
    connection = filled(path)
    assert names(open_to_read(path).connection) == ["r"]
    connection.close()
    assert names(open_to_read(path).connection) == ["r"]


def test_a_reader_changes_nothing_and_creates_nothing(path: Path) -> None:
    assert open_to_read(path).note == f"there is no response store {path}"
    assert not path.parent.exists()
    filled(path).close()
    before, files = path.read_bytes(), [*path.parent.iterdir()]
    opened = open_to_read(path)
    assert opened.connection is not None
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        opened.connection.execute("DELETE FROM run")
    opened.connection.close()
    assert (path.read_bytes(), [*path.parent.iterdir()]) == (before, files)


def test_rows_in_the_log_of_a_killed_run_are_read(path: Path) -> None:
    connection = filled(path)
    log = path.with_name(f"{path.name}-wal")
    copy = path.parent.parent / "copy" / path.name
    copy.parent.mkdir()
    for file in (path, log):
        copy.with_name(file.name).write_bytes(file.read_bytes())
    connection.close()
    assert names(open_to_read(copy).connection) == ["r"]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def headless(path: Path) -> None:
    path.write_bytes(b"\0" * 100 + path.read_bytes()[100:])


@pytest.mark.parametrize("damage", [cut, headless, lambda path: path.write_bytes(b"x" * 9000)])
def test_a_damaged_file_is_set_aside_and_named(path: Path, damage: Callable[[Path], object]) -> None:
    filled(path).close()
    damage(path)
    opened = open_to_write(path)
    aside = path.with_name("responses.damaged-1.sqlite")
    assert opened.writable
    assert opened.note.startswith(f"{path} was damaged (")
    assert opened.note.endswith(f"and is now {aside.name}; `sqlite3 {aside} .recover` prints what can still be read")
    assert names(opened.connection) == []
    assert aside.exists()


@pytest.mark.parametrize(
    ("damage", "reason"),
    [(headless, "file is not a database"), (lambda path: path.write_bytes(b"x" * 9000), "file is not a database")],
)
def test_a_reader_tells_why_a_file_cannot_be_opened(path: Path, damage: Callable[[Path], object], reason: str) -> None:
    filled(path).close()
    damage(path)
    assert open_to_read(path).note == f"{path} cannot be opened: {reason}"


def test_the_next_damaged_file_gets_another_name(path: Path) -> None:
    for _ in range(2):
        filled(path).close()
        cut(path)
        opened = open_to_write(path)
        assert opened.connection is not None
        opened.connection.close()
    assert {file.name for file in path.parent.glob("*damaged*")} == {
        "responses.damaged-1.sqlite",
        "responses.damaged-2.sqlite",
    }


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    assert open_to_read(path).note == f"{path} is empty"
    assert names(filled(path)) == ["r"]


def test_files_of_other_versions_and_of_other_programs_are_not_touched(path: Path) -> None:
    filled(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version={VERSION + 1}")
    connection.close()
    foreign = path.with_name("foreign.sqlite")
    other = sqlite3.connect(foreign)
    other.execute("CREATE TABLE t(a)")
    other.close()
    for file, sentence in (
        (path, f"{path} is from another version of pytest-puma, and is not touched"),
        (foreign, f"{foreign} is no response store, and is not touched; expected another puma_store_path"),
    ):
        before = file.read_bytes()
        for opened in (open_to_write(file), open_to_read(file)):
            assert (opened.connection, opened.writable, opened.note) == (None, False, sentence)
        assert file.read_bytes() == before


def test_a_folder_in_its_place_is_named(path: Path) -> None:
    path.mkdir(parents=True)
    opened = open_to_write(path)
    assert opened.connection is None
    assert opened.note == f"{path} cannot be opened: Is a directory"


@pytest.mark.parametrize("content", [b"some notes\n" * 99, b"{}", b"SQLite format 3\0" + b"\xff" * 9000])
def test_the_file_of_a_mistyped_path_is_never_renamed(tmp_path: Path, content: bytes) -> None:
    mistyped = tmp_path / "notes.txt"
    mistyped.write_bytes(content)
    opened = open_to_write(mistyped)
    assert opened.connection is None
    assert opened.note == f"{mistyped} is no response store, and is not touched; expected another puma_store_path"
    assert ([*tmp_path.iterdir()], mistyped.read_bytes()) == ([mistyped], content)


def test_a_damaged_store_elsewhere_is_known_by_its_header(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    filled(path).close()
    cut(path)
    opened = open_to_write(path)
    assert opened.writable
    assert path.with_name("answers.damaged-1.sqlite").exists()


def test_a_store_that_cannot_be_created_tells_the_reason_of_the_system(path: Path) -> None:
    with limited(0):
        assert open_to_write(path).note == f"{path} cannot be written: File too large"
    (path.parent / ".gitignore").write_text("*\n", encoding="utf-8")
    with limited(0):
        assert open_to_write(path).note == f"{path} cannot be written: disk I/O error"
    path.unlink()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        opened = open_to_write(path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (opened.connection, opened.note) == (None, f"{path} cannot be written: Too many open files")
    path.parent.rename(path.parent.with_name("away"))
    path.parent.symlink_to("/proc/self/task")
    assert open_to_write(path).note == f"{path} cannot be written: No such file or directory"


def test_a_new_store_its_log_and_its_folder_are_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / ".puma" / "responses.sqlite"
    opened = open_to_write(path)
    assert opened.connection is not None
    modes = {each.relative_to(tmp_path).as_posix(): each.stat().st_mode & 0o777 for each in tmp_path.rglob("*")}
    opened.connection.close()
    assert modes.pop(".puma") == 0o700
    assert set(modes.values()) == {0o600}
    assert {".puma/.gitignore", ".puma/responses.sqlite", ".puma/responses.sqlite-wal"} <= modes.keys()


def without_top(path: Path) -> None:
    """Make it a store as of the releases before scores returned their top tokens."""
    filled(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE response DROP COLUMN top")


def test_an_older_store_gets_the_column_of_top_tokens_when_it_is_written(path: Path) -> None:
    without_top(path)
    for opened in (open_to_write(path), open_to_write(path)):
        assert opened.connection is not None
        assert opened.connection.execute("SELECT top FROM response").fetchall() == []


def test_an_older_store_that_is_only_read_has_no_top_tokens(path: Path) -> None:
    without_top(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "INSERT INTO response VALUES (1, 1, 'q', 'b', 1, NULL, 'stop', 'text', 0, '', '', '', 'check')"
        )
        connection.commit()
    before = path.read_bytes()
    reader = open_to_read(path).connection
    assert reader is not None
    assert reader.execute("SELECT text, top FROM response WHERE response.scope = 1").fetchall() == [("text", b"")]
    assert path.read_bytes() == before
