"""`python -m tools.speed`: the table of ratios. Run it on an otherwise idle machine.

Each contender gets the same GGUF, the same chats and the same limits. All contenders run in each round, and the medians
of the rounds are compared. The models are written on first use: real shapes, random weights.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from tabulate import tabulate

from pytest_puma.core import Backend, Generate, Model
from pytest_puma.engine.cache import whole_blocks
from pytest_puma.engine.encoding import encoded
from pytest_puma.engine.machine import cores
from pytest_puma.engine.native import DryBackend
from tools.speed import server
from tools.speed.bench import OUR_OWN, OURS, Result, measure, rows
from tools.speed.contenders import BUSY, IN_PROCESS, Contender, Setting
from tools.speed.overhead import Overhead, overhead
from tools.speed.shapes import SHAPES, is_current, write_model
from tools.speed.workloads import Workload, workloads

T = TypeVar("T")

#: Samples per cell in a full run and in a quick one, which has only these workloads.
SAMPLES, QUICK_SAMPLES, QUICK = 50, 2, ["triage", "thoughts", "labels"]


def main() -> None:
    """Read the command line, measure, print."""
    options = _parser().parse_args()
    if options.quick:
        options.rounds, options.samples = 1, min(options.samples, QUICK_SAMPLES)
        options.shape, options.workload = options.shape or ["tiny"], options.workload or QUICK
    figures: dict[str, tuple[list[Result], Overhead | None]] = {}
    for name in options.shape or ["0.5b", "tiny"]:
        setting, chosen_workloads = _prepared(options, name)
        contenders = _chosen(options)
        results: list[Result] = []
        figures[name] = (results, None)
        for workload in chosen_workloads:
            results.append(measure(setting, workload, contenders, rounds=options.rounds, log=_log))
            _store(options.json, figures)
        extra = None
        if options.workload is None:
            extra = overhead(setting, samples=options.samples, rounds=options.rounds)
        figures[name] = (results, extra)
        _store(options.json, figures)
        _print(name, results, extra, list(contenders))
    print(_summary(figures))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.speed", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one small round on the tiny shape, under a minute")
    parser.add_argument("--json", type=Path, metavar="PATH", help="store every number in this file")
    parser.add_argument("--shape", action="append", choices=sorted(SHAPES), help="of the model (0.5b, then tiny)")
    parser.add_argument("--workload", action="append", help="only this one; may be repeated")
    parser.add_argument("--contender", action="append", help="only this one and ours; may be repeated")
    parser.add_argument("--busy", action="store_true", help="one more column: ours beside a busy process")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="samples per cell (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the median (%(default)s)")
    parser.add_argument("--threads", type=int, default=cores(), help="threads that compute (%(default)s)")
    parser.add_argument("--stories", type=Path, action="append", default=[], metavar="CSV", help="backlog items to mix")
    parser.add_argument("--folder", type=Path, default=Path("build/speed"), help="folder of the models (%(default)s)")
    return parser


def _prepared(options: argparse.Namespace, name: str) -> tuple[Setting, list[Workload]]:
    """The setting, with the model written if necessary and a context for the longest request; and the workloads."""
    shape = SHAPES[name]
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / f"{name}.gguf"
    if not is_current(path):
        # A partly written model must not be used as a whole one.
        write_model(path.with_suffix(".half"), shape).replace(path)
    model = Model(name=path.stem, path=path)
    by_name = workloads(model, samples=options.samples, stories=options.stories)
    chosen = [_picked(by_name, each, "--workload") for each in options.workload or by_name]
    with closing(DryBackend(model, context_limit=shape.context)) as backend:
        longest = max(_length(backend, each) for each in chosen)
    return Setting(path=path, threads=options.threads, context=whole_blocks(longest)), chosen


def _length(backend: Backend, workload: Workload) -> int:
    """Tokens of the longest request with its answer."""
    lengths = []
    for request in workload.requests:
        asked = encoded(backend, request)
        new = request.max_tokens if isinstance(request, Generate) else max(map(len, asked.tails))
        lengths.append(len(asked.tokens) + new)
    return max(lengths)


def _chosen(options: argparse.Namespace) -> dict[str, Contender]:
    """All contenders, or ours and the named ones."""
    by_name = {**IN_PROCESS, **server.contenders()}
    busy = BUSY if options.busy else {}
    if options.contender is None:
        return {**by_name, **busy}
    return {**{name: _picked(by_name, name, "--contender") for name in [OURS, *options.contender]}, **busy}


def _picked(by_name: Mapping[str, T], name: str, option: str) -> T:
    if name not in by_name:
        sys.exit(f"{option}: {name!r} is unknown; there are: {', '.join(by_name)}")
    return by_name[name]


def _log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _print(shape: str, results: Sequence[Result], extra: Overhead | None, names: Sequence[str]) -> None:
    others = [name for name in names if name != OURS]
    head = ["workload", "requests", "prompt tokens", "new tokens", "ours", "of the floor", *others]
    print(f"\n{shape}: seconds of ours, and how many times as long the others took (± spread over the rounds)\n")
    print(tabulate(rows(results, others), headers=head, disable_numparse=True))
    if extra is not None:
        print(
            f"\npytest around it: {extra.share:+.1%}, {extra.milliseconds:.2f} ms per sample; "
            f"the first sample starts {extra.start:.1f} s after the command, without the load of the model"
        )


def _summary(figures: Mapping[str, tuple[Sequence[Result], Overhead | None]]) -> str:
    """One line: for every shape and workload our share of the floor, and the ratio of the best other contender."""
    parts = []
    for shape, (results, _) in figures.items():
        for each in results:
            others = [each.ratio(name) for name in each.timings if name not in OUR_OWN]
            best = f", {min(others):.2f} times the next" if others else ""
            parts.append(f"{shape} {each.workload}: {each.of_floor:.2f} of the floor{best}")
    return "; ".join(parts)


def _store(path: Path | None, figures: Mapping[str, tuple[Sequence[Result], Overhead | None]]) -> None:
    """Write all figures so far, so that an interrupted run keeps them."""
    if path is None:
        return
    plain = {
        shape: {"workloads": [asdict(each) for each in results], "overhead": None if extra is None else asdict(extra)}
        for shape, (results, extra) in figures.items()
    }
    path.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
