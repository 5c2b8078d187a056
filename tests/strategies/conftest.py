from __future__ import annotations

from pathlib import Path

import pytest

from tests.strategies.template_project import TemplateProject


@pytest.fixture
def project(tmp_path: Path) -> TemplateProject:
    return TemplateProject(tmp_path)
