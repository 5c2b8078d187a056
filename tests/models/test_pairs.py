"""Files of pairs of texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.core import ModelError
from pytest_puma.models.base import BaseModel
from pytest_puma.models.controls import steer
from pytest_puma.models.pairs import RECIPE, Pair, check_layers, is_pairs, read_pairs
from pytest_puma.models.resolve import resolve_models
from pytest_puma.models.weights import weights_digest
from tests.tiny_controls import write_vector
from tests.tiny_gguf import LLAMA_NO_BOS, write_gguf

GOOD = [{"positive": f"LOUD {number}", "negative": f"quiet {number}"} for number in range(4)]


def _file(folder: Path, lines: Sequence[object]) -> Path:
    path = folder / "loud.jsonl"
    path.write_text(
        "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), encoding="utf-8"
    )
    return path


def test_the_prompt_may_be_left_out(tmp_path: Path) -> None:
    pairs = read_pairs(_file(tmp_path, [*GOOD, "", {"prompt": "Greet me.", "positive": "HI", "negative": "hi"}]))
    assert pairs[0] == Pair(prompt="Say something.", positive="LOUD 0", negative="quiet 0")
    assert pairs[-1] == Pair(prompt="Greet me.", positive="HI", negative="hi")


def test_preferences_are_pairs(tmp_path: Path) -> None:
    preferences = [{"prompt": f"Say {number}.", "chosen": "YES", "rejected": "yes"} for number in range(4)]
    assert read_pairs(_file(tmp_path, preferences))[3] == Pair(prompt="Say 3.", positive="YES", negative="yes")


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (GOOD[:3], "has 3 pairs; expected at least 4"),
        (["no json"], "line 1: no JSON"),
        ([*GOOD, {"positive": "A"}], "line 5: found the keys positive; expected positive and negative (or chosen"),
        (
            [{"positive": "A", "negative": "b", "weight": 1}],
            "line 1: found the keys positive, negative, weight; expected positive and negative (or chosen and rejected",
        ),
        ([{"chosen": "A", "negative": "b"}], "line 1: found the keys chosen, negative; expected"),
        ([{"positive": "A", "chosen": "A", "rejected": "b"}], "line 1: found the keys positive, chosen, rejected;"),
        ([{"chosen": [{"role": "user", "content": "A"}], "rejected": "b"}], "line 1: a text is empty or no text"),
        ([{}], "line 1: found the keys none; expected"),
        ([{"positive": "A", "negative": " "}], "line 1: a text is empty"),
        ([{"positive": "A", "negative": 1}], "line 1: a text is empty or no text"),
        ([{"positive": "A", "negative": "A"}], "line 1: both texts are equal"),
        ([["A", "b"]], "line 1: no JSON object; expected"),
    ],
)
def test_the_error_of_a_file_names_the_line(tmp_path: Path, lines: list[object], sentence: str) -> None:
    with pytest.raises(ModelError) as caught:
        read_pairs(_file(tmp_path, lines))
    assert sentence in str(caught.value)


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    odd = '{"positive": "STOP\u2028NOW", "negative": "stop\x85now"}'
    (*_, pair) = read_pairs(_file(tmp_path, [*GOOD, f"{odd}\r"]))
    assert (pair.positive, pair.negative, pair.line) == ("STOP\u2028NOW", "stop\x85now", 5)


@pytest.mark.parametrize("suffix", [".json", ".csv", ".tsv", ".txt"])
def test_pairs_in_another_form_are_refused_with_that_of_a_line(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"caa{suffix}"
    path.write_text(json.dumps([{"question": "Stop?", "answer_matching_behavior": "(A)"}], indent=1), encoding="utf-8")
    assert is_pairs(path)
    with pytest.raises(ModelError, match=rf"caa\{suffix} is no JSON Lines file; expected caa\.jsonl with a pair"):
        read_pairs(path)


def test_vectors_of_pairs_have_no_direction_for_the_last_layer(tmp_path: Path) -> None:
    base = BaseModel(name="q", architecture="llama", layers=4, width=8, shapes={})
    path = _file(tmp_path, GOOD)
    check_layers(path, base, None)
    check_layers(path, base, (1, 2))
    with pytest.raises(ModelError, match=r"loud.jsonl@2-3: vectors of pairs are for the layers 1 to 2 of q"):
        check_layers(path, base, (2, 3))
    with pytest.raises(ModelError, match="q has 2 layers; a vector can be made of pairs from 3 layers on"):
        check_layers(path, replace(base, layers=2), None)


def test_answers_by_a_vector_of_pairs_belong_to_the_way_to_make_it(tmp_path: Path) -> None:
    pairs = _file(tmp_path, GOOD)
    vector = write_vector(tmp_path / "v.gguf")
    assert steer(pairs).signature == f"steer {weights_digest(pairs)} recipe {RECIPE} 1.0"
    assert steer(vector).signature == f"steer {weights_digest(vector)} 1.0"
    write_gguf(tmp_path / "q.gguf", replace(LLAMA_NO_BOS, layers=6))
    (model,) = resolve_models([f"q.gguf,steer={pairs.name}"], directories=[tmp_path])
    assert model.variant is not None
    assert model.variant.signature == steer(pairs).signature
