"""A damaged file of throughput costs a forecast, and no run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Model, Speed, Stamp
from pytest_puma.runs.throughput import read_throughput, write_throughput
from tests.factories import outcome

ENTRY = {"prefill": 9.5, "decode": 3.0, "day": "2026-01-01", "replies": {"triage-egi": 2.5}}


@pytest.fixture
def model(tmp_path: Path) -> Model:
    (tmp_path / ".puma").mkdir()
    return Model(name="m", path=tmp_path / "m.gguf", stamps=(Stamp(size=4, modified=0, inode=1, changed=0),))


def write(root: Path, content: str) -> None:
    (root / ".puma" / "throughput.json").write_text(content, encoding="utf-8")


def test_an_entry_is_read(tmp_path: Path, model: Model) -> None:
    write(tmp_path, json.dumps({"m.gguf:4": ENTRY}))
    throughput = read_throughput(tmp_path, model)
    assert throughput is not None
    assert (throughput.prefill, throughput.decode, throughput.replies) == (9.5, 3.0, {"triage-egi": 2.5})


@pytest.mark.parametrize(
    "content", ["", "[]", "[" * 9999, "{}", '{"m.gguf:4": NaN}', "\ud800".encode("utf-8", "replace").decode()]
)
def test_a_file_without_entries_is_as_none(tmp_path: Path, model: Model, content: str) -> None:
    write(tmp_path, content)
    assert read_throughput(tmp_path, model) is None


@pytest.mark.parametrize(
    "change",
    [{"prefill": "9"}, {"day": None}, {"replies": []}, {"replies": {"x": "y"}}],
)
def test_a_damaged_entry_is_as_none_and_is_written_again(tmp_path: Path, model: Model, change: dict[str, Any]) -> None:
    write(tmp_path, json.dumps({"m.gguf:4": ENTRY | change}))
    assert read_throughput(tmp_path, model) is None
    speed = Speed(prefill_tokens=10, prefill_seconds=2.0)
    ran = outcome("triage-egi@m", speed=speed, signature={"engine": {"weights_sha256": "5a"}})
    write_throughput(tmp_path, [model], [ran], day="2026-02-02")
    again = read_throughput(tmp_path, model)
    assert again is not None
    assert (again.prefill, again.decode, again.day) == (5.0, 0.0, "2026-02-02")
