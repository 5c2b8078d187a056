"""Word problems with a solution whose last line is `#### ` and the answer.

python -m tools.data.arithmetic_word > data/arithmetic_word.jsonl
python -m tools.data.arithmetic_word --dev > data/arithmetic_word_dev.jsonl

Each template draws its numbers and states the calculation of each step as text; the results are computed from
that text.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from typing import Any, TypeAlias

from tools.data.rows import json_lines

#: A question, and for each step of its solution a sentence that opens it and the calculation.
Problem: TypeAlias = tuple[str, list[tuple[str, str]]]
Template: TypeAlias = Callable[[Random, str], Problem]

NAMES = ("Alma", "Bruno", "Clara", "Dario", "Edda", "Felix", "Greta", "Hasan", "Ines", "Jonas", "Kira", "Luis")
DEV_NAMES = ("Mona", "Nico", "Olga", "Paul")
#: Problems of one, two and three steps.
COUNTS, DEV_COUNTS = (40, 40, 20), (3, 3, 2)


def _bought(random: Random, name: str) -> Problem:
    a, b = random.randint(3, 20), random.randint(2, 15)
    question = f"{name} has {a} stamps and buys {b} more. How many stamps does {name} have now?"
    return question, [("The old and the new stamps together are", f"{a} + {b}")]


def _given(random: Random, name: str) -> Problem:
    b = random.randint(2, 12)
    a = b + random.randint(3, 25)
    question = f"There are {a} plums in a bowl. {name} eats {b} of them. How many plums are left?"
    return question, [("The plums that are left are", f"{a} - {b}")]


def _packs(random: Random, name: str) -> Problem:
    a, b = random.randint(2, 9), random.randint(3, 12)
    question = f"{name} buys {a} packs of pencils. Each pack holds {b} pencils. How many pencils are that in all?"
    return question, [("All packs together hold", f"{a} * {b}")]


def _shared(random: Random, name: str) -> Problem:
    b, each = random.randint(2, 8), random.randint(3, 12)
    question = f"{name} shares {b * each} cards equally among {b} friends. How many cards does each friend get?"
    return question, [("Each friend gets", f"{b * each} / {b}")]


def _older(random: Random, name: str) -> Problem:
    a, b = random.randint(5, 40), random.randint(2, 19)
    question = f"{name} is {a} years old. A cousin is {b} years older. How old is the cousin?"
    return question, [("The age of the cousin is", f"{a} + {b}")]


def _shorter(random: Random, name: str) -> Problem:
    b = random.randint(3, 30)
    a = b + random.randint(5, 60)
    question = (
        f"A ribbon is {a} centimetres long. {name} cuts off {b} centimetres. How long is the rest, in centimetres?"
    )
    return question, [("The length of the rest is", f"{a} - {b}")]


def _paid(random: Random, name: str) -> Problem:
    a, b, c = random.randint(2, 6), random.randint(2, 9), random.randint(2, 10)
    question = f"{name} buys {a} notebooks for {b} euros each and a pen for {c} euros. How many euros does {name} pay?"
    return question, [("The notebooks cost", f"{a} * {b}"), ("With the pen that makes", f"{a * b} + {c}")]


def _change(random: Random, name: str) -> Problem:
    a, b = random.randint(2, 6), random.randint(2, 7)
    note = 50
    question = (
        f"A ticket costs {b} euros. {name} buys {a} tickets and pays with a note of {note} euros. "
        f"How many euros does {name} get back?"
    )
    return question, [("The tickets cost", f"{a} * {b}"), ("The change is", f"{note} - {a * b}")]


def _bus(random: Random, name: str) -> Problem:
    b, c = random.randint(3, 12), random.randint(2, 14)
    a = b + random.randint(5, 25)
    question = (
        f"{name} drives a bus with {a} passengers. At a stop {b} get off and {c} get on. "
        f"How many passengers are in the bus then?"
    )
    return question, [
        ("After some got off, there are", f"{a} - {b}"),
        ("After others got on, there are", f"{a - b} + {c}"),
    ]


def _boxes(random: Random, name: str) -> Problem:
    b, boxes, broken = random.randint(3, 8), random.randint(3, 9), random.randint(2, 9)
    total = b * boxes + broken
    question = (
        f"{name} collects {total} eggs, but {broken} of them are broken. "
        f"The others go into boxes of {b}. How many boxes does {name} fill?"
    )
    return question, [
        ("The eggs that are not broken are", f"{total} - {broken}"),
        ("The number of boxes is", f"{b * boxes} / {b}"),
    ]


def _pages(random: Random, name: str) -> Problem:
    a, days = random.randint(4, 15), random.randint(2, 6)
    total = a * days + random.randint(10, 60)
    question = (
        f"A book has {total} pages. {name} reads {a} pages a day for {days} days. How many pages are left to read?"
    )
    return question, [
        ("The pages that were read are", f"{a} * {days}"),
        ("The pages that are left are", f"{total} - {a * days}"),
    ]


def _team(random: Random, name: str) -> Problem:
    a, b, c = random.randint(6, 20), random.randint(6, 20), random.randint(2, 4)
    a, b = a * c, b * c
    question = (
        f"{name} divides {a} girls and {b} boys into {c} teams of equal size. How many children are in each team?"
    )
    return question, [("The children together are", f"{a} + {b}"), ("Each team has", f"{a + b} / {c}")]


def _market(random: Random, name: str) -> Problem:
    a, b, c, d = (random.randint(2, 9) for _ in range(4))
    question = (
        f"At the market {name} sells {a} melons for {b} euros each and {c} cakes for {d} euros each. "
        f"How many euros does {name} take in?"
    )
    return question, [
        ("The melons bring", f"{a} * {b}"),
        ("The cakes bring", f"{c} * {d}"),
        ("Together that is", f"{a * b} + {c * d}"),
    ]


def _savings(random: Random, name: str) -> Problem:
    a, weeks, c, gift = random.randint(3, 12), random.randint(3, 8), random.randint(5, 20), random.randint(10, 40)
    question = (
        f"{name} saves {a} euros a week for {weeks} weeks, gets {gift} euros as a gift and spends {c} euros. "
        f"How many euros does {name} have then?"
    )
    return question, [
        ("The savings are", f"{a} * {weeks}"),
        ("With the gift that is", f"{a * weeks} + {gift}"),
        ("After spending, there are", f"{a * weeks + gift} - {c}"),
    ]


def _shelves(random: Random, name: str) -> Problem:
    shelves, each, people = random.randint(2, 6), random.randint(2, 9), random.randint(2, 4)
    share = shelves * each // people + random.randint(2, 9)
    extra = people * share - shelves * each
    question = (
        f"{name} has {shelves} shelves with {each} books each, and {extra} books on the floor. "
        f"The books are shared equally among {people} people. How many books does each of them get?"
    )
    return question, [
        ("The shelves hold", f"{shelves} * {each}"),
        ("All books together are", f"{shelves * each} + {extra}"),
        ("Each person gets", f"{shelves * each + extra} / {people}"),
    ]


ONE: tuple[Template, ...] = (_bought, _given, _packs, _shared, _older, _shorter)
TWO: tuple[Template, ...] = (_paid, _change, _bus, _boxes, _pages, _team)
THREE: tuple[Template, ...] = (_market, _savings, _shelves)
_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "/": int.__floordiv__,
}


def rows(*, dev: bool = False) -> Iterator[dict[str, Any]]:
    """All problems; the templates of a number of steps alternate.

    No two differ only in the name, also not one of the examples and an evaluated one.
    """
    names, counts, prefix = (DEV_NAMES, DEV_COUNTS, "dev-") if dev else (NAMES, COUNTS, "")
    random = Random(f"arithmetic {prefix}")  # noqa: S311 - no secret
    seen = {without_name(row["question"]) for row in rows(dev=True)} if not dev else set()
    made = count(1)
    for templates, total in zip((ONE, TWO, THREE), counts, strict=True):
        for number in range(total):
            question, steps = _fresh(random, templates[number % len(templates)], names, seen)
            seen.add(without_name(question))
            values = [_value(calculation) for _, calculation in steps]
            lines = [f"{text} {each} = {value}." for (text, each), value in zip(steps, values, strict=True)]
            yield {
                "id": f"arithmetic-{prefix}{next(made):03}",
                "steps": len(steps),
                "question": question,
                "answer": "\n".join([*lines, f"#### {values[-1]}"]),
            }


def _fresh(random: Random, template: Template, names: tuple[str, ...], seen: set[str]) -> Problem:
    """A problem that is new, and whose result is no number of its question."""
    while True:
        question, steps = template(random, random.choice(names))
        if without_name(question) not in seen and str(_value(steps[-1][1])) not in re.findall(r"\d+", question):
            return question, steps


def without_name(question: str) -> str:
    """Return a question with a mark in place of the name."""
    return re.sub(rf"\b({'|'.join((*NAMES, *DEV_NAMES))})\b", "N", question)


def _value(calculation: str) -> int:
    left, operation, right = calculation.split()
    return _OPERATIONS[operation](int(left), int(right))


def main() -> None:
    """Write the rows to standard output."""
    parser = argparse.ArgumentParser(description="Write the word problems as JSON Lines.")
    parser.add_argument("--dev", action="store_true", help="the problems that are lent as examples")
    sys.stdout.write(json_lines(rows(dev=parser.parse_args().dev)))


if __name__ == "__main__":
    main()
