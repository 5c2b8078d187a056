"""Stamps and digests of weights, and what the user's cache knows of them."""

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_puma.core import Model, ModelError
from pytest_puma.models.weights import known_digest, recall, remember, stamps_of, weights_digest


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "q.gguf"
    path.write_bytes(b"weights")
    return path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in the user's cache, which is missing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "pytest-puma" / "digests.json"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def change_in_secret(path: Path, content: bytes) -> None:
    """Write without changing size and time."""
    before = path.stat()
    assert len(content) == before.st_size
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _wait_for_another_time(path: Path) -> None:
    """Wait until the clock of the file system has moved on: it ticks every few milliseconds."""
    before, clock = path.stat().st_ctime_ns, path.with_name("clock")
    clock.touch()
    while clock.stat().st_ctime_ns == before:
        clock.unlink()
        clock.touch()


def test_the_digest_is_the_sha256_of_the_bytes(model: Path) -> None:
    model.write_bytes(bytes(range(256)) * 10_000)
    assert weights_digest(model) == sha256(bytes(range(256)) * 10_000)


def test_the_digest_of_a_split_model_is_that_of_its_parts_in_order(tmp_path: Path) -> None:
    for number, content in enumerate((b"a", b"b", b"c"), start=1):
        (tmp_path / f"q-{number:05}-of-00003.gguf").write_bytes(content)
    first, second = tmp_path / "q-00001-of-00003.gguf", tmp_path / "q-00002-of-00003.gguf"
    assert weights_digest(first) == sha256(b"abc")
    second.write_bytes(b"BB")
    assert weights_digest(first) == sha256(b"aBBc")


def test_a_file_that_did_not_change_is_not_read_again(model: Path, cache: Path) -> None:
    weights_digest(model)
    (entry,) = json.loads(cache.read_text(encoding="utf-8")).values()
    cache.write_text(json.dumps({str(model): entry | {"sha256": "5a"}}), encoding="utf-8")
    assert weights_digest(model) == "5a"


def test_a_change_that_restores_size_and_time_is_seen(model: Path) -> None:
    weights_digest(model)
    _wait_for_another_time(model)
    change_in_secret(model, b"WEIGHTS")
    assert weights_digest(model) == sha256(b"WEIGHTS")


def test_a_file_of_equal_size_and_time_renamed_over_the_old_one_is_read(model: Path) -> None:
    os.utime(model, ns=(0, 0))
    weights_digest(model)
    other = model.with_name("other.gguf")
    other.write_bytes(b"WEIGHTS")
    os.utime(other, ns=(0, 0))
    other.replace(model)
    assert weights_digest(model) == sha256(b"WEIGHTS")
    assert known_digest(model) == sha256(b"WEIGHTS")


def test_an_entry_of_an_earlier_version_with_size_and_time_alone_is_not_used(model: Path, cache: Path) -> None:
    status = model.stat()
    cache.parent.mkdir(parents=True)
    entry = {"stamps": [[status.st_size, status.st_mtime_ns]], "sha256": "5a"}
    cache.write_text(json.dumps({str(model): entry}), encoding="utf-8")
    assert weights_digest(model) == sha256(b"weights")


def test_a_file_with_another_size_or_time_is_read_again(model: Path) -> None:
    weights_digest(model)
    model.write_bytes(b"more weights")
    assert weights_digest(model) == sha256(b"more weights")
    change_in_secret(model, b"MORE WEIGHTS")
    os.utime(model, ns=(0, 0))
    assert weights_digest(model) == sha256(b"MORE WEIGHTS")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"[]", b"null", b'{"PATH": 1}', b'{"PATH": {"sha256": "0"}}', b"[" * 100_000],
)
def test_a_damaged_cache_is_replaced(model: Path, cache: Path, content: bytes) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_bytes(content.replace(b"PATH", str(model).encode()))
    assert weights_digest(model) == sha256(b"weights")
    assert json.loads(cache.read_text(encoding="utf-8"))[str(model)]["sha256"] == sha256(b"weights")


