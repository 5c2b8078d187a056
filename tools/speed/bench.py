"""One go: every contender on every workload, interleaved over several rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median

from tools.speed.contenders import Contender, Setting, Took
from tools.speed.floor import floor
from tools.speed.workloads import Workload

#: What everything is compared with.
OURS = "ours"
#: Ours with less to do: its counts of tokens are its own.
PROMPTS_ALONE = "prompts alone"
#: Who is no rival.
OUR_OWN = frozenset({OURS, "ours, strict", "ours, busy", PROMPTS_ALONE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Seconds of every round."""

    seconds: tuple[float, ...]

    @property
    def middle(self) -> float:
        """The median."""
        return median(self.seconds)

    @property
    def spread(self) -> float:
        """The widest round over the shortest, less one."""
        return max(self.seconds) / min(self.seconds) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Of one workload: the requests, what was computed for them, everyone's timing, and that of the floor."""

    workload: str
    why: str
    requests: int
    work: Took
    floor: Timing
    timings: Mapping[str, Timing]

    def ratio(self, name: str) -> float:
        """How many times as long a contender took as we did."""
        return self.timings[name].middle / self.timings[OURS].middle

    @property
    def of_floor(self) -> float:
        """Our speed as a fraction of the highest possible."""
        return self.floor.middle / self.timings[OURS].middle


def measure(
    setting: Setting,
    workload: Workload,
    contenders: Mapping[str, Contender],
    *,
    rounds: int,
    tell: Callable[[str], None],
) -> Result:
    """Let all of them work, round by round; a `RuntimeError` says who did not do the same work as we."""
    seconds: dict[str, list[float]] = {}
    floors: list[float] = []
    works: dict[str, Took] = {}
    for number in range(rounds):
        said = f"{setting.path.stem}, {workload.name}, round {number + 1} of {rounds}"
        around = [floor(setting, workload)]
        for name, contender in contenders.items():
            took = contender(setting, workload)
            if took is None:
                continue
            tell(f"{said}: {name} {took.seconds:.1f} s")
            seconds.setdefault(name, []).append(took.seconds)
            works[name] = took
            if name == OURS:
                # A machine is not as fast at one minute as at another: the floor is that before and behind our time.
                around.append(floor(setting, workload))
        floors.append(mean(around))
        tell(f"{said}: floor {floors[-1]:.1f} s")
    _check(workload, works)
    return Result(
        workload=workload.name,
        why=workload.why,
        requests=len(workload.requests),
        work=works[OURS],
        floor=Timing(seconds=tuple(floors)),
        timings={name: Timing(seconds=tuple(each)) for name, each in seconds.items()},
    )


def _check(workload: Workload, works: Mapping[str, Took]) -> None:
    """A ratio between different pieces of work would say nothing.

    Only of scored continuations may anyone feed more tokens than we: those with a common beginning need it once.
    """
    own = works[OURS]
    for name, took in works.items():
        if name == PROMPTS_ALONE:
            continue
        enough = took.new_tokens >= own.new_tokens if workload.scored else took.new_tokens == own.new_tokens
        if took.prompt_tokens != own.prompt_tokens or not enough:
            msg = (
                f"{workload.name}: {name} read {took.prompt_tokens} prompt tokens and answered with {took.new_tokens}; "
                f"expected as many as ours, {own.prompt_tokens} and {own.new_tokens}"
            )
            raise RuntimeError(msg)


def rows(results: Sequence[Result], names: Sequence[str]) -> list[list[object]]:
    """A row for each workload: its size, our seconds, our share of the floor, and everyone's ratio."""
    return [
        [
            each.workload,
            each.requests,
            each.work.prompt_tokens,
            each.work.new_tokens,
            f"{each.timings[OURS].middle:.2f} s",
            f"{each.of_floor:.2f}",
            *(_said(each, name) for name in names),
        ]
        for each in results
    ]


def _said(result: Result, name: str) -> str:
    return f"{result.ratio(name):.2f} ±{result.timings[name].spread:.0%}" if name in result.timings else ""
