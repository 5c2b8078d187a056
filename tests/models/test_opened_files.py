"""Files that disappear or change while llama.cpp computes with them."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from pytest_puma.core import Model, ModelError
from pytest_puma.models.weights import OpenedFiles, stamps_of


@pytest.fixture
def model(tmp_path: Path) -> Model:
    path = tmp_path / "q.gguf"
    path.write_bytes(b"weights")
    os.utime(path, ns=(0, 1_000_000_000))
    return Model(name="q", path=path, stamps=stamps_of(path))


def test_the_checked_files_are_opened(model: Model) -> None:
    with closing(OpenedFiles(model)) as files:
        files.check_loaded()
        files.check()
        assert files.stamps == model.stamps
        assert files.stamps[0].content == (7, 1_000_000_000, model.path.stat().st_ino)
    files.close()


def test_a_missing_file_is_an_error(model: Model) -> None:
    model.path.unlink()
    with pytest.raises(ModelError) as caught:
        OpenedFiles(model)
    assert str(caught.value) == (
        f"q: {model.path} cannot be opened: No such file or directory; expected the file that was checked before: "
        "leave it alone until the run ends, and run again"
    )


def test_a_file_that_changed_since_it_was_checked_is_an_error(model: Model) -> None:
    model.path.write_bytes(b"more weights")
    os.utime(model.path, ns=(0, 2_500_000_000))
    with pytest.raises(ModelError) as caught:
        OpenedFiles(model)
    assert str(caught.value) == (
        f"q: {model.path} changed since the model was checked: found 12 bytes of 1970-01-01 00:00:02.500+00:00, "
        "expected 7 bytes of 1970-01-01 00:00:01.000+00:00; leave it alone until the run ends, and run again"
    )


def test_a_file_of_equal_size_and_time_renamed_over_the_checked_one_is_an_error(model: Model) -> None:
    before, other = model.path.stat(), model.path.with_name("other")
    other.write_bytes(b"WEIGHTS")
    os.utime(other, ns=(0, before.st_mtime_ns))
    inode = other.stat().st_ino
    other.replace(model.path)
    with pytest.raises(ModelError) as caught:
        OpenedFiles(model)
    state = "7 bytes of 1970-01-01 00:00:01.000+00:00"
    assert f"found {state} (inode {inode}), expected {state} (inode {before.st_ino}); " in str(caught.value)


def test_another_link_and_other_rights_change_no_file(model: Model) -> None:
    os.link(model.path, model.path.with_name("link.gguf"))
    model.path.chmod(0o400)
    assert stamps_of(model.path) != model.stamps
    with closing(OpenedFiles(model)) as files:
        files.check_loaded()
        files.check()


def test_a_model_without_stamps_has_any_file(model: Model) -> None:
    model.path.write_bytes(b"more weights")
    with closing(OpenedFiles(Model(name="q", path=model.path))) as files:
        assert files.stamps == stamps_of(model.path) != model.stamps


def test_a_file_that_is_replaced_while_it_is_loaded_is_an_error(model: Model) -> None:
    with closing(OpenedFiles(model)) as files:
        other = model.path.with_name("other")
        other.write_bytes(b"weights")
        other.replace(model.path)
        with pytest.raises(ModelError, match=r"q\.gguf changed while it was loaded: found 7 bytes of "):
            files.check_loaded()


@pytest.mark.parametrize("content", [b"WEIGHTS", b"wei", b"weights and more"])
def test_a_file_that_is_written_to_is_an_error(model: Model, content: bytes) -> None:
    with closing(OpenedFiles(model)) as files:
        model.path.write_bytes(content)
        with pytest.raises(
            ModelError, match=rf"q\.gguf changed while llama.cpp used it: found {len(content)} bytes of "
        ):
            files.check()


@pytest.mark.skipif(os.name == "nt", reason="Windows refuses to delete an open file")
def test_a_loaded_file_that_is_deleted_or_replaced_stays_as_it_was(model: Model) -> None:
    with closing(OpenedFiles(model)) as files:
        files.check_loaded()
        model.path.unlink()
        files.check()
        model.path.write_bytes(b"other weights")
        files.check()
        assert files.stamps == model.stamps != stamps_of(model.path)


def test_the_changed_part_of_a_split_model_is_named(tmp_path: Path) -> None:
    for number in 1, 2:
        (tmp_path / f"q-{number:05}-of-00002.gguf").write_bytes(b"weights")
    with closing(OpenedFiles(Model(name="q", path=tmp_path / "q-00001-of-00002.gguf"))) as files:
        (tmp_path / "q-00002-of-00002.gguf").write_bytes(b"")
        with pytest.raises(ModelError, match=r"/q-00002-of-00002\.gguf changed while llama.cpp used it: found 0 bytes"):
            files.check()
