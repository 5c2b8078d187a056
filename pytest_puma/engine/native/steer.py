"""LoRA adapters, control vectors and hooks on a context of llama.cpp.

A context keeps what was put on it, and its cache keeps what was computed with it: so a variant is put on an empty
context only, and replaces the former one as a whole. llama.cpp frees adapters with their model.
"""

from __future__ import annotations

import ctypes
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from pytest_puma.core import Control, EngineError, ModelError, Variant
from pytest_puma.core.variant import CHOSEN
from pytest_puma.engine.condition import Condition, under
from pytest_puma.engine.hook import Hook
from pytest_puma.engine.native import binding
from pytest_puma.engine.native.hooks import Hooks
from pytest_puma.engine.transforms import SCOPES, hooks_of, own_hooks
from pytest_puma.models.base import BaseModel
from pytest_puma.models.control_vector import ControlVector
from pytest_puma.models.pairs import default_layers, is_pairs
from pytest_puma.models.weights import weights_digest

_NEEDED = """
    llama_adapter_lora_init llama_set_adapters_lora llama_set_adapter_cvec llama_model_n_layer llama_model_n_embd
    llama_batch_get_one llama_get_logits_ith
""".split()  # noqa: SIM905 - one name per line would be longer, and no clearer
#: Uses an adapter in another process, and raises a `PumaError` if that fails.
TryFirst: TypeAlias = Callable[[Control], object]
#: Makes the file of a vector from pairs of texts.
MakeVector: TypeAlias = Callable[[Path], Path]
#: llama.cpp warns of each matrix of an adapter.
_NOT_REPACKED = "cannot use buft"


