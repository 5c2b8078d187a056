"""From a scenario's rows to checked samples and few-shot examples. Trusts no scenario: users write them too."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeAlias, get_args

from pytest_puma.core import DataError, Sample, Scenario, SettingsError
from pytest_puma.core.scenario import Duplicates
from pytest_puma.datasets.fields import first_rows, groups_of
from pytest_puma.datasets.frames import Frame, check_columns, row_names, to_records
from pytest_puma.datasets.order import content_id, grouped, plain_text, rank, rounds
from pytest_puma.phrases import one_line, shown

#: The value of each group column.
Group: TypeAlias = tuple[str, ...]

# "All rows" of a scenario whose unevaluated rows are the examples. One that makes its rows up would never end.
_ALL_ROWS = 10_000
# Characters. A pasted log as an example would push every sample out of the context: such rows come last.
_LONG = 2_000
# Characters of a row in a message.
_BEGINNING = 80
# A missing gold answer as text, also of a scenario that converts it.
_MISSING = frozenset({"", "None", "nan"})


def draw(scenario: Scenario, n: int, seed: int, subjects: Collection[str] = ()) -> tuple[Sample, ...]:
    """The samples to evaluate: at most `n`, fewer where the scenario has fewer rows.

    `subjects` selects rows by their groups (see `groups`). Rows that are equal are numbered (`id`, `id#2`), unless the
    scenario drops them or declares a key.
    A `DataError` names the scenario and the row when a key is missing or there twice, when a gold
    answer is missing or not valid, and when `sample` gives no rows, too many, or no data frame.
    """
    samples = _samples(scenario, first_rows(scenario, n, seed, subjects))
    if not 0 < len(samples) <= n:
        msg = f"scenario {scenario.name!r}: sample({n}) returned {len(samples)} rows; expected 1 to {n}"
        raise DataError(msg)
    return samples


def example_rows(scenario: Scenario, k: int, seed: int, evaluated: Collection[str]) -> tuple[dict[str, Any], ...]:
    """`k` few-shot examples, each its fields with `gold_label` and `rationale` (`''` where there is none).

    Labels, if there are such, alternate, the commonest first, so that 3 examples are the first 3 of 5. They
    come from the scenario's pool, else from its rows that are not evaluated. None is an evaluated sample (`evaluated`
    holds their ids) or shares a unit with one, or with another example. A `SettingsError` gives their
    number when they are too few.
    """
    return _examples(scenario, k, seed, apart(_candidates(scenario, seed, evaluated)), len(evaluated))


def examples_by_group(
    scenario: Scenario, k: int, seed: int, samples: Sequence[Sample]
) -> dict[Group, tuple[dict[str, Any], ...]]:
    """`k` few-shot examples for the samples of each group, as `example_rows` chooses them, from rows of the same group.

    Without group columns all samples are one group.
    """
    candidates = candidates_by_group(scenario, seed, samples)
    numbers = Counter(sample.group for sample in samples)
    return {group: _examples(scenario, k, seed, apart(candidates[group]), n, group) for group, n in numbers.items()}


def candidates_by_group(scenario: Scenario, seed: int, samples: Sequence[Sample]) -> dict[Group, list[Sample]]:
    """The rows of each group that may be examples: none shares a unit with a sample. In the order of being chosen."""
    return grouped(_candidates(scenario, seed, {sample.id for sample in samples}), lambda sample: sample.group)


def _examples(  # noqa: PLR0917 - the last two are for the message
    scenario: Scenario, k: int, seed: int, candidates: Iterable[Sample], evaluated: int, group: Group = ()
) -> tuple[dict[str, Any], ...]:
    in_order = _by_label(candidates, seed) if scenario.kind.form in {"labels", "numbers"} else candidates
    return first_examples(scenario, k, in_order, evaluated, group)


def first_examples(
    scenario: Scenario, k: int, candidates: Iterable[Sample], evaluated: int, group: Group = ()
) -> tuple[dict[str, Any], ...]:
    """The first `k` candidates as examples; a `SettingsError` if there are fewer for these `evaluated` samples."""
    chosen = tuple(islice(candidates, k))
    if len(chosen) < k:
        where = f", group {', '.join(group)!r}" if group else ""
        msg = (
            f"scenario {scenario.name!r}{where}: {k} examples requested, {len(chosen)} there that are not among the "
            f"{evaluated} samples; ask for fewer examples or fewer samples, or give the scenario examples()"
        )
        raise SettingsError(msg)
    return tuple(
        {**sample.fields, "gold_label": sample.gold, "rationale": sample.fields.get("rationale") or ""}
        for sample in chosen
    )


def _by_label(candidates: Iterable[Sample], seed: int) -> Iterator[Sample]:
    """The candidates, whose labels alternate."""
    labels = grouped(candidates, lambda sample: sample.gold)
    order = sorted(labels, key=lambda label: (-len(labels[label]), rank(seed, "label", label)))
    return rounds(labels, lambda _: order)


def _candidates(scenario: Scenario, seed: int, evaluated: Collection[str]) -> Iterator[Sample]:
    """Every row that shares no unit with an evaluated one, in the order of being chosen."""
    pool = scenario.examples()
    if pool is None:
        # From the far end of the order, so that more samples do not change the examples.
        rows = _samples(scenario, scenario.sample(max(_ALL_ROWS, 2 * len(evaluated)), seed))[::-1]
        rows = tuple(sorted(rows, key=lambda sample: is_long(scenario, sample)))
    else:
        rows = tuple(sorted(_samples(scenario, pool), key=lambda sample: rank(seed, "example", sample.id)))
    # The ids of another split may be those of other rows: what an example asks is compared later.
    ids = evaluated if pool is None or not scenario.composes else ()
    taken = {unit for sample in rows if sample.id in ids for unit in sample.units}
    return (sample for sample in rows if sample.id not in ids and taken.isdisjoint(sample.units))


def apart(candidates: Iterable[Sample]) -> Iterator[Sample]:
    """The candidates for one prompt: those that share no unit with an earlier one."""
    taken: set[str] = set()
    for sample in candidates:
        if taken.isdisjoint(sample.units):
            taken.update(sample.units)
            yield sample


def is_long(scenario: Scenario, sample: Sample) -> bool:
    """Whether the texts of a row would fill a prompt."""
    return sum(len(plain_text(sample.fields.get(name))) for name in scenario.text_fields) > _LONG


def question_of(scenario: Scenario, sample: Sample) -> str:
    """The question that a scenario composes of a sample; a `DataError` names a row without one."""
    return str(_called(scenario, sample.id, dict(sample.fields), "question_text", sample.choices))


def _samples(scenario: Scenario, frame: Frame) -> tuple[Sample, ...]:
    check_columns(scenario, frame)
    labels = tuple(scenario.valid_labels())
    rows = zip(to_records(frame), row_names(frame), strict=True)
    return tuple(_distinct(scenario, (_sample(scenario, row, labels, position) for row, position in rows)))


def _distinct(scenario: Scenario, samples: Iterable[Sample]) -> Iterator[Sample]:
    """The samples, of which no two have one id: equal rows are numbered, or the first alone is kept.

    Those that are numbered keep the unit of the first, as they are not independent of it.
    """
    drop = _drops(scenario)
    first: dict[str, Sample] = {}
    times: Counter[str] = Counter()
    for sample in samples:
        earlier = first.setdefault(sample.id, sample)
        if earlier is sample:
            yield sample
            continue
        times[sample.id] += 1
        if scenario.key is not None and not (drop and _are_equal(earlier, sample)):
            remedy = '; duplicates = "drop" leaves out equal rows' if _are_equal(earlier, sample) else ""
            fault = f"{earlier.row} and {sample.row} have this {scenario.key}; each row needs its own{remedy}"
            raise _fault(scenario, sample.id, fault)
        elif not drop:
            yield replace(sample, id=f"{sample.id}#{times[sample.id] + 1}", equal_row=earlier.row)


def _drops(scenario: Scenario) -> bool:
    if scenario.duplicates not in get_args(Duplicates):
        msg = f"scenario {scenario.name!r}: duplicates is {scenario.duplicates!r}; expected 'number' or 'drop'"
        raise SettingsError(msg)
    return scenario.duplicates == "drop"


def _are_equal(first: Sample, second: Sample) -> bool:
    return content_id(first.fields) == content_id(second.fields)


def _sample(scenario: Scenario, row: dict[str, Any], labels: tuple[str, ...], position: str) -> Sample:
    fields = row | {name: "" for name in scenario.text_fields if name in row and row[name] is None}
    key = content_id(fields) if scenario.key is None else plain_text(fields[scenario.key])
    if not key:
        raise _fault(scenario, shown(fields), f"there is no {scenario.key}; each row needs its own")
    units = tuple(plain_text(fields[column]) for column in scenario.unit_columns) or (key,)
    gold = _gold(scenario, key, fields, labels)
    return Sample(
        id=key,
        fields=fields,
        gold=gold,
        units=units,
        row=position,
        groups=groups_of(scenario, fields),
        references=tuple(_several(scenario, key, fields, "references")) or ((gold,) if gold else ()),
        choices=tuple(_several(scenario, key, fields, "options")),
        context=_called(scenario, key, fields, "context"),
    )


def _gold(scenario: Scenario, key: str, fields: dict[str, Any], labels: tuple[str, ...]) -> str:
    label = plain_text(_called(scenario, key, fields, "gold_label"))
    gold = scenario.kind.gold(label, labels)
    if gold is None:
        found = "missing" if label in _MISSING else repr(label)
        fault = f"its gold answer is {found}, expected {scenario.kind.expected(labels)}"
        raise _fault_of_row(scenario, key, fields, fault)
    return gold


def _called(scenario: Scenario, key: str, fields: dict[str, Any], method: str, *more: object) -> Any:
    """The value of a method of the scenario for a row."""
    try:
        return getattr(scenario, method)(fields, *more)
    except DataError as error:
        raise _fault_of_row(scenario, key, fields, str(error)) from error
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, StopIteration) as error:
        name = _failed(scenario, error) or method
        fault = f"{name} failed with {error!r}; the row has: {', '.join(fields)}"
        raise _fault_of_row(scenario, key, fields, fault) from error


def _several(scenario: Scenario, key: str, fields: dict[str, Any], method: str) -> Any:
    """The values of a method of the scenario for a row. A text would be read letter by letter."""
    values = _called(scenario, key, fields, method)
    if isinstance(values, str):
        fault = f"{method}() returned the text {values!r}; expected a list"
        raise _fault_of_row(scenario, key, fields, fault)
    return values


def _failed(scenario: Scenario, error: Exception) -> str:
    """The name of the innermost method of the scenario that raised the error."""
    names = [frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)]
    return next((name for name in reversed(names) if callable(getattr(type(scenario), name, None))), "")


def _fault_of_row(scenario: Scenario, key: str, fields: dict[str, Any], fault: str) -> DataError:
    """The error of a row. Nobody finds a row by a hash alone, so the beginning of its text follows."""
    if scenario.key is not None:
        return _fault(scenario, key, fault)
    text = one_line(" ".join(plain_text(fields.get(name)) for name in scenario.text_fields), _BEGINNING)
    return _fault(scenario, f"{key} ({repr(text) if text else one_line(fields, _BEGINNING)})", fault)


def _fault(scenario: Scenario, row: str, fault: str) -> DataError:
    return DataError(f"scenario {scenario.name!r}, row {row}: {fault}")
