"""Files that are written whole while others read them, on full disks too, and folders for one run alone."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_puma.platform.files import PRIVATE, append, make_folder, obstacle, write_together, write_whole
from tests.disk import limited, mounted, obedient, small_disk, texts_of


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_a_folder_is_made_for_one_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "run-7"
    made = [make_folder(path).name for _ in range(3)]
    assert made == ["run-7", "run-7-02", "run-7-03"]


def test_a_file_is_written_into_a_folder_to_be_made(tmp_path: Path) -> None:
    write_whole(tmp_path / "new" / "deep" / "a.json", "text\n")
    assert texts_of(tmp_path / "new" / "deep") == {"a.json": "text\n"}


def test_a_text_that_cannot_be_encoded_leaves_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.json", "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "a.json", "\ud800")
    assert texts_of(tmp_path) == {"a.json": "old"}


@pytest.mark.parametrize("old", ["old", None])
def test_a_text_that_is_too_large_leaves_the_old_one_and_nothing_else(tmp_path: Path, old: str | None) -> None:
    before = {} if old is None else {"a.json": old}
    for name, text in before.items():
        write_whole(tmp_path / name, text)
    with limited(100_000), pytest.raises(OSError, match="File too large"):
        write_whole(tmp_path / "a.json", "new" * 50_000)
    assert texts_of(tmp_path) == before


@pytest.mark.parametrize("old", ["old", None])
def test_a_full_disk_keeps_the_old_text_and_nothing_else(tmp_path: Path, old: str | None) -> None:
    before = {} if old is None else {"a.json": old}
    with small_disk(tmp_path / "disk", 64) as disk:
        for name, text in before.items():
            write_whole(disk / name, text)
        with pytest.raises(OSError, match="No space left"):
            write_whole(disk / "a.json", "new" * 50_000)
        assert texts_of(disk) == before
        write_whole(disk / "a.json", "small")
        assert texts_of(disk) == {"a.json": "small"}


def test_files_that_belong_together_change_together_or_not_at_all(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    write_together({one: "1", other: "2"})
    with limited(100_000), pytest.raises(OSError, match="File too large"):
        write_together({one: "3", other: "4" * 200_000})
    assert texts_of(tmp_path) == {"one": "1", "other": "2"}


def test_a_device_gets_the_text_and_its_error_is_ours(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        write_whole(link, "text")
    write_whole(Path("/dev/null"), "text")
    assert Path("/dev/null").is_char_device()
    assert link.is_symlink()


def test_the_output_of_a_process_is_a_file_too() -> None:
    command = [sys.executable, "-c", WRITES, "/dev/stdout"]
    assert subprocess.run(command, capture_output=True, check=True, text=True).stdout.split() == ["new"]  # noqa: S603


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path / "a.json", "text")
    assert list(tmp_path.iterdir()) == [tmp_path / "a.json"]


@pytest.mark.parametrize("mode", [0o640, 0o664, 0o755, 0o444])
def test_the_mode_of_an_old_file_stays(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a.json"
    path.touch()
    path.chmod(mode)
    if os.access(path, os.W_OK):
        write_whole(path, "new", mode=PRIVATE)
        assert mode_of(path) == mode


def test_a_new_file_is_for_its_owner_alone_if_asked(tmp_path: Path) -> None:
    write_whole(tmp_path / "private", "", mode=PRIVATE)
    append(tmp_path / "appended", ["text"], end=0, mode=PRIVATE)
    write_whole(tmp_path / "shared", "")
    umask = os.umask(0o22)
    os.umask(umask)
    modes = [mode_of(tmp_path / name) for name in ("private", "appended", "shared")]
    assert modes == [0o600, 0o600, 0o666 & ~umask]


def test_the_owner_of_an_old_file_stays(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("only the superuser writes files of others")
    path = tmp_path / "a.json"
    path.touch()
    os.chown(path, 65534, 65534)
    write_whole(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid, path.read_text(encoding="utf-8")) == (65534, 65534, "new")


def test_the_file_behind_a_link_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    links = [tmp_path / "links" / "one", tmp_path / "links" / "other"]
    links[0].symlink_to(tmp_path / "files" / "a.json")
    links[1].symlink_to(links[0])
    for text in ("new", "newer"):
        write_whole(links[1], text)
        assert texts_of(tmp_path / "files") == {"a.json": text}
    assert all(link.is_symlink() for link in links)


def test_a_link_to_itself_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        write_whole(tmp_path / "a", "text")
    assert {each.name for each in tmp_path.iterdir()} == {"a", "b"}


def test_a_long_name_has_room_for_that_of_the_temporary_file(tmp_path: Path) -> None:
    write_whole(tmp_path / ("ä" * 127), "text")
    assert texts_of(tmp_path) == {"ä" * 127: "text"}


def test_a_file_that_a_container_was_given_alone_is_written(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    for path in (source, target):
        path.write_text("old", encoding="utf-8")
    with mounted(source, target):
        write_whole(target, "new")
    assert texts_of(tmp_path) == {"source": "new", "target": "old"}


#: Writes a text, and prints the error.
WRITES = """
import sys
from pathlib import Path
from pytest_puma.platform.files import obstacle, write_whole

print(obstacle(Path(sys.argv[1])))
try:
    write_whole(Path(sys.argv[1]), "new")
except OSError as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize(
    ("folder", "file", "why"),
    [
        (0o500, 0o600, "the folder {folder} is not writable"),
        (0o500, None, "the folder {folder} is not writable"),
        (0o700, 0o400, "{folder}/a.json is not writable"),
    ],
)
def test_what_is_protected_is_not_written_and_said_before(
    tmp_path: Path, folder: int, file: int | None, why: str
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    if file is not None:
        (place / "a.json").write_text("old", encoding="utf-8")
        (place / "a.json").chmod(file)
    place.chmod(folder)
    command = obedient(sys.executable, "-c", WRITES, str(place / "a.json"))
    result = subprocess.run(command, capture_output=True, check=True, text=True)  # noqa: S603 - ours
    assert result.stdout.splitlines() == [why.format(folder=place), "PermissionError"]
    place.chmod(0o700)
    assert texts_of(place) == ({} if file is None else {"a.json": "old"})


def test_the_obstacle_to_writing_a_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert obstacle(tmp_path / "new" / "a.json") == ""
    assert obstacle(file) == ""
    assert obstacle(tmp_path) == f"{tmp_path} is a folder"
    assert obstacle(file / "deeper" / "a.json") == f"{file} is not a folder"
