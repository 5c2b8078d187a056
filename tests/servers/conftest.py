from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.stub import Stub, serving


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving(Stub()) as stub:
        yield stub
