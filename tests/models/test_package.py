from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_puma.core import ModelError
from pytest_puma.models.resolve import resolve_models


@pytest.fixture
def site(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with installed packages."""
    site = folder.parent / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    return site


def install(site: Path, name: str, files: Mapping[str, bytes]) -> None:
    """A package whose code must not run."""
    metadata = site / f"{name}-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1\n")
    (metadata / "top_level.txt").write_text(f"{name}\n")
    listed = {"__init__.py": b"raise SystemExit('this package was imported')", **files}
    for file, content in listed.items():
        (site / name / file).parent.mkdir(parents=True, exist_ok=True)
        (site / name / file).write_bytes(content)
    (metadata / "RECORD").write_text("".join(f"{name}/{file},,\n" for file in listed))


def resolved(text: str) -> Path:
    (model,) = resolve_models([text], directories=(Path(),))
    return model.path


def refused(text: str) -> str:
    with pytest.raises(ModelError) as caught:
        resolved(text)
    return str(caught.value).removeprefix(f"--puma-model {text!r}: ")


def test_the_only_file_of_a_package_is_found_without_running_its_code(site: Path, weights: bytes) -> None:
    install(site, "puma_pack", {"data/Deep-1.gguf": weights})
    (model,) = resolve_models(["smol=package:puma_pack,n_ctx=256"], directories=())
    assert (model.name, model.path, model.options.n_ctx) == ("smol", site / "puma_pack/data/Deep-1.gguf", 256)
    assert resolved("package:puma-pack") == model.path
    assert "puma_pack" not in sys.modules


def test_one_of_several_files_is_named(site: Path, weights: bytes) -> None:
    install(site, "puma_pack", {"a.gguf": weights, "b=1.gguf": weights})
    assert resolved("package:puma_pack/b=1.gguf") == site / "puma_pack/b=1.gguf"
    there = "(it has a.gguf, b=1.gguf); name one: package:puma_pack/a.gguf"
    assert refused("package:puma_pack") == f"the package puma_pack has 2 GGUF files {there}"
    assert refused("package:puma_pack/c.gguf") == f"the package puma_pack has no c.gguf {there}"


def test_the_error_of_a_missing_package_names_the_nearest_one(site: Path, weights: bytes) -> None:
    install(site, "puma_pack", {"a.gguf": weights})
    assert refused("package:puma_pac") == (
        "puma_pac is not installed; did you mean package:puma_pack? Else install it where pytest runs: "
        "pip install puma-pac"
    )
    assert refused("package:zzqqxx") == "zzqqxx is not installed; install it where pytest runs: pip install zzqqxx"
    assert refused("package:puma.pack").startswith("found 'puma.pack', expected package:NAME or package:NAME/FILE")
    assert refused("package:").startswith("found '', expected package:NAME")


def test_a_package_without_a_model_is_an_error(site: Path) -> None:
    install(site, "puma_pack", {"a.txt": b""})
    assert refused("package:puma_pack") == "the package puma_pack has no GGUF file; give a path to a file"
