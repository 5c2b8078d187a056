import shutil
import subprocess
from pathlib import Path

from tests.browser.chromium import missing

ROOT = Path(__file__).parents[2]
VIEWER = ROOT / "tools" / "viewer"
FILES = ("viewer.js", "viewer.json", "LICENSES.txt")


def test_the_committed_bundle_is_the_one_that_the_sources_make(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None or not (VIEWER / "node_modules").exists():
        missing("there is no node, or npm ci was not run in tools/viewer")
    subprocess.run([node, "build.mjs", str(tmp_path)], cwd=VIEWER, check=True)  # noqa: S603 - our own build
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (ROOT / "pytest_puma" / "report" / "page" / name).read_bytes(), name
