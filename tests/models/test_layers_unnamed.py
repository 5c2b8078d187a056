"""The layers of a vector whose argument names none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.models.pairs import layers_unnamed
from pytest_puma.models.resolve import resolve_models
from tests.tiny_controls import write_vector
from tests.tiny_gguf import LLAMA_NO_BOS, write_gguf

PAIRS = '{"positive": "LOUD WORDS %d", "negative": "soft words %d"}\n'


@pytest.mark.parametrize(
    ("argument", "sentences"),
    [
        (
            "steer=loud.jsonl:0/1/2",
            ["loud is on layer 2, a third of the depth, as no layers were named: steer=loud.jsonl@LAYERS"],
        ),
        ("steer=loud.jsonl:1@2/3", []),
        ("steer=all.gguf:1", ["all is on all layers of its file, as no layers were named: steer=all.gguf@LAYERS"]),
        ("n_ctx=128", []),
    ],
)
def test_the_layers_that_nobody_named_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: str, sentences: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_gguf(tmp_path / "q.gguf", replace(LLAMA_NO_BOS, layers=6))
    write_vector(tmp_path / "all.gguf", width=LLAMA_NO_BOS.width)
    (tmp_path / "loud.jsonl").write_text("".join(PAIRS % (number, number) for number in range(4)), encoding="utf-8")
    models = resolve_models([f"q.gguf,{argument}"], directories=[tmp_path])
    assert list(dict.fromkeys(sentence for model in models for sentence in layers_unnamed(model))) == sentences
