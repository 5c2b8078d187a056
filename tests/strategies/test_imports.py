from __future__ import annotations

import subprocess
import sys


def test_neither_templates_nor_strategies_load_a_heavy_library_on_import() -> None:
    code = "import sys, pytest_puma.strategies; sys.exit(bool({'jinja2', 'numpy', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=False)  # noqa: S603 - our own words
    assert done.returncode == 0
