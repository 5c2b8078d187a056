"""`python -m tools.speed`: the table of ratios. Run it on a machine that does nothing else.

Each contender gets the same GGUF, the same chats and the same limits; all take their turns within a round, and the
medians of the rounds are compared. The models are written on first use: real shapes, random weights.
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

from pytest_puma.core import Generate, Model
from pytest_puma.engine.cache import whole_blocks
from pytest_puma.engine.cores import cores
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import DryBackend
from tools.speed import server
from tools.speed.bench import OUR_OWN, OURS, Result, measure, rows
from tools.speed.contenders import BUSY, IN_PROCESS, Contender, Setting
from tools.speed.overhead import Overhead, overhead
from tools.speed.shapes import SHAPES, is_current, write_model
from tools.speed.workloads import Workload, workloads

T = TypeVar("T")

#: Samples a cell in a full run and in a quick one, which has these workloads alone.
SAMPLES, QUICK_SAMPLES, QUICK = 50, 2, ["triage", "thoughts", "labels"]


def main() -> None:
    """Read the command line, measure, print."""
    said = _parser().parse_args()
    if said.quick:
        said.rounds, said.samples = 1, min(said.samples, QUICK_SAMPLES)
        said.shape, said.workload = said.shape or ["tiny"], said.workload or QUICK
    found: dict[str, tuple[list[Result], Overhead | None]] = {}
    for name in said.shape or ["0.5b", "tiny"]:
        setting, asked = _prepared(said, name)
        chosen = _chosen(said)
        results: list[Result] = []
        found[name] = (results, None)
        for each in asked:
            results.append(measure(setting, each, chosen, rounds=said.rounds, tell=_tell))
            _keep(said.json, found)
        extra = overhead(setting, samples=said.samples, rounds=said.rounds) if said.workload is None else None
        found[name] = (results, extra)
        _keep(said.json, found)
        _print(name, results, extra, list(chosen))
    print(_summary(found))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.speed", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one small round on the tiny shape, under a minute")
    parser.add_argument("--json", type=Path, metavar="PATH", help="keep every number in this file")
    parser.add_argument("--shape", action="append", choices=sorted(SHAPES), help="of the model (0.5b, then tiny)")
    parser.add_argument("--workload", action="append", help="only this one; may be said again")
    parser.add_argument("--contender", action="append", help="only this one beside ours; may be said again")
    parser.add_argument("--busy", action="store_true", help="a column more: ours beside a busy process")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="samples a cell (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="medians of so many (%(default)s)")
    parser.add_argument("--threads", type=int, default=cores(), help="threads that compute (%(default)s)")
    parser.add_argument("--stories", type=Path, action="append", default=[], metavar="CSV", help="backlog items to mix")
    parser.add_argument("--folder", type=Path, default=Path("build/speed"), help="where models lie (%(default)s)")
    return parser


def _prepared(said: argparse.Namespace, name: str) -> tuple[Setting, list[Workload]]:
    """The model, written if need be, what it will be asked, and a context that holds each of these."""
    shape = SHAPES[name]
    said.folder.mkdir(parents=True, exist_ok=True)
    path = said.folder / f"{name}.gguf"
    if not is_current(path):
        # A model whose writing was cut short must not be taken for a whole one.
        write_model(path.with_suffix(".half"), shape).replace(path)
    model = Model(name=path.stem, path=path)
    known = workloads(model, samples=said.samples, stories=said.stories)
    asked = [_picked(known, each, "--workload") for each in said.workload or known]
    with closing(DryBackend(model, context_limit=shape.context)) as backend:
        longest = max(_length(Engine(backend), each) for each in asked)
    return Setting(path=path, threads=said.threads, context=whole_blocks(longest)), asked


def _length(engine: Engine, workload: Workload) -> int:
    """Tokens of the longest request with its answer."""
    lengths = []
    for request in workload.requests:
        tokens, tails = engine.encode(request)
        new = request.max_tokens if isinstance(request, Generate) else max(map(len, tails))
        lengths.append(len(tokens) + new)
    return max(lengths)


def _chosen(said: argparse.Namespace) -> dict[str, Contender]:
    """Everyone, or ours and those that were named."""
    known = {**IN_PROCESS, **server.contenders()}
    busy = BUSY if said.busy else {}
    if said.contender is None:
        return {**known, **busy}
    return {**{name: _picked(known, name, "--contender") for name in [OURS, *said.contender]}, **busy}


def _picked(known: Mapping[str, T], name: str, option: str) -> T:
    if name not in known:
        sys.exit(f"{option}: {name!r} is unknown; there are: {', '.join(known)}")
    return known[name]


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _print(shape: str, results: Sequence[Result], extra: Overhead | None, names: Sequence[str]) -> None:
    others = [name for name in names if name != OURS]
    head = ["workload", "requests", "prompt tokens", "new tokens", "ours", "of the floor", *others]
    print(f"\n{shape}: seconds of ours, and how many times as long the others took (± spread over the rounds)\n")
    print(tabulate(rows(results, others), headers=head, disable_numparse=True))
    if extra is not None:
        print(
            f"\npytest around it: {extra.share:+.1%}, {extra.milliseconds:.2f} ms a sample; "
            f"the first sample starts {extra.start:.1f} s after the command, the model's load left out"
        )


def _summary(found: Mapping[str, tuple[Sequence[Result], Overhead | None]]) -> str:
    """One line: for every shape and workload our share of the floor, and the best of the others."""
    told = []
    for shape, (results, _) in found.items():
        for each in results:
            others = [each.ratio(name) for name in each.timings if name not in OUR_OWN]
            best = f", {min(others):.2f} times the next" if others else ""
            told.append(f"{shape} {each.workload}: {each.of_floor:.2f} of the floor{best}")
    return "; ".join(told)


def _keep(path: Path | None, found: Mapping[str, tuple[Sequence[Result], Overhead | None]]) -> None:
    """All that is known so far: a run that is cut off after an hour keeps its figures."""
    if path is None:
        return
    plain = {
        shape: {"workloads": [asdict(each) for each in results], "overhead": None if extra is None else asdict(extra)}
        for shape, (results, extra) in found.items()
    }
    path.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
