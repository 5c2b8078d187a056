"""Locks of folders."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pytest_puma.platform.locks import is_locked, locked

#: Reads a number, and writes the next one.
COUNTS = """
import sys
from pathlib import Path
from pytest_puma.platform.files import write_whole
from pytest_puma.platform.locks import locked

path = Path(sys.argv[1])
for _ in range(50):
    with locked(path.parent):
        write_whole(path, str(int(path.read_text()) + 1))
"""


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


def test_a_lock_is_seen_by_others_until_its_holder_ends(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    holder = "from pytest_puma.platform.locks import locked; from pathlib import Path; import sys, time\n"
    holder += "with locked(Path(sys.argv[1])): print('held', flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", holder, tmp_path], stdout=subprocess.PIPE) as process:  # noqa: S603
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        assert is_locked(tmp_path)
        process.kill()
    assert (tmp_path / ".lock").exists()
    assert not is_locked(tmp_path)


def test_the_lock_of_a_folder_that_is_removed_meanwhile_is_released(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with locked(folder):
        (folder / ".lock").unlink()
        folder.rmdir()
    assert list(tmp_path.iterdir()) == []
