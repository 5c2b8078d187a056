"""The program that `made_weights` runs: it makes a quantised file, or reports how large one would be.

Its argument is a list in JSON: the source, the target (empty for a report), the type, the threads. It
prints llama.cpp's line on the size, or on standard error why it failed:

    llama_model_quantize_impl: quant size  =    98.87 MiB (6.17 BPW)
"""

from __future__ import annotations

import ctypes
import json
import os
import sys

_ERROR = 4


def quantise(source: str, target: str, type_name: str, threads: int) -> int:
    """Quantise a file; return 0 if that succeeds. Without a target, nothing is written."""
    import llama_cpp

    def on_log(level: int, text: bytes, _data: object) -> None:
        stream = sys.stderr if level == _ERROR else sys.stdout
        if level == _ERROR or b"quant size" in text:
            stream.write(text.decode("utf-8", errors="replace"))

    callback = llama_cpp.llama_log_callback(on_log)
    llama_cpp.llama_log_set(callback, ctypes.c_void_p(0))
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype = getattr(llama_cpp, f"LLAMA_FTYPE_MOSTLY_{type_name}")
    params.nthread, params.dry_run = threads, not target
    # Of a Q8_0 file; others were refused.
    params.allow_requantize = True
    return int(llama_cpp.llama_model_quantize(os.fsencode(source), os.fsencode(target), ctypes.byref(params)))


if __name__ == "__main__":
    sys.path[:] = sys.argv[2:]
    sys.exit(quantise(*json.loads(sys.argv[1])))
