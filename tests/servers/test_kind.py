from __future__ import annotations

from typing import Any

import pytest

from pytest_puma.core.model import Endpoint
from pytest_puma.servers.client import Client
from pytest_puma.servers.kind import Served, look
from tests.servers.stub import MODEL, Stub


def served(stub: Stub, **entry: Any) -> Served:
    stub.pages["/v1/models"] = {"data": [{"id": "other"}, {"id": MODEL, **entry}]}
    return look(Client(stub.url, pause=0.01), Endpoint(url=stub.url, model=MODEL))


@pytest.mark.parametrize(
    ("owner", "path", "page", "name"),
    [
        ("llamacpp", "/props", {"build_info": "b1", "total_slots": 4}, "llama.cpp"),
        ("vllm", "/version", {"version": "0.11"}, "vLLM"),
        ("sglang", "/get_model_info", {"model_path": "/m"}, "SGLang"),
        ("library", "/api/version", {"version": "0.12"}, "Ollama"),
        ("system", "/none", {}, "OpenAI"),
        ("somebody", "/none", {}, "unknown"),
    ],
)
def test_a_server_is_known_by_what_it_reports(stub: Stub, owner: str, path: str, page: Any, name: str) -> None:
    stub.pages[path] = page
    first = served(stub, owned_by=owner, created=1)
    assert first.kind.name == name
    assert served(stub, owned_by=owner, created=2).facts == first.facts
    if page:
        stub.pages[path] = {name: f"{value} another" for name, value in page.items()}
        assert served(stub, owned_by=owner, created=1).facts != first.facts


def test_ollama_reports_a_digest_of_the_weights(stub: Stub) -> None:
    stub.pages["/api/version"] = {"version": "0.12"}
    tags = [{"name": "other", "digest": "aa"}, {"name": f"{MODEL}:latest", "digest": "b"}]
    stub.pages["/api/tags"] = {"models": tags}
    assert served(stub, owned_by="library").weights == "b"
