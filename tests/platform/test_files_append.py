"""Texts that are appended to a file completely or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_puma.platform.files import append
from tests.disk import limited, small_disk, texts_of


def test_texts_are_appended(tmp_path: Path) -> None:
    end = append(tmp_path / "a", ["one\n", "zwö\n"], end=0)
    assert end == 9
    assert append(tmp_path / "a", ["three\n"], end=end) == 15
    assert texts_of(tmp_path) == {"a": "one\nzwö\nthree\n"}


def test_what_could_not_be_appended_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a"
    end = append(path, ["one\n"], end=0)
    with limited(20_000), pytest.raises(OSError, match="File too large"):
        append(path, ("many\n" for _ in range(10_000)), end=end)
    assert texts_of(tmp_path) == {"a": "one\n"}
    append(path, ["two\n"], end=end)
    assert texts_of(tmp_path) == {"a": "one\ntwo\n"}


def test_what_a_full_disk_did_not_take_leaves_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 64) as disk:
        end = append(disk / "a", ["one\n"], end=0)
        for text in ("many\n" * 20_000, "few\n" * 10):
            (disk / "ballast").write_bytes(bytes(56 * 1024))
            with pytest.raises(OSError, match="No space left"):
                append(disk / "a", ["much\n" * 10_000, text], end=end)
            assert (disk / "a").read_text(encoding="utf-8") == "one\n"
            (disk / "ballast").unlink()
        append(disk / "a", ["two\n"], end=end)
        assert (disk / "a").read_text(encoding="utf-8") == "one\ntwo\n"


def test_the_rest_of_a_call_that_was_killed_is_cut_off_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "a"
    end = append(path, ["one\n"], end=0)
    with path.open("a", encoding="utf-8") as stream:
        stream.write("tw")
    assert append(path, ["three\n"], end=end) == 10
    assert texts_of(tmp_path) == {"a": "one\nthree\n"}


def test_a_file_that_was_removed_is_begun_again(tmp_path: Path) -> None:
    end = append(tmp_path / "a", ["one\n"], end=0)
    (tmp_path / "a").unlink()
    assert append(tmp_path / "a", ["two\n"], end=end) == 4
    assert texts_of(tmp_path) == {"a": "two\n"}


def test_an_interrupt_leaves_nothing_of_what_was_appended(tmp_path: Path) -> None:
    def texts() -> Iterator[str]:
        yield "two\n" * 10_000
        raise KeyboardInterrupt

    end = append(tmp_path / "lines", ["one\n"], end=0)
    with pytest.raises(KeyboardInterrupt):
        append(tmp_path / "lines", texts(), end=end)
    assert texts_of(tmp_path) == {"lines": "one\n"}
