"""`python -m tools.statistics.power`: power of the gate `no_regression` on real changed runs.

The bundled model answers all rows of two scenarios, unchanged and under 72 changes (`changes.py`; ten minutes on one
core, once). These rows are the population, so the cost of each change is known. Samples of n rows are drawn from them
with replacement, and both runs are compared on each. The gate's rule is compared with McNemar's mid-p test alone, the
test of the refitted Brier score alone, and Holm's procedure over both.

`swapped` draws from the rows and from their copies with both answers exchanged, where neither system is better: there a
FAIL is a false alarm. `--half` uses only every other change, to validate on one half what was fitted on the other.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
from tabulate import tabulate

from pytest_puma.core import REGRESSION_LEVEL
from tools.statistics.changed_run import BASE, ROWS, answers
from tools.statistics.changes import changes
from tools.statistics.evidence import RULES, Evidence, Pair, Rule, Side, Values, evidence, normal_score

SIZES = (50, 100, 200)
#: Maximum loss of a harmless change, in points of accuracy.
HARMLESS = 1.0


def main() -> None:
    """Read the command line, simulate, print."""
    parser = argparse.ArgumentParser(prog="python -m tools.statistics.power", description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path(".puma/changes"), help="answers of the runs (%(default)s)")
    parser.add_argument("--draws", type=int, default=1000, help="samples of each size (%(default)s)")
    parser.add_argument("--half", type=int, choices=(1, 2), help="only every other change")
    options = parser.parse_args()
    pairs = [pair for scenario in ROWS for pair in _pairs(scenario, options.cache, options.half)]
    print(_catalogue(pairs), _powers(pairs, options.draws), _constants(pairs, options.draws), sep="\n\n")


def _pairs(scenario: str, cache: Path, half: int | None) -> Iterator[Pair]:
    base = answers(scenario, BASE, cache)
    gold = np.unique([each.gold for each in base], return_counts=True)[1] / len(base)
    runs = changes(scenario)
    for changed in runs if half is None else runs[half - 1 :: 2]:
        new = answers(scenario, changed, cache)
        sides = (Side.of(scenario, each) for each in (base, new))
        old, now = sides
        yield Pair(
            name=f"{scenario}: {changed.name}", kind=changed.kind, old=old, new=now, prior=1 - float(gold @ gold)
        )


# -- the tables --------------------------------------------------------------------------------------


def draw(rows: int, size: int, draws: int, seed: int) -> Values:
    """Return how often each row is in each sample of a size: samples x rows."""
    return np.random.default_rng([seed, size]).multinomial(size, np.full(rows, 1 / rows), draws).astype(np.float64)


def _sampled(pair: Pair, size: int, draws: int) -> Evidence:
    return evidence(pair, draw(len(pair.old.right), size, draws, 0))


def _groups(pairs: Collection[Pair]) -> dict[str, list[Pair]]:
    """The changes by their cost."""
    words = [each for each in pairs if each.kind in {"wording", "text"}]
    others = [each for each in pairs if each.kind != "temperature"]
    return {
        "harmless": [each for each in words if abs(round(each.fall, 2)) <= HARMLESS],
        "temperature": [each for each in pairs if each.kind == "temperature"],
        "falls of 1.5-3.5": _between(others, 1.5, 3.5),
        "falls of 4-7": _between(others, 4, 7),
        "falls over 7": _between(others, 7.01, 100),
    }


def _between(pairs: Collection[Pair], low: float, high: float) -> list[Pair]:
    return [each for each in pairs if low <= round(each.fall, 2) <= high]


def _powers(pairs: Sequence[Pair], draws: int) -> str:
    """The share of samples in which each rule FAILs, averaged over the runs of a group."""
    columns = {
        f"{name} ({len(group)})": [[_sampled(pair, size, draws) for pair in group] for size in SIZES]
        for name, group in _groups(pairs).items()
        if group
    }
    others = [each for each in pairs if each.kind != "temperature"]
    columns["swapped"] = [[_sampled(pair.swapped(), size, draws) for pair in others] for size in SIZES]
    rows = [[name, *(_shares(samples, rule) for samples in columns.values())] for name, rule in RULES.items()]
    table = tabulate(rows, headers=["rule", *columns], disable_numparse=True, tablefmt="github")
    return f"FAIL at n = {' / '.join(map(str, SIZES))} (runs)\n\n{table}"


def _shares(samples: Sequence[Sequence[Evidence]], rule: Rule) -> str:
    shares = (np.mean([(rule(each) <= REGRESSION_LEVEL).mean() for each in size]) for size in samples)
    return " / ".join(f"{share:.3f}" for share in shares)


def _constants(pairs: Sequence[Pair], draws: int) -> str:
    """The measurements behind the constants of the gate."""
    groups = {name: group for name, group in _groups(pairs).items() if group}
    falls = [each for each in pairs if each.kind != "temperature" and HARMLESS <= each.fall <= 10]  # noqa: PLR2004
    middle = groups.get("falls of 4-7", [])
    changed = [float((each.old.right != each.new.right).mean()) for each in middle]
    lines = [
        (
            f"correlation of the two normal scores at n = 100, falls of 1-10 points: "
            f"{_quartiles([_correlation(each, draws) for each in falls])}"
        ),
        f"share of the answers that change between right and wrong, falls of 4-7: {_quartiles(changed)}",
    ]
    for name, group in groups.items():
        lines.append(f"rise of the refitted Brier score, {name}: {_quartiles([_rise(each) for each in group])}")
    for factor in (1.0, 1.25, 1.5, 1.75, 2.0) if middle else ():
        sizes = [round(factor * size) for size in SIZES]
        shares = _shares([[_sampled(each, size, draws) for each in middle] for size in sizes], RULES["McNemar mid-p"])
        lines.append(f"McNemar mid-p with {factor:.2f} times as many samples, falls of 4-7: {shares}")
    return "\n".join(lines)


def _correlation(pair: Pair, draws: int) -> float:
    tests = _sampled(pair, 100, draws)
    both = ~np.isnan(tests.brier)
    if both.sum() <= 2:  # noqa: PLR2004 - no correlation of two points
        return 0.0
    return float(np.corrcoef(normal_score(tests.answers[both]), normal_score(tests.brier[both]))[0, 1])


def _rise(pair: Pair) -> float:
    before, after = (each.losses.mean(axis=1).min() for each in (pair.old, pair.new))
    return float(after - before)


def _quartiles(values: Sequence[float]) -> str:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]) if values else (np.nan,) * 3
    return f"median {middle:.3f} (quartiles {low:.3f}, {high:.3f}; maximum {max(values, default=np.nan):.3f})"


def _catalogue(pairs: Sequence[Pair]) -> str:
    rows = [
        [
            pair.name,
            pair.kind,
            f"{pair.fall:+.1f}",
            int((pair.old.right & ~pair.new.right).sum()),
            int((pair.new.right & ~pair.old.right).sum()),
            f"{_rise(pair):+.3f}",
        ]
        for pair in sorted(pairs, key=lambda each: each.fall)
    ]
    return tabulate(rows, headers=["change", "kind", "fall", "worse", "better", "Brier rise"], disable_numparse=True)


if __name__ == "__main__":
    main()
