"""Files that others read meanwhile, folders that are one run's own, and locks."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pytest_puma.core.atomic import appending, locked, make_folder, obstacle, write_whole

#: Reads a number, and writes the next one.
COUNTS = """
import sys
from pathlib import Path
from pytest_puma.core.atomic import locked, write_whole

path = Path(sys.argv[1])
for _ in range(50):
    with locked(path.parent):
        write_whole(path, str(int(path.read_text()) + 1))
"""


def test_a_folder_is_made_for_one_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "run-7"
    made = [make_folder(path).name for _ in range(3)]
    assert made == ["run-7", "run-7-02", "run-7-03"]


def test_a_text_that_cannot_be_written_leaves_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "\ud800")
    assert [(each.name, each.read_text(encoding="utf-8")) for each in tmp_path.iterdir()] == [("a.json", "old")]


def test_a_lock_is_held_by_one_process_at_a_time_and_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "number"
    path.write_text("0", encoding="utf-8")
    processes = [subprocess.Popen([sys.executable, "-c", COUNTS, path]) for _ in range(3)]  # noqa: S603 - ours
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert path.read_text(encoding="utf-8") == "150"
    assert [each.name for each in tmp_path.iterdir()] == ["number"]


def test_a_lock_is_released_by_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(tmp_path):
        _ = 1 / 0
    got = threading.Event()

    def hold() -> None:
        with locked(tmp_path):
            got.set()

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    assert got.wait(timeout=60)


def test_the_obstacle_to_writing_a_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert obstacle(tmp_path / "new" / "a.json") == ""
    assert obstacle(file) == ""
    assert obstacle(tmp_path) == f"{tmp_path} is a folder"
    assert obstacle(file / "deeper" / "a.json") == f"{file} is not a folder"


def test_text_is_appended_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    with appending(path) as stream:
        stream.write("one\n")
    with pytest.raises(KeyboardInterrupt), appending(path) as stream:  # noqa: PT012
        stream.write("two\n" * 10_000)
        raise KeyboardInterrupt
    assert path.read_text(encoding="utf-8") == "one\n"
