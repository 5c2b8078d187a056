import json
from pathlib import Path

from pytest_puma.models import recall, remember, stamps_of, weights_digest


def test_a_fact_is_remembered_until_the_file_changes(tmp_path: Path) -> None:
    path, cache = tmp_path / "q.gguf", tmp_path / "cache.json"
    path.write_bytes(b"weights")
    assert recall(path, stamps_of(path), "tried", cache=cache) is None
    remember(path, stamps_of(path), "tried", "0.3.36", cache=cache)
    assert recall(path, stamps_of(path), "tried", cache=cache) == "0.3.36"
    path.write_bytes(b"more weights")
    assert recall(path, stamps_of(path), "tried", cache=cache) is None


def test_facts_about_the_same_file_are_kept_together_and_end_together(tmp_path: Path) -> None:
    path, cache = tmp_path / "q.gguf", tmp_path / "cache.json"
    path.write_bytes(b"weights")
    remember(path, stamps_of(path), "tried", "0.3.36", cache=cache)
    digest = weights_digest(path, cache=cache)
    (entry,) = json.loads(cache.read_text(encoding="utf-8")).values()
    assert (entry["tried"], entry["sha256"]) == ("0.3.36", digest)
    path.write_bytes(b"more weights")
    weights_digest(path, cache=cache)
    assert recall(path, stamps_of(path), "tried", cache=cache) is None


def test_a_fact_of_another_type_is_unknown(tmp_path: Path) -> None:
    path, cache = tmp_path / "q.gguf", tmp_path / "cache.json"
    path.write_bytes(b"weights")
    cache.write_text(json.dumps({str(path): {"stamps": stamps_of(path), "tried": 3}}), encoding="utf-8")
    assert recall(path, stamps_of(path), "tried", cache=cache) is None
