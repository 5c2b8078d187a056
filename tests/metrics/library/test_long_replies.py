"""Replies of models that repeat themselves: every metric of a text reads 100,000 characters within seconds."""

from __future__ import annotations

import time
from typing import Any

import pytest

from pytest_puma.core import Metric, Sample
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.metrics.library.ifeval import KINDS
from tests.factories import prediction, sample

LENGTH = 100_000
REPLIES = {"letters": "a", "blanks": " ", "line breaks": "\n", "digits": "7", "brackets": "["}
#: What a loop of lines, of marks or of quotes looks like.
LOOPS = {
    "queries": "SELECT\n\n",
    "lines": "a\n",
    "braces": "{",
    "angles": "<",
    "formulas": "\\[",
    "quotes": 'a","b\n',
    "words": "the cat ",
}
#: Far above what a slow machine needs; a search that is quadratic takes minutes.
SECONDS = 40.0
REFERENCES = {"json.equal": "[5]", "list.places": "[5]", "needle": "1234"}
REFERENCES |= dict.fromkeys(("number_match", "percentage_similarity", "math_match"), "5")
REFERENCES |= dict.fromkeys(("sql.runs", "sql.only", "sql.rows", "sql.equal"), "SELECT 1")
REFERENCE = "The cat sat on the mat.\nIt had 12 mice and 3 dogs\nbecause it was hungry."
ARGUMENTS: dict[str, Any] = {
    "keywords": ["cat"],
    "keyword": "cat",
    "forbidden_words": ["cat"],
    "letter": "a",
    "first_word": "a",
    **dict.fromkeys(("relation", "let_relation", "capital_relation"), "at least"),
    **dict.fromkeys(("frequency", "let_frequency", "capital_frequency", "num_words", "num_sentences"), 3),
    **dict.fromkeys(("num_paragraphs", "nth_paragraph", "num_placeholders", "num_bullets", "num_highlights"), 2),
    "postscript_marker": "P.S.",
    "section_spliter": "Section",
    "num_sections": 2,
    "language": "en",
    "prompt_to_repeat": "a b",
    "end_phrase": "c",
}
CONTEXT: dict[str, Any] = {
    "json_schema": {"type": "object"},
    "csv": {"columns": 3},
    "sql_setup": "",
    "keys": ["a.b"],
    "original": "Who is it?",
    "grid": "0 1",
    **{unit: {"target": 3} for unit in ("words", "sentences", "paragraphs")},
    "length": {"unit": "sentences", "count": 20, "type": "target"},
}
#: The others read the probabilities of choices and of references.
OF_TEXTS = {name: metric for name, metric in LIBRARY.items() if metric.kinds != {"choice"} and not metric.needs}


def question(name: str, context: dict[str, Any]) -> Sample:
    reference = REFERENCES.get(name, REFERENCE)
    instructions = [(kind, {argument: ARGUMENTS[argument] for argument in KINDS[kind].arguments}) for kind in KINDS]
    ids, kwargs = zip(*instructions, strict=True)
    whole = CONTEXT | {"language": "en", "instruction_id_list": ids, "kwargs": kwargs} | context
    return sample("q", references=(reference,), gold=reference, context=whole)


def seconds_of(metric: Metric, text: str, **context: Any) -> float:
    asked, reply = question(metric.name, context), prediction("q", reply=text)
    started = time.monotonic()
    metric.score(asked, [reply] if metric.per == "sample" else reply)
    return time.monotonic() - started


@pytest.mark.parametrize("kind", REPLIES)
@pytest.mark.parametrize("name", OF_TEXTS)
def test_a_reply_of_one_character_takes_seconds(name: str, kind: str) -> None:
    needed = {"text": "sacrebleu", "json": "jsonschema", "lang": "lingua", "math": "math_verify"}
    if OF_TEXTS[name].extra:
        pytest.importorskip(needed[OF_TEXTS[name].extra])
    assert seconds_of(OF_TEXTS[name], REPLIES[kind] * LENGTH) < SECONDS


@pytest.mark.parametrize("kind", LOOPS)
@pytest.mark.parametrize(
    "name",
    [
        "rouge_lsum",
        "bleu.lines",
        "chrf.lines",
        "ter",
        "ter.lines",
        "json.valid",
        "csv.found",
        "drop.f1",
        "minerva.relaxed.flex",
        "sql.runs",
        "ifeval.prompt",
    ],
)
def test_a_loop_takes_seconds(name: str, kind: str) -> None:
    for module in ("sacrebleu", "lingua"):
        pytest.importorskip(module)
    loop = LOOPS[kind]
    assert seconds_of(OF_TEXTS[name], loop * (LENGTH // len(loop))) < SECONDS


@pytest.mark.parametrize("format_", ["json", "yaml", "toml", "xml", "csv"])
@pytest.mark.parametrize("kind", REPLIES)
def test_a_structure_of_one_character_takes_seconds(kind: str, format_: str) -> None:
    assert seconds_of(OF_TEXTS["keys"], REPLIES[kind] * LENGTH, format=format_) < SECONDS


def test_ten_thousand_different_lines_take_seconds() -> None:
    pytest.importorskip("sacrebleu")
    text = "".join(f"line {number} of 12 mice\n" for number in range(5000))
    for name in ("rouge_lsum", "bleu.lines", "chrf.lines", "ter.lines"):
        assert seconds_of(OF_TEXTS[name], text) < SECONDS
