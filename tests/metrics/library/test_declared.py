"""Declarations of the text metrics of the library: direction, unit, bounds, the extra that they need."""

from __future__ import annotations

import pytest

from pytest_puma.metrics.library import LIBRARY

SHARE, POINTS, NONE = (0.0, 1.0), (0.0, 100.0), None
SHARES = (
    *("exact_match", "exact_match.loose", "contains", "cwe", "needle", "f1_words", "f1_squad"),
    *("rouge_1", "rouge_2", "rouge_l", "rouge_lsum", "rouge_geo"),
    *("json.valid", "json.only", "json.equal", "csv.found", "csv.separator", "csv.columns"),
    *("sql.runs", "sql.only", "sql.rows", "sql.equal"),
    *("yaml.valid", "toml.valid", "xml.valid", "keys"),
    *("drop.f1", "drop.exact", "list.places", "grid.exact", "grid.cells", "grid.gain.clipped", "percentage_similarity"),
)
DECLARED = {
    **dict.fromkeys(SHARES, ("high", "", SHARE, "")),
    "grid.gain": ("high", "", NONE, ""),
    "json.schema": ("high", "", SHARE, "json"),
    **dict.fromkeys(
        ["bleu", "bleu.sentence", "bleu.lines", "chrf", "chrf_pp", "chrf.lines"], ("high", "points", POINTS, "text")
    ),
    **dict.fromkeys(["ter", "ter.lines"], ("low", "points", NONE, "text")),
    "copied": ("low", "", SHARE, "text"),
}


@pytest.mark.parametrize("name", DECLARED)
def test_a_metric_of_texts_declares_how_it_is_read(name: str) -> None:
    metric = LIBRARY[name]
    assert (metric.better, metric.unit, metric.bounds, metric.extra) == DECLARED[name]
    assert metric.kinds == {"completion"}
    assert (metric.per, metric.needs, metric.parts, metric.interval) == ("trial", frozenset(), (), True)


@pytest.mark.parametrize("name", ["postscript", "placeholders"])
def test_marks_may_be_looked_for_in_any_reply(name: str) -> None:
    metric = LIBRARY[name]
    assert (metric.better, metric.bounds, metric.extra, metric.kinds) == ("high", SHARE, "", frozenset())


def test_corpora_are_pooled() -> None:
    widths = {name: metric.pool.width for name, metric in LIBRARY.items() if metric.pool and name in DECLARED}
    assert widths == {"bleu": 10, "chrf": 18, "chrf_pp": 24, "ter": 2}


def test_each_name_is_the_key_of_its_metric_once() -> None:
    assert all(metric.names == (name,) for name, metric in LIBRARY.items())
