"""The website: which pages it has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tools import site
from tools.site import ROOT, START, linked


def _files(entry: Any) -> list[str]:
    """The pages of a part of the navigation."""
    if isinstance(entry, str):
        return [entry]
    parts = entry if isinstance(entry, list) else entry.values()
    return [file for part in parts for file in _files(part)]


def test_each_page_is_reachable_from_the_first_one_and_in_the_navigation() -> None:
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    named = _files(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    assert pages <= {*linked(START)}
    assert pages <= {*named}
    assert {*named} <= {*linked(START), "api.md", "gallery/README.md"}


def test_links_are_followed_to_files_of_any_kind_but_not_out_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("[a](docs/a.md#part) ![p](docs/p.png) [w](https://example.org/x.md)\n", "utf-8")
    (tmp_path / "docs" / "a.md").write_text("[back](../README.md) [b](b.md 'title') [gone](gone.md)\n", "utf-8")
    (tmp_path / "docs" / "p.png").touch()
    monkeypatch.setattr(site, "ROOT", tmp_path)
    assert linked("README.md") == ["README.md", "docs/a.md", "docs/p.png"]
