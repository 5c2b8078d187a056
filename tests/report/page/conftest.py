"""A run with a cell of each kind of task, and its page."""

from __future__ import annotations

import pytest

from pytest_puma.report.page.page import as_page
from tests.report.page.page import Page
from tests.report.page.scripted import Recorded, every_kind, recorded


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    root = tmp_path_factory.mktemp("project")
    return recorded(root, every_kind(root))


@pytest.fixture(scope="session")
def page(run: Recorded) -> Page:
    page = Page(as_page(run.run, run.path))
    assert len(page.index["cells"]) == len(run.record["outcomes"]) == 8
    return page
