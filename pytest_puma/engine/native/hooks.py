"""Hooks on a context of llama.cpp: states of chosen nodes are read and written while a batch is computed.

llama.cpp asks the callback of a context (`cb_eval`) about each node of its graph, and calls it again with the result of
those that were wanted; what is written there is what the next nodes get. On a GPU each such node is copied, and the
device waits for it. A context without hooks has no callback.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NoReturn

import llama_cpp
import numpy as np

from pytest_puma.core import EngineError, Step
from pytest_puma.engine.condition import Condition
from pytest_puma.engine.hook import Hook, Rows
from pytest_puma.engine.native import binding
from pytest_puma.engine.native.hidden import ggml_functions
from pytest_puma.phrases import named


class Hooks:
    """The hooks of one loaded model, on one context at a time."""

    def __init__(self, name: str, *, last: int) -> None:
        """`last` is the last layer, whose output llama.cpp computes only for tokens that need logits."""
        self._name = name
        self._last = f"l_out-{last}".encode()
        self._ggml = ggml_functions()
        self._hooks: dict[bytes, list[Hook]] = {}
        self._conditions: Sequence[Condition] = []
        #: The names of the nodes of the model's graph, after the first use of hooks.
        self.nodes: list[bytes] = []
        self._asked: list[bytes] | None = None
        self._rows = Rows.of([])
        #: Rows of each node that were seen of a batch: llama.cpp may divide it.
        self._seen_rows: dict[bytes, int] = {}
        self._error: Exception | None = None
        #: For `cb_eval`. Kept alive with this object: llama.cpp has only its address.
        self.callback = llama_cpp.ggml_backend_sched_eval_callback(self._seen)

    def put_on(self, context: Any, hooks: Sequence[Hook], conditions: Sequence[Condition] = ()) -> None:
        """Put hooks on an empty context that has the callback, in place of former ones.

        An `EngineError` names a node that llama.cpp does not compute, and those that it does.
        """
        self.take_off()
        if not self.nodes:
            self.nodes = self._nodes_of(context)
        by_node = defaultdict(list)
        for hook in hooks:
            by_node[hook.name].append(hook)
            if hook.name not in self.nodes:
                self._fail_without(hook)
        self._hooks, self._conditions = by_node, conditions

    def take_off(self) -> None:
        """Change nothing from now on."""
        self._hooks, self._conditions = {}, []

    def fork(self, source: int, target: int) -> None:
        """Let a sequence continue from another one."""
        for condition in self._conditions:
            condition.fork(source, target)

    def drop(self, sequence: int) -> None:
        """Forget a sequence."""
        for condition in self._conditions:
            condition.drop(sequence)

    def decode(self, context: Any, batch: Any, steps: Sequence[Step]) -> int:
        """Call `llama_decode` for a batch of steps with the hooks; an error inside one of them is raised behind it."""
        self._error, self._rows, self._seen_rows = None, Rows.of(steps), dict.fromkeys(self._hooks, 0)
        # Python would raise `KeyboardInterrupt` inside the callback, where ctypes drops it.
        with binding.uninterrupted():
            code = int(llama_cpp.llama_decode(context, batch))
        if self._error is not None:
            raise self._error
        for name, count in self._seen_rows.items():
            if not code and count != len(self._rows_of(name)):
                self._fail_rows(name, count)
        return code

    def _seen(self, tensor: int, asks: bool, _data: object) -> bool:  # noqa: FBT001 - llama.cpp's signature
        name = self._ggml.ggml_get_name(tensor)
        if asks:
            if self._asked is not None:
                self._asked.append(name)
            return name in self._hooks
        try:
            self._change(tensor, name)
        except Exception as error:  # noqa: BLE001 - ctypes would drop it; `decode` raises it
            self._error = error
        return self._error is None

    def _change(self, tensor: int, name: bytes) -> None:
        size, count = self._ggml.ggml_nbytes(tensor), self._ggml.ggml_nrows(tensor)
        if not size:
            return
        read = states = np.empty((count, size // 4 // count), dtype=np.float32)
        self._ggml.ggml_backend_tensor_get(tensor, read.ctypes.data, 0, size)
        rows = self._next_rows(name, count)
        for hook in self._hooks[name]:
            states = hook.change(states, rows)
        if states is not read:
            written = np.ascontiguousarray(states, dtype=np.float32)
            self._ggml.ggml_backend_tensor_set(tensor, written.ctypes.data, 0, size)

    def _next_rows(self, name: bytes, count: int) -> Rows:
        """The next rows of a node in the order of the batch."""
        rows, start = self._rows_of(name), self._seen_rows[name]
        self._seen_rows[name] += count
        if start + count > len(rows):
            self._fail_rows(name, start + count)
        return rows[start : start + count]

    def _rows_of(self, name: bytes) -> Rows:
        """All rows of a node in this batch."""
        return self._rows[self._rows.wanted] if name == self._last else self._rows

    def _fail_rows(self, name: bytes, count: int) -> NoReturn:
        msg = (
            f"{self._name}: llama.cpp computes {count} rows of {name.decode()} for this architecture; expected "
            f"{len(self._rows_of(name))}, one for each token: leave this layer out"
        )
        raise EngineError(msg)

    def _nodes_of(self, context: Any) -> list[bytes]:
        """The names of the nodes in the graph of one token; the context is empty before and after."""
        self._asked = []
        try:
            with binding.uninterrupted():
                code = llama_cpp.llama_decode(context, llama_cpp.llama_batch_get_one((llama_cpp.llama_token * 1)(0), 1))
                llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(context), False)  # noqa: FBT003
            if code:
                msg = f"{self._name}: llama_decode returned {code} for one token{binding.error_log()}"
                raise EngineError(msg)
            return self._asked
        finally:
            self._asked = None

    def _fail_without(self, hook: Hook) -> NoReturn:
        layer = re.compile(rb".+-%d" % hook.layer)
        there = dict.fromkeys(name.decode() for name in self.nodes if layer.fullmatch(name))
        msg = (
            f"{self._name}: llama.cpp computes no {hook.name.decode()} for this architecture; the nodes of this layer "
            f"are {named(there)}"
        )
        raise EngineError(msg)
