"""RPC servers are asked before llama.cpp meets them, as it ends the process where one is missing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pytest_puma.core import EngineError, Model, ModelError, ModelOptions
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend, gpus, offloads
from pytest_puma.engine.native.rpc import check_servers, is_built_in, problem_of
from pytest_puma.models.resolve import resolve_models
from tests.engine.ask import generate, issues, score
from tests.rpc_server import RpcServer, free_port
from tests.tiny_gguf import QWEN2, Shape

WITHOUT = pytest.mark.skipif(is_built_in(), reason="this llama.cpp is built with RPC")
WITH = pytest.mark.skipif(not is_built_in(), reason="this llama.cpp is built without RPC: CMAKE_ARGS=-DGGML_RPC=on")
#: The size of the answer, version 7.0.0, and what the server can do beyond TCP: nothing.
SEVEN = (28).to_bytes(8, "little") + bytes([7, 0, 0]) + bytes(25)
NO_SERVER = "what listens there is no RPC server of llama.cpp, or an old one; expected one of the same version"
Listening = Callable[[bytes], str]


@pytest.fixture
def listening() -> Iterator[Listening]:
    """Listens at an address and answers a first request with some bytes, then closes the connection."""
    listeners: list[socket.socket] = []

    def listen(answer: bytes) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def serve() -> None:
            client, _ = listener.accept()
            with client:
                assert client.recv(33, socket.MSG_WAITALL) == bytes([14, 24, *[0] * 31])
                client.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        return f"127.0.0.1:{listener.getsockname()[1]}"

    yield listen
    for listener in listeners:
        listener.close()


@pytest.mark.parametrize(
    ("answer", "protocol", "problem"),
    [
        (SEVEN, (7, 0), ""),
        (SEVEN, (7, 2), ""),
        (SEVEN, None, ""),
        (
            SEVEN,
            (8, 0),
            "the server speaks version 7.0.0 of the protocol; expected 8.0: start one of the llama.cpp in ",
        ),
        (SEVEN[:9] + b"\1" + SEVEN[10:], (7, 0), "the server speaks version 7.1.0 of the protocol; expected 7.0: "),
        # Version 3 had an answer of three bytes; and there may be anything else.
        ((3).to_bytes(8, "little") + bytes([3, 5, 1]), (7, 0), NO_SERVER),
        (b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", (7, 0), NO_SERVER),
        (b"", None, NO_SERVER),
    ],
)
def test_a_server_tells_its_version(
    listening: Listening, answer: bytes, protocol: tuple[int, int] | None, problem: str
) -> None:
    found = problem_of(listening(answer), protocol)
    assert found.startswith(problem)
    assert bool(found) == bool(problem)


def test_without_a_server_the_error_tells_how_to_start_one() -> None:
    port = free_port()
    assert problem_of(f"127.0.0.1:{port}", None) == (
        "no server there (Connection refused); expected llama.cpp's ggml-rpc-server: start it with ggml-rpc-server "
        f"-H 127.0.0.1 -p {port}, or correct the address"
    )
    assert problem_of("nosuchhost.invalid:50052", None).startswith("no server there (")


def test_a_silent_server_may_have_another_client() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert problem_of(f"127.0.0.1:{listener.getsockname()[1]}", None, seconds=0.1).startswith(
            "no answer within 0.1 s; expected a server that is free, as each has one client at a time: "
        )


def test_outside_a_cluster_servers_are_refused_before_the_file_is_looked_up() -> None:
    with pytest.raises(ModelError, match=r"^--puma-model 'nope,rpc=host:1': found rpc=host:1; expected --puma-cluster"):
        resolve_models(["nope,rpc=host:1"], directories=())


def model(path: Path, *servers: str, **options: object) -> Model:
    rpc = "+".join(servers) or None
    return Model(name="q", path=path, options=ModelOptions(rpc=rpc, **options))  # type: ignore[arg-type]


@WITHOUT
def test_a_library_without_rpc_is_an_error_that_names_the_flag() -> None:
    with pytest.raises(
        EngineError, match=r"^q: found rpc=host:1, and this llama.cpp is built without RPC; .*-DGGML_RPC=on"
    ):
        check_servers(model(Path("q.gguf"), "host:1"))
    check_servers(model(Path("q.gguf")))


@pytest.fixture
def servers() -> Iterator[tuple[str, str]]:
    """The addresses of two servers."""
    both = RpcServer(), RpcServer()
    yield both[0].address, both[1].address
    for server in both:
        server.close()


def answers(model: Model) -> tuple[dict[str, str], list[object]]:
    """The signature, and texts and log-probabilities."""
    with closing(Engine(NativeBackend(model, threads=1, digest="5a"))) as engine:
        replies = engine.run([*(generate(text, 8) for text in issues(6)), score("Issue 1", "Major", "Minor")])
        return dict(engine.backend.signature), [(reply.text, reply.logprobs) for reply in replies]


@WITH
@pytest.mark.parametrize("options", [{}, {"gpu_layers": "auto"}, {"share": "1:1"}, {"gpu": 1}], ids=str)
def test_servers_compute_what_this_machine_does(
    model_file: Callable[[Shape], Path], servers: tuple[str, str], options: dict[str, object]
) -> None:
    path = model_file(QWEN2)
    before, expected = answers(model(path))
    signature, found = answers(model(path, *servers, **options))
    assert found == expected
    assert signature["rpc"].startswith("2 devices: RPC, ")
    assert not set(servers) & {*signature.values()}
    # Neither another model nor the number of workers sees these devices.
    assert (gpus(), offloads()) == ((), False)
    assert answers(model(path))[0] == before


@WITH
def test_another_port_is_the_same_engine(model_file: Callable[[Shape], Path], servers: tuple[str, str]) -> None:
    path = model_file(QWEN2)
    assert answers(model(path, servers[0])) == answers(model(path, servers[1]))


@WITH
def test_the_weights_are_on_the_servers(model_file: Callable[[Shape], Path], servers: tuple[str, str]) -> None:
    with closing(NativeBackend(model(model_file(QWEN2), servers[0]), threads=1)):
        # It has a client.
        assert problem_of(servers[0], None, seconds=0.5).startswith("no answer within 0.5 s")
        assert problem_of(servers[1], None) == ""
    assert problem_of(servers[0], None) == ""


@WITH
def test_a_server_that_is_not_there_or_none_is_an_error_that_names_the_model(
    model_file: Callable[[Shape], Path], listening: Listening
) -> None:
    path = model_file(QWEN2)
    gone, other = f"127.0.0.1:{free_port()}", listening(b"")
    with pytest.raises(EngineError, match=rf"^q: rpc={gone}: no server there \(Connection refused\); expected"):
        NativeBackend(model(path, gone), threads=1)
    with pytest.raises(EngineError, match=rf"^q: rpc={other}: what listens there is no RPC server"):
        NativeBackend(model(path, other), threads=1)
