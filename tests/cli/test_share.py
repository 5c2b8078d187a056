"""`pytest-puma share`: a run as one file, and the check of it."""

from __future__ import annotations

import json
import zipfile
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import pytest

from pytest_puma.platform.project_folder import runs_of
from pytest_puma.runs.run_folder import RunFolder
from tests.cli.console import error, lines
from tests.factories import run
from tests.runs.runs import keep, triaged

RUN = "20261101T100000-1"


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    keep(tmp_path, RUN, [triaged(samples=40), triaged(strategy="option_scoring", samples=30)])


def _shared(capsys: pytest.CaptureFixture[str], *options: str) -> Path:
    lines(capsys, "share", "last", "-o", "run.zip", *options)
    return Path("run.zip")


def _contents(file: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_numbers_of_a_shared_run_are_computed_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = lines(capsys, "share", "last", "-o", "run.zip")
    # The other person has the file alone.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    Path("run.zip").rename(elsewhere / "run.zip")
    monkeypatch.chdir(elsewhere)
    first, digest, of_run, numbers, *_ = lines(capsys, "share", "--verify", "run.zip")
    assert first == "run.zip: not a byte was changed since it was written"
    assert digest.partition(":")[0] == shown[2].partition(":")[0]
    assert of_run == f"run {RUN}, main@3f2c1d9: 2 cells"
    count, _, rest = numbers.partition(" ")
    assert int(count) > 20
    assert rest == "numbers computed again from the answers, without a model: all are equal"


def test_one_changed_byte_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    file = _shared(capsys)
    data = bytearray(file.read_bytes())
    # Names, times and sizes of the archive, its contents, and the digest itself.
    for position in (5, 12, 40, len(data) // 2, len(data) - 100, len(data) - 70, len(data) - 1):
        changed = data.copy()
        changed[position] ^= 1
        file.write_bytes(changed)
        assert "run.zip: " in error(capsys, "share", "--verify", "run.zip")


def test_a_file_without_its_end_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    file = _shared(capsys)
    file.write_bytes(file.read_bytes()[:-1])
    assert "run.zip: does not end in a digest; expected a file that pytest-puma share wrote" in error(
        capsys, "share", "--verify", "run.zip"
    )


def test_a_number_that_the_answers_do_not_have_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    record = runs_of(Path.cwd()) / RUN / "run.json"
    data = json.loads(record.read_text(encoding="utf-8"))
    data["outcomes"][0]["measures"]["accuracy"]["value"] = 0.987
    record.write_text(json.dumps(data), encoding="utf-8")
    _shared(capsys)
    assert "zero_shot@script: accuracy is 0.987, and the answers give 0." in error(
        capsys, "share", "--verify", "run.zip"
    )


def test_a_run_can_be_shared_without_its_texts(capsys: pytest.CaptureFixture[str]) -> None:
    contents = _contents(_shared(capsys, "--texts=none"))
    assert contents.keys() == {"report.html", "run.json"}
    assert "it has no answers (--texts none), so its numbers cannot be computed again" in lines(
        capsys, "share", "--verify", "run.zip"
    )


def test_texts_that_a_project_does_not_keep_are_not_shared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    outcome = triaged(samples=20)
    folder = RunFolder(tmp_path, "20261102T100000-1", keep_prompts=False)
    folder.add(outcome)
    folder.finish(run(outcome, id="20261102T100000-1", started="2026-11-25T12:00:00+00:00"))
    folder.close()
    assert "the run keeps no prompts (puma_keep_prompts)" in error(capsys, "share", "last", "-o", "run.zip")
    assert not Path("run.zip").exists()


def test_another_archive_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("../run.json", "{}")
        archive.comment = bytes(64)
    data = stream.getvalue()[:-64]
    Path("run.zip").write_bytes(data + sha256(data).hexdigest().encode())
    assert "run.json: cannot be read" in error(capsys, "share", "--verify", "run.zip")


@pytest.mark.parametrize("arguments", [["last"], ["-o", "run.zip"], ["last", "--verify", "run.zip"]])
def test_a_command_that_makes_no_sense_is_an_error(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert "expected no RUN" in (shown := error(capsys, "share", *arguments)) or "share needs a run and a file" in shown
