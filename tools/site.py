"""The documentation as a website: the pages of the repository, an API page, and a gallery of reports.

    python -m tools.site    # writes build/site; needs pip install -e '.[docs]'

The pages keep their places, and every file that they link to comes with them, so that a link works in the repository
and on the site alike. What does not exist, or is no anchor of its page, ends the build.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest_puma

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "build" / "site-source"
START = "README.md"
#: A link or picture of Markdown, without the anchor.
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
_GALLERY = """\
# Gallery

Pages of real runs of the demonstration model, as `--puma-report html:report.html` writes them.

| page | what it shows |
|---|---|
| [The built-in benchmarks](built-in.html) | three benchmarks that pass: measures, intervals, each prompt and reply |
| [A missed gate](missed.html) | a gate that asks for more than the model can do |
| [Perturbed texts](perturbed.html) | typos and capitals: what they change, and which answers they flip |
"""
#: The arguments of the run of each page.
_RUNS = {
    "built-in": [],
    "missed": ["--puma-scenario=triage_jira", "--puma-gate=f1_macro >= 0.8"],
    "perturbed": ["--puma-scenario=triage_jira", "--puma-strategy=zero_shot", "--puma-perturb=typos_5pct,case_upper"],
}


def main() -> None:
    """Gather the pages and build the site."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    for file in linked(START):
        target = SOURCE / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, target)
    (SOURCE / "api.md").write_text(api_page(), encoding="utf-8")
    _gallery(SOURCE / "gallery")
    subprocess.run([sys.executable, "-m", "zensical", "build", "--strict"], cwd=ROOT, check=True)


def linked(start: str) -> list[str]:
    """Return the files that one can reach from a page of the repository, itself included, relative to the root."""
    found, waiting = dict.fromkeys([start]), [start]
    while waiting:
        for file in _links(waiting.pop()):
            if file not in found:
                found[file] = None
                waiting.append(file)
    return list(found)


def _links(page: str) -> Iterator[str]:
    """The files to which a Markdown page links; none of another file."""
    if not page.endswith(".md"):
        return
    for link in _LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        path = (ROOT / page).parent.joinpath(link).resolve()
        if "://" not in link and path.is_file():
            yield path.relative_to(ROOT).as_posix()


def api_page() -> str:
    """Return a page with the docstring of each public name."""
    parts = (f"::: pytest_puma.{name}\n" for name in pytest_puma.__all__)
    return "\n".join(["# The public names of `pytest_puma`\n", *parts])


def _gallery(folder: Path) -> None:
    """Run the benchmarks of the gallery. Their gates may fail, which is what some pages show."""
    folder.mkdir(parents=True)
    (folder / "README.md").write_text(_GALLERY, encoding="utf-8")
    with tempfile.TemporaryDirectory() as store:
        for name, arguments in _RUNS.items():
            report = f"--puma-report=html:{folder / name}.html"
            ini = f"puma_store_path={Path(store, 'responses.sqlite')}"
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "benchmarks", "-o", ini, report]
            status = subprocess.run([*command, *arguments], cwd=ROOT, check=False).returncode  # noqa: S603 - our own
            if status not in {0, 1}:
                sys.exit(f"gallery, {name}: pytest ended with {status}; expected 0, or 1 for missed gates")


if __name__ == "__main__":
    main()
