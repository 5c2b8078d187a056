r"""Equivalence of two mathematical expressions in LaTeX: `\frac{1}{2}` and `0.5`, `(x+1)^2` and `x^2+2x+1`.

This file is also the program of a worker process: it answers each line of JSON, `[gold, answer]`, with `true` or
`false`. It imports nothing of this package, so that it starts fast and needs little memory.

The parser is that of math-verify: it reads by a grammar, knows sets, intervals, units and per cent, and needs no
certain version of the ANTLR runtime, unlike that of SymPy. Its parser of plain expressions is not used: it evaluates
Python code. Its time limits are not used either: they need the main thread.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any, TextIO

#: Decimals to which numbers must agree. The default of math-verify, 6, makes 1e-7 equal to 2e-7.
_DECIMALS = 12
#: Below it, decimals cannot distinguish numbers, so that only a proof counts.
_TINY = 1e-6


def equivalent(gold: str, answer: str) -> bool:
    """Return True if two expressions are proven equal; False also for one that is no LaTeX."""
    from math_verify import verify

    golds, answers = _parsed(gold), _parsed(answer)
    if not golds or not answers:
        return False
    if _is_tiny(golds[0]) and _is_tiny(answers[0]):
        return bool((golds[0] - answers[0]).equals(0))
    return bool(verify(golds, answers, float_rounding=_DECIMALS, timeout_seconds=None))


def _is_tiny(expression: Any) -> bool:
    """Whether an expression is a number close to 0."""
    return bool(getattr(expression, "is_number", False)) and bool(abs(expression.doit().evalf()) < _TINY)


def _parsed(latex: str) -> list[Any]:
    from math_verify import LatexExtractionConfig, parse

    # The dollar signs make it find all of the text.
    expressions: list[Any] = parse(
        f"${latex}$",
        extraction_config=[LatexExtractionConfig()],
        fallback_mode="no_fallback",
        extraction_mode="first_match",
        parsing_timeout=None,
    )
    return expressions


def serve(requests: TextIO, replies: TextIO, seconds: int) -> None:
    """Answer each line of `requests`. The system ends the process after `seconds` of computing for one of them."""
    equivalent("1", "1")
    print("ready", file=replies, flush=True)
    for line in requests:
        _limit_computing(seconds)
        try:
            equal = equivalent(*json.loads(line))
        except Exception:  # noqa: BLE001 - odd expressions raise anything, and prove nothing
            equal = False
        _limit_computing(0)
        print(json.dumps(equal), file=replies, flush=True)


def _limit_computing(seconds: int) -> None:
    """Let the system end this process after some seconds of computing, 0 for never, also within one huge operation.

    It counts the time of this process alone, so that a busy machine changes no score.
    """
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit_memory(size: int) -> None:
    """Limit the memory to `size` bytes, where the system can."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def main() -> None:
    """Run as a worker process: `equivalence.py SECONDS BYTES PATH...`, the paths being those of modules."""
    seconds, size, *sys.path[:] = (int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
    _limit_memory(size)
    # Nothing that a library prints may look like a reply.
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    serve(sys.stdin, replies, seconds)


if __name__ == "__main__":
    main()
