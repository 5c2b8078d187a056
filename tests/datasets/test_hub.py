"""Data sets of the hub, from a local server in its place."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from pytest_puma.core import DataError
from pytest_puma.datasets.hub import dataset_file
from pytest_puma.platform.installation import install_extra
from tests.datasets.hub_server import Hub, local_hub

NAME = "datasets/owner/quiz"


@pytest.fixture(scope="module")
def server() -> Iterator[Hub]:
    with local_hub() as hub:
        yield hub


@pytest.fixture
def hub(server: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    server.clear()
    server.repositories[NAME] = {
        "README.md": b"",
        "data/test-00000-of-00001.jsonl": b'{"a": 1}',
        "data/train-00000-of-00001.jsonl": b'{"a": 2}',
        "hard/test.jsonl": b'{"a": 3}',
    }
    return server


def refused(reference: str, split: str = "test") -> str:
    with pytest.raises(DataError) as caught:
        dataset_file(reference, split)
    return str(caught.value)


def test_a_split_is_the_only_file_with_its_name(hub: Hub) -> None:
    assert dataset_file("hf:owner/quiz@3f2c1d9", "train").read_bytes() == b'{"a": 2}'
    assert hub.downloads == ["data/train-00000-of-00001.jsonl"]


def test_a_pattern_selects_one_of_several_files(hub: Hub) -> None:
    assert "found 2 files of the split 'test'; expected one: add a pattern" in refused("hf:owner/quiz@v1")
    assert dataset_file("hf:owner/quiz@v1:hard/*", "test").read_bytes() == b'{"a": 3}'
    assert dataset_file("hf:owner/quiz@v1:data/*", "test").read_bytes() == b'{"a": 1}'
    assert len(hub.downloads) == 2


def test_a_split_that_does_not_exist_lists_the_files(hub: Hub) -> None:
    message = refused("hf:owner/quiz@v1", "validation")
    assert "found no file of the split 'validation'" in message
    assert message.endswith(", ".join(name for name in hub.repositories[NAME] if name != "README.md"))


@pytest.mark.parametrize("reference", ["hf:owner/quiz", "hf:quiz@v1", "hf:owner/quiz@"])
def test_a_reference_needs_owner_set_and_revision(reference: str) -> None:
    assert refused(reference).endswith("expected hf:owner/set@revision, with a commit or tag as the revision")


def test_a_downloaded_file_is_used_if_the_hub_cannot_be_reached(hub: Hub) -> None:
    path = dataset_file("hf:owner/quiz@v1:data/*", "test")
    hub.status = 501
    assert dataset_file("hf:owner/quiz@v1:data/*", "test") == path
    assert "found no file of the split 'train'" in refused("hf:owner/quiz@v1:data/*", "train")
    assert "and the cache does not have it" in refused("hf:owner/other@v1")


def test_without_the_package_the_error_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert refused("hf:owner/quiz@v1").endswith(
        f"install it with: {install_extra('hub')}; or give a local file with --puma-data"
    )
