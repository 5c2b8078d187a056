"""Files that are read as a whole: a pipe is refused where it is read, and a link where the folder may be foreign."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_puma.baseline.folder import Baselines
from pytest_puma.core import DataError
from pytest_puma.platform.files import regular
from pytest_puma.scenarios.file import content_of


def test_a_file_a_folder_and_nothing_are_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    for name in ("file", "link", ".", "missing"):
        assert regular(tmp_path / name) == tmp_path / name


@pytest.mark.parametrize("links", [True, False])
def test_a_pipe_and_a_device_are_refused(tmp_path: Path, *, links: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(OSError, match=f"a pipe or a device in place of a file: '{path}'"):
            regular(path, links=links)


def test_a_link_is_refused_where_it_must_not_lead_away(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("anything")
    with pytest.raises(OSError, match="a link in place of a file; remove it"):
        regular(tmp_path / "link", links=False)


@pytest.mark.parametrize("read", [content_of, lambda path: Baselines(path.parent).entries()])
def test_data_and_baselines_are_no_pipes(tmp_path: Path, read: Callable[[Path], object]) -> None:
    path = tmp_path / "triage_jira.json"
    os.mkfifo(path)
    with pytest.raises(DataError, match=r"triage_jira\.json.*a pipe or a device in place of a file"):
        read(path)
