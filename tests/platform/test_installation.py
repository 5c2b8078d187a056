"""Commands that install further libraries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_puma.platform.installation import install, install_extra


@pytest.fixture
def metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The metadata of this package, as an installer writes them; they are found before the real ones."""
    folder = tmp_path / "site" / "pytest_puma-0.1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: pytest-puma\nVersion: 0.1.0\n", encoding="utf-8")
    (folder / "INSTALLER").write_text("pip\n", encoding="utf-8")
    monkeypatch.syspath_prepend(folder.parent)
    return folder


def record(metadata: Path, origin: object) -> None:
    (metadata / "direct_url.json").write_text(json.dumps(origin), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "origin", "command"),
    [
        ("clone", {"editable": True}, "pip install -e '{folder}[json]'"),
        ("clone", {"editable": False}, "pip install '{folder}[json]'"),
        ("clone", {}, "pip install '{folder}[json]'"),
        ("a clone", {}, "pip install '{folder}[json]'"),
    ],
)
def test_an_extra_comes_from_the_folder_that_the_package_was_installed_from(
    metadata: Path, tmp_path: Path, name: str, origin: object, command: str
) -> None:
    folder = tmp_path / name
    folder.mkdir()
    record(metadata, {"url": folder.as_uri(), "dir_info": origin})
    assert install_extra("json") == command.format(folder=folder)


@pytest.mark.parametrize(
    "origin",
    [
        None,
        {"url": "file:///nowhere/clone", "dir_info": {"editable": True}},
        {"url": "file:///wheels/pytest_puma-0.1.0-py3-none-any.whl", "archive_info": {}},
        {"url": "https://git.example/puma.git", "vcs_info": {"vcs": "git", "commit_id": "0" * 40}},
    ],
    ids=["an index", "a folder that is gone", "a wheel", "a repository"],
)
def test_without_such_a_folder_the_installed_package_is_named(metadata: Path, origin: object) -> None:
    if origin is not None:
        record(metadata, origin)
    assert install_extra("json") == "pip install 'pytest-puma[json]'"


def test_an_environment_of_uv_is_filled_by_uv(metadata: Path) -> None:
    (metadata / "INSTALLER").write_text("uv", encoding="utf-8")
    assert install("numpy") == "uv pip install numpy"
    assert install_extra("json") == "uv pip install 'pytest-puma[json]'"


def test_a_package_that_is_only_on_the_module_path_has_a_command_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [])
    assert install_extra("hub") == "pip install 'pytest-puma[hub]'"
