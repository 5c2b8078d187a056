"""Controls that are made in Python."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_puma import ControlVector, steer
from tests.tiny_controls import WIDTH


def test_a_hook_on_some_tokens_is_made_like_a_vector(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    vector = ControlVector({1: np.ones(WIDTH, dtype=np.float32)})
    rotated = steer(vector, kind="rotate", strength=15, layers=1, scope="reply", name="tone")
    assert rotated.part == "tone-rotate-reply-15-L1"
    assert rotated.signature == f"rotate {rotated.sha256} 15 1-1 reply"
    assert rotated.hooked
    assert not steer(vector).hooked