def test_a_cache_that_cannot_be_written_only_costs_time(model: Path, cache: Path) -> None:
    cache.parent.parent.mkdir()
    cache.parent.write_text("a file where the folder should be", encoding="utf-8")
    assert weights_digest(model) == sha256(b"weights")
    assert cache.parent.is_file()


def test_nothing_is_left_beside_a_cache_that_cannot_be_replaced(model: Path, cache: Path) -> None:
    cache.mkdir(parents=True)
    assert weights_digest(model) == sha256(b"weights")
    assert list(cache.parent.iterdir()) == [cache]


def test_entries_of_deleted_files_are_removed(model: Path, cache: Path) -> None:
    other = model.with_name("other.gguf")
    other.write_bytes(b"other")
    weights_digest(other)
    other.unlink()
    weights_digest(model)
    assert list(json.loads(cache.read_text(encoding="utf-8"))) == [str(model)]


def test_many_writers_at_once_leave_a_readable_cache(tmp_path: Path, cache: Path) -> None:
    models = [tmp_path / f"{number}.gguf" for number in range(40)]
    for model in models:
        model.write_bytes(model.name.encode())
    with ThreadPoolExecutor(8) as pool:
        digests = list(pool.map(weights_digest, models))
    assert digests == [sha256(model.name.encode()) for model in models]
    entries = json.loads(cache.read_text(encoding="utf-8"))
    assert entries
    assert all(entry["sha256"] == sha256(Path(path).name.encode()) for path, entry in entries.items())
    assert list(cache.parent.iterdir()) == [cache]


def test_weights_that_cannot_be_read_are_an_error(model: Path) -> None:
    model.unlink()
    with pytest.raises(ModelError, match=r"q\.gguf: the weights cannot be read: .*No such file"):
        weights_digest(model)


def test_a_digest_is_known_once_it_was_computed_and_while_the_file_stays_the_same(model: Path) -> None:
    assert known_digest(model) == ""
    digest = weights_digest(model)
    assert known_digest(model) == digest
    model.write_bytes(b"other weights")
    assert known_digest(model) == ""


def test_a_fact_is_remembered_until_the_file_changes(model: Path) -> None:
    assert recall(model, stamps_of(model), "tried") is None
    remember(model, stamps_of(model), "tried", "0.3.36")
    assert recall(model, stamps_of(model), "tried") == "0.3.36"
    model.write_bytes(b"more weights")
    assert recall(model, stamps_of(model), "tried") is None


def test_facts_about_the_same_file_are_kept_together_and_end_together(model: Path, cache: Path) -> None:
    remember(model, stamps_of(model), "tried", "0.3.36")
    digest = weights_digest(model)
    (entry,) = json.loads(cache.read_text(encoding="utf-8")).values()
    assert (entry["tried"], entry["sha256"]) == ("0.3.36", digest)
    model.write_bytes(b"more weights")
    weights_digest(model)
    assert recall(model, stamps_of(model), "tried") is None


def test_a_fact_of_another_type_is_unknown(model: Path, cache: Path) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_text(json.dumps({str(model): {"stamps": stamps_of(model), "tried": 3}}), encoding="utf-8")
    assert recall(model, stamps_of(model), "tried") is None


@pytest.mark.parametrize(
    ("names", "size"),
    [(["q.gguf"], 10), (["q-00001-of-00003.gguf", "q-00002-of-00003.gguf", "q-00003-of-00003.gguf"], 60)],
)
def test_a_model_is_as_large_as_all_its_parts(names: list[str], size: int, tmp_path: Path) -> None:
    for number, name in enumerate(names, start=1):
        (tmp_path / name).write_bytes(bytes(10 * number))
    (tmp_path / "other.gguf").write_bytes(bytes(500))
    path = tmp_path / names[0]
    assert Model(name="q", path=path, stamps=stamps_of(path)).size == size


def test_the_stamps_of_missing_files_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"q\.gguf: the weights cannot be read: .*No such file"):
        stamps_of(tmp_path / "q.gguf")