class Controls:
    """The files of controls of a loaded model, each loaded when it is first put on a context.

    `try_first` is called before llama.cpp reads an adapter: it aborts the process on some.
    """

    def __init__(self, pointer: Any, name: str, *, try_first: TryFirst | None, make: MakeVector) -> None:
        """`pointer` is that of llama.cpp's model, `name` its name; an `EngineError` if the binding lacks a function."""
        binding.require(_NEEDED)
        self._pointer, self._name, self._try_first, self._make = pointer, name, try_first, make
        layers, width = int(llama_cpp.llama_model_n_layer(pointer)), int(llama_cpp.llama_model_n_embd(pointer))
        self._base = BaseModel(name=name, architecture="", layers=layers, width=width, shapes={})
        self._adapters: dict[Path, Any] = {}
        self._vectors: dict[Path, ControlVector] = {}
        self._notes: dict[Path, Sequence[str]] = {}
        self._steerable = False
        self.hooks = Hooks(name, last=layers - 1)
        self._tried: set[Path] = set()

    def put_on(self, context: Any, variant: Variant | None) -> tuple[str, ...]:
        """Put a variant on an empty context, in place of what is there; None takes everything off. Return notes on it.

        A `PumaError` leaves the context in no usable state.
        """
        controls = () if variant is None else variant.controls
        self.hooks.take_off()
        self._set_adapters(context, [control for control in controls if control.kind == "lora"])
        vectors = [control for control in controls if control.kind not in {"lora", *CHOSEN}]
        conditional = any(control.kind == "when" for control in vectors)
        hooked = [control for control in vectors if control.hooked or conditional]
        self._set_directions(context, [control for control in vectors if control not in hooked])
        if hooked:
            self._put_on_hooks(context, hooked)
        return tuple(note for control in controls for note in self._notes.get(control.path, ()))

    def _set_adapters(self, context: Any, controls: Sequence[Control]) -> None:
        # Of an adapter that is given twice, llama.cpp would ignore the second.
        strengths: dict[Path, float] = defaultdict(float)
        for control in controls:
            self._load_adapter(control)
            strengths[control.path] += control.strength
        pointers = (llama_cpp.llama_adapter_lora_p_ctypes * len(strengths))(*map(self._adapters.get, strengths))
        scales = (ctypes.c_float * len(strengths))(*strengths.values())
        with binding.uninterrupted():
            code = llama_cpp.llama_set_adapters_lora(context, pointers, len(strengths), scales)
        if code:
            self._fail(f"llama_set_adapters_lora returned {code} for {len(strengths)} adapters")

    def _load_adapter(self, control: Control) -> None:
        path = control.path
        if path in self._adapters:
            return
        if self._try_first is not None:
            self._try_first(control)
        with binding.uninterrupted(), binding.captured_warnings() as warnings:
            pointer = llama_cpp.llama_adapter_lora_init(self._pointer, os.fsencode(path))
        if not pointer:
            self._fail(f"llama.cpp cannot load the LoRA adapter {path}")
        self._check_unchanged(control)
        self._adapters[path] = pointer
        # One sentence in place of one for each matrix.
        slow = any(_NOT_REPACKED in warning for warning in warnings)
        self._notes[path] = (
            [f"{path.name}: the adapter's matrices are not repacked for this processor"] if slow else warnings
        )

    def _set_directions(self, context: Any, controls: Sequence[Control]) -> None:
        if not controls:
            self._set_rows(context, None)
            return
        rows = np.zeros((self._base.layers - 1, self._base.width), dtype=np.float32)
        for control in controls:
            # Numbers that are too large become logits that are not finite, which are an error.
            with np.errstate(over="ignore", invalid="ignore"):
                rows += np.float32(control.strength) * self._directions(control)
        if not self._steerable:
            self._check_steerable(context, rows.shape)
        self._set_rows(context, rows)

    def _put_on_hooks(self, context: Any, controls: Sequence[Control]) -> None:
        conditions, hooks = list[Condition](), list[Hook]()
        for control in sorted(controls, key=lambda control: control.kind != "when"):
            self._check_order(control)
            scope = under(conditions) if conditions else SCOPES[control.scope]
            if control.kind == "hook":
                hooks += own_hooks(control, scope)
                continue
            directions = self._directions(control)
            self._try(control)
            if control.kind == "when":
                layers = enumerate(directions, start=1)
                conditions += [Condition(layer, row, control.strength) for layer, row in layers if row.any()]
            else:
                hooks += hooks_of(control, directions, scope)
        self.hooks.put_on(context, [*(condition.hook for condition in conditions), *hooks], conditions)

    def _check_order(self, control: Control) -> None:
        stateful = llama_cpp.llama_model_is_recurrent(self._pointer) or llama_cpp.llama_model_is_hybrid(self._pointer)
        if stateful and (control.kind in {"when", "hook"} or control.scope != "all"):
            kinds = {"when": "when=", "hook": "function of one's own"}
            found = kinds.get(control.kind, f"scope={control.scope}")
            self._fail(
                f"llama.cpp computes the tokens of recurrent layers in an order of its own; expected no {found} for "
                "this architecture: leave it out"
            )

    def _try(self, control: Control) -> None:
        """Use the hooks of a file in another process first."""
        if self._try_first is not None and control.path not in self._tried:
            self._try_first(replace(control, path=self._make(control.path) if is_pairs(control.path) else control.path))
            self._tried.add(control.path)

    def _directions(self, control: Control) -> NDArray[np.float32]:
        """The directions of the layers from 1 on; zeros for a layer that the control leaves alone."""
        vector, layers = self._vector(control), control.layers
        if layers is None and is_pairs(control.path):
            layers = default_layers(self._base.layers)
        # The width of heads is in the header alone, by which the vector was checked.
        base = replace(self._base, width=vector.width) if control.kind == "heads" else self._base
        vector.check_fits(base, name=control.path.name, chosen=layers)
        return vector.rows(self._base.layers, layers)

    def _vector(self, control: Control) -> ControlVector:
        if control.path not in self._vectors:
            file = self._make(control.path) if is_pairs(control.path) else control.path
            vector = ControlVector.load(file)
            self._check_unchanged(control)
            self._vectors[control.path] = vector
        return self._vectors[control.path]

    def _set_rows(self, context: Any, rows: NDArray[np.float32] | None) -> None:
        """Set the rows of all layers that can be steered: without a row, llama.cpp keeps the former one."""
        pointer = None if rows is None else rows.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        length, width, last = 0 if rows is None else rows.size, self._base.width, self._base.layers - 1
        with binding.uninterrupted():
            code = llama_cpp.llama_set_adapter_cvec(context, pointer, length, width, 1, last)
        if code:
            self._fail(f"llama_set_adapter_cvec returned {code} for {length} numbers")

    def _check_steerable(self, context: Any, shape: tuple[int, int]) -> None:
        """Compare the logits of a token with and without a vector: some architectures ignore it without a message."""
        plain = self._logits(context)
        self._set_rows(context, np.ones(shape, dtype=np.float32))
        if np.array_equal(self._logits(context), plain):
            self._fail(
                "llama.cpp ignores control vectors for this architecture; expected one that it steers: use lora="
            )
        self._steerable = True

    def _logits(self, context: Any) -> NDArray[np.float32]:
        """The logits after one token; the context is empty before and after."""
        with binding.uninterrupted():
            code = llama_cpp.llama_decode(context, llama_cpp.llama_batch_get_one((llama_cpp.llama_token * 1)(0), 1))
            if code:
                self._fail(f"llama_decode returned {code} for one token")
            size = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self._pointer))
            logits = np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(context, -1), shape=(size,)).copy()
            llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(context), False)  # noqa: FBT003
        return logits

    def _check_unchanged(self, control: Control) -> None:
        if control.sha256 and weights_digest(control.path) != control.sha256:
            msg = (
                f"{self._name}: {control.path} changed since it was checked; leave it alone until the run ends, and "
                "run again"
            )
            raise ModelError(msg)

    def _fail(self, what: str) -> NoReturn:
        msg = f"{self._name}: {what}{binding.error_log()}"
        raise EngineError(msg)
