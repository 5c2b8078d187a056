"""The project in this folder: models, their chat formats, kept answers, version control, and optional libraries."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_puma.cli.doctor import model
from pytest_puma.cli.doctor.finding import Finding
from pytest_puma.core import SettingsError
from pytest_puma.models.search import default_directories, gguf_names
from pytest_puma.models.sources import SUGGESTED_SIZE, suggested_download
from pytest_puma.phrases import counted, named
from pytest_puma.planning.storage import RESPONSES
from pytest_puma.platform.bundled import bundled_folder
from pytest_puma.platform.files import obstacle
from pytest_puma.platform.installation import install_extra
from pytest_puma.platform.user_path import user_path
from pytest_puma.sandbox.pool import check_possible
from pytest_puma.sandbox.tools import installed_languages
from pytest_puma.session.settings.project import ini_file, ini_values

#: The modules of each extra of pytest-puma, and its purpose. Nothing here imports NumPy, which may be broken.
EXTRAS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "hub": (("huggingface_hub",), "models and data of Hugging Face"),
    "parquet": (("pyarrow",), "data in Parquet files"),
    "xdist": (("xdist",), "several models or GPUs at once"),
    "text": (("sacrebleu",), "BLEU, chrF and TER"),
    "json": (("jsonschema", "rfc3339_validator"), "JSON Schema"),
    "lang": (("lingua",), "the language of replies"),
    "math": (("math_verify",), "equal expressions"),
    "cluster": (("distributed",), "engines on other machines"),
    "server": (("urllib3",), "models behind a server"),
}
#: GGUF files of a folder that are named.
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """The root folder, its ini file, and the values in it."""

    root: Path
    ini: Path | None = None
    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> Project:
        """Return the project that pytest finds if it starts in a folder."""
        ini = ini_file(folder)
        return cls(root=folder if ini is None else ini.parent, ini=ini, values=ini_values(folder))

    @property
    def model_folders(self) -> list[Path]:
        """The folders in which a model is searched by its name."""
        named = self.values.get("puma_model_dirs")
        if not named:
            return list(default_directories(self.root))
        return [self.root / user_path(name) for name in (shlex.split(named) if isinstance(named, str) else named)]


def findings(folder: Path, models: Sequence[str] = ()) -> Iterator[Finding]:
    """Yield what is found about the project in a folder, and about `models`, arguments as for `--puma-model`."""
    project = Project.of(folder)
    yield _root(project)
    yield _models(project)
    yield _store(project)
    yield _git(project)
    yield _extras()
    yield _sandbox()
    for argument in models:
        yield from model.findings(argument, [*project.model_folders, bundled_folder("models")])


def _sandbox() -> Finding:
    """What `--puma-run-code` would run programs in, and in which languages."""
    try:
        check_possible("sandbox")
    except SettingsError as error:
        return Finding(part="sandbox", found="programs of replies cannot be run here", advice=str(error))
    languages = ", ".join(["Python", *installed_languages()])
    return Finding(part="sandbox", found=f"--puma-run-code can run programs of replies, in {languages}")


def _root(project: Project) -> Finding:
    details = {"root": str(project.root), "ini": None if project.ini is None else str(project.ini)}
    if project.ini is not None:
        return Finding(part="project", found=str(project.ini), details=details)
    found = f"{project.root}, without an ini file of pytest"
    advice = "pytest finds prompts/ and .puma/ from each folder below if this one has a pytest.ini: pytest-puma init"
    return Finding(part="project", found=found, advice=advice, details=details)


def _models(project: Project) -> Finding:
    names_by_folder = {str(folder): gguf_names(folder) for folder in project.model_folders}
    names = [name for names in names_by_folder.values() for name in names]
    configured = project.values.get("puma_models")
    details = {"folders": names_by_folder, "bundled": gguf_names(bundled_folder("models")), "named": configured}
    searched, advice = ", ".join(names_by_folder), ""
    if names:
        found = f"{named(names, _SHOWN)}, in {searched}"
    elif configured:
        found = f"those of puma_models; no others in {searched}"
    else:
        found = f"only the bundled demonstration model; no GGUF file in {searched}"
        # By default the folder `models` of the project.
        download = suggested_download(list(names_by_folder)[:2][-1])
        small = f"a small one ({SUGGESTED_SIZE}) to begin with"
        advice = f"put one there, or name it: --puma-model FILE.gguf; {small}:\n{download}"
    return Finding(part="models", found=found, advice=advice, details=details)


def _store(project: Project) -> Finding:
    path = project.root / user_path(project.values.get("puma_store_path") or str(RESPONSES))
    details: dict[str, Any] = {"path": str(path)}
    advice = ""
    if (project.values.get("puma_store") or "") == "off":
        found = "are not kept"
        advice = "a killed run begins again from the start; to keep answers, remove puma_store = off"
    elif path.is_file():
        from pytest_puma.responses import upkeep
        from pytest_puma.responses.database import ResponseStore
        from pytest_puma.responses.schema import saving

        with closing(ResponseStore(path, readonly=True)) as store:
            runs = upkeep.runs(store)
            notes = store.take_notes()
        details |= {"runs": runs, "bytes": path.stat().st_size}
        found = "; ".join(notes) or f"{path}: {path.stat().st_size / 2**20:.1f} MB from {counted(runs, 'run')}"
        advice = f"rename it; {saving(path)}" if notes else ""
    elif reason := obstacle(path):
        found = f"cannot be kept: {reason}"
        advice = "give pytest a folder that it may write to: puma_store_path"
    else:
        found = f"none is kept yet; they will be in {path}"
    return Finding(part="answers", found=found, advice=advice, details=details)


def _git(project: Project) -> Finding:
    if shutil.which("git") is None:
        advice = "install git: baselines belong in version control, and record the commit that they were made at"
        return Finding(part="git", found="is not installed", advice=advice)
    command = ["git", "-C", str(project.root), "rev-parse", "--short", "HEAD"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - a fixed command
    if result.returncode == 0:
        return Finding(part="git", found=f"a repository at commit {result.stdout.strip()}")
    advice = "git init, and a first commit: baselines belong in version control"
    return Finding(part="git", found="no commit in this folder", advice=advice)


def _extras() -> Finding:
    installed = {name: all(map(find_spec, modules)) for name, (modules, _) in EXTRAS.items()}
    missing = [name for name, is_there in installed.items() if not is_there]
    found = named(name for name in EXTRAS if installed[name])
    found += f"; not installed: {', '.join(missing)}" if missing else ""
    advice = "\n".join(f"for {EXTRAS[name][1]}: {install_extra(name)}" for name in missing)
    return Finding(part="extras", found=found, advice=advice, details=installed)
