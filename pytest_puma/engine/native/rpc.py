"""Devices of other machines, behind llama.cpp's RPC servers.

llama.cpp ends the process where a server is missing or speaks another version, so each server is asked first, by the
`HELLO` of its protocol: a byte for the command, the size of its content in 8 bytes, 24 bytes. The answer is a size,
3 bytes with the version, and 25 others:

    0e 1800000000000000 000000...    >
    < 1c00000000000000 07 00 00 00 000000...

The devices are not registered with llama.cpp, which would count them as GPUs of this machine: a model that uses them
names them when it is loaded.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from typing import Any

import llama_cpp

from pytest_puma.core import EngineError, Model, ModelOptions
from pytest_puma.engine.machine import Gpu
from pytest_puma.engine.native.binding import prepare
from pytest_puma.engine.native.build import call, library, memory
from pytest_puma.phrases import counted, megabytes
from pytest_puma.platform.installation import install

#: The version of the protocol in the llama.cpp of each version of the binding. A server must have the same major
#: version and no larger minor one; of other bindings, the version is unknown, and not checked.
PROTOCOLS = {"0.3.36": (7, 0)}
_HELLO = struct.pack("<BQ24x", 14, 24)
_ANSWER = struct.Struct("<QBBB25x")
#: Seconds for the connection, and for the answer of a server that may have to end another client's request first.
_CONNECTING, _ANSWERING = 5.0, 20.0
_ADD_SERVER = "ggml_backend_rpc_add_server"


def check_servers(model: Model) -> None:
    """Refuse servers that llama.cpp cannot use, with an `EngineError`; call it before the model is loaded.

    A server has one client at a time: while a model is loaded, its servers answer nobody else.
    """
    if not model.options.servers:
        return
    if not is_built_in():
        command = install("--force-reinstall --no-cache-dir llama-cpp-python")
        msg = (
            f"{model.name}: found rpc={model.options.rpc}, and this llama.cpp is built without RPC; expected one with "
            f"it: CMAKE_ARGS=-DGGML_RPC=on {command}"
        )
        raise EngineError(msg)
    # A server that is lost later ends this process, which needs no debugger for that.
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")
    for address in model.options.servers:
        if problem := problem_of(address, PROTOCOLS.get(llama_cpp.__version__)):
            msg = f"{model.name}: rpc={address}: {problem}"
            raise EngineError(msg)


def problem_of(address: str, protocol: tuple[int, int] | None, *, seconds: float = _ANSWERING) -> str:
    """Return what is wrong with a server and what to do, empty if it answers in this version of the protocol."""
    host, _, port = address.rpartition(":")
    # As in llama.cpp, without IPv6.
    with socket.socket(socket.AF_INET) as connection:
        connection.settimeout(_CONNECTING)
        try:
            connection.connect((host, int(port)))
        except OSError as error:
            return (
                f"no server there ({error.strerror or error}); expected llama.cpp's ggml-rpc-server: start it with "
                f"ggml-rpc-server -H {host} -p {port}, or correct the address"
            )
        connection.settimeout(seconds)
        try:
            connection.sendall(_HELLO)
            answer = connection.makefile("rb").read(_ANSWER.size)
        except TimeoutError:
            return (
                f"no answer within {seconds:g} s; expected a server that is free, as each has one client at a time: "
                "end the other one, give each engine servers of its own, or start the server again"
            )
        except OSError:
            answer = b""
    return _problem_in(answer, protocol)


def _problem_in(answer: bytes, protocol: tuple[int, int] | None) -> str:
    """What is wrong with the answer of a server, empty if nothing is."""
    size, *version = _ANSWER.unpack(answer.ljust(_ANSWER.size, b"\0"))
    if len(answer) < _ANSWER.size or size != _ANSWER.size - 8:
        return "what listens there is no RPC server of llama.cpp, or an old one; expected one of the same version"
    if protocol is None or (version[0] == protocol[0] and version[1] <= protocol[1]):
        return ""
    return (
        f"the server speaks version {'.'.join(map(str, version))} of the protocol; expected "
        f"{'.'.join(map(str, protocol))}: start one of the llama.cpp in llama-cpp-python {llama_cpp.__version__}"
    )


def is_built_in() -> bool:
    """Whether this llama.cpp has its RPC."""
    prepare()
    if not hasattr(library(), "ggml_backend_reg_by_name"):
        # A library that does not export these functions (Windows).
        return False
    return bool(call("ggml_backend_reg_by_name", ctypes.c_void_p, b"RPC"))


def server_devices(options: ModelOptions) -> list[int]:
    """Return llama.cpp's pointers to the devices of the servers that a model names, which were checked before."""
    devices = []
    for address in options.servers:
        registry = _add_server(address)
        count = call("ggml_backend_reg_dev_count", ctypes.c_size_t, registry) if registry else 0
        devices += [
            call("ggml_backend_reg_dev_get", ctypes.c_void_p, registry, ctypes.c_size_t(number))
            for number in range(count)
        ]
    return devices


def _add_server(address: str) -> ctypes.c_void_p:
    """Llama.cpp's registry of the devices of a server; it is made once."""
    rpc = ctypes.c_void_p(call("ggml_backend_reg_by_name", ctypes.c_void_p, b"RPC"))
    function: Any = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)
    pointer = call("ggml_backend_reg_get_proc_address", ctypes.c_void_p, rpc, _ADD_SERVER.encode())
    return ctypes.c_void_p(function(pointer)(address.encode()))


def servers(options: ModelOptions) -> tuple[Gpu, ...]:
    """Return the devices of the servers that a model names, in their order, by what they offer.

    The protocol has no names; llama.cpp's own is the address, which changes no answer.
    """
    offered = map(memory, server_devices(options))
    return tuple(Gpu(name=f"RPC, {megabytes(total)} MB", free=free) for free, total in offered)


def signature(options: ModelOptions) -> dict[str, str]:
    """Return the number of devices of servers and what they offer, empty without any."""
    found = servers(options)
    return {"rpc": f"{counted(len(found), 'device')}: {'; '.join(gpu.name for gpu in found)}"} if found else {}
