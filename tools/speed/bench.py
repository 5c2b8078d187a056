"""One measurement: every contender on one workload, interleaved over several rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median

from tools.speed.contenders import Contender, Setting, Work
from tools.speed.floor import floor
from tools.speed.workloads import Workload

#: The contender that all others are compared with.
OURS = "ours"
#: Ours with less work: its token counts differ.
PROMPTS_ALONE = "prompts alone"
#: Contenders that use our engine.
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
        """The longest round divided by the shortest, minus one."""
        return max(self.seconds) / min(self.seconds) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Result of one workload: the requests, the computed tokens, and the timings of the contenders and of the floor."""

    workload: str
    why: str
    requests: int
    work: Work
    floor: Timing
    timings: Mapping[str, Timing]

    def ratio(self, name: str) -> float:
        """Return a contender's time divided by ours."""
        return self.timings[name].middle / self.timings[OURS].middle

    @property
    def of_floor(self) -> float:
        """Our speed as a fraction of the maximum."""
        return self.floor.middle / self.timings[OURS].middle


def measure(
    setting: Setting,
    workload: Workload,
    contenders: Mapping[str, Contender],
    *,
    rounds: int,
    log: Callable[[str], None],
) -> Result:
    """Time all contenders, round by round; a `RuntimeError` names one that did not do the same work as ours."""
    seconds: dict[str, list[float]] = {}
    floors: list[float] = []
    works: dict[str, Work] = {}
    for number in range(rounds):
        title = f"{setting.path.stem}, {workload.name}, round {number + 1} of {rounds}"
        around = [floor(setting, workload)]
        for name, contender in contenders.items():
            work = contender(setting, workload)
            if work is None:
                continue
            log(f"{title}: {name} {work.seconds:.1f} s")
            seconds.setdefault(name, []).append(work.seconds)
            works[name] = work
            if name == OURS:
                # The speed of a machine varies over time: the floor is measured before and after ours.
                around.append(floor(setting, workload))
        floors.append(mean(around))
        log(f"{title}: floor {floors[-1]:.1f} s")
    _check(workload, works)
    return Result(
        workload=workload.name,
        why=workload.why,
        requests=len(workload.requests),
        work=works[OURS],
        floor=Timing(seconds=tuple(floors)),
        timings={name: Timing(seconds=tuple(each)) for name, each in seconds.items()},
    )


def _check(workload: Workload, works: Mapping[str, Work]) -> None:
    """Check that all contenders did the same work, else a ratio is meaningless.

    Others may compute more tokens of scored continuations: our engine computes a shared prefix once.
    """
    own = works[OURS]
    for name, work in works.items():
        if name == PROMPTS_ALONE:
            continue
        enough = work.new_tokens >= own.new_tokens if workload.scored else work.new_tokens == own.new_tokens
        if work.prompt_tokens != own.prompt_tokens or not enough:
            msg = (
                f"{workload.name}: {name} has {work.prompt_tokens} prompt tokens and {work.new_tokens} new ones; "
                f"expected as many as ours, {own.prompt_tokens} and {own.new_tokens}"
            )
            raise RuntimeError(msg)


def rows(results: Sequence[Result], names: Sequence[str]) -> list[list[object]]:
    """Return a row for each workload: its size, our seconds, our share of the floor, and the contenders' ratios."""
    return [
        [
            each.workload,
            each.requests,
            each.work.prompt_tokens,
            each.work.new_tokens,
            f"{each.timings[OURS].middle:.2f} s",
            f"{each.of_floor:.2f}",
            *(_ratio(each, name) for name in names),
        ]
        for each in results
    ]


def _ratio(result: Result, name: str) -> str:
    return f"{result.ratio(name):.2f} ±{result.timings[name].spread:.0%}" if name in result.timings else ""
