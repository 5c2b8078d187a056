r"""Short answers that need several steps: GSM8K, AIME, MATH, MATH-500 and BIG-Bench-Hard.

{"question": "A shop has 3 boxes of 4 pears. How many?", "answer": "There are 3*4=<<3*4=12>>12 pears.\n#### 12"}
{"problem": ..., "solution": "... \\boxed{12}.", "answer": "12", "subject": "Algebra", "level": 2, "unique_id": ...}
{"problem": ..., "answer": "070"}                                                      AIME: from 0 to 999
test/algebra/1.json    {"problem": ..., "level": "Level 2", "type": "Algebra", "solution": "... \\boxed{12}."}
snarks.json    {"canary": ..., "examples": [{"input": "...\nOptions:\n(A) ...\n(B) ...", "target": "(A)"}, ...]}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from pytest_puma.core import DataError, Metric, Sample
from pytest_puma.replies.letters import names_another
from pytest_puma.replies.readers import boxed
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import CompletionBenchmark, PartedFiles, TaskFiles, nested_records

_MARK = "####"
_OPTION = re.compile(r"\(?([A-Z])\)?(?:[.:)\s].*)?", re.DOTALL)
_ANSWER = re.compile(r".*\banswer(?: is|:)\s*:?\s*(.+)", re.IGNORECASE | re.DOTALL)
#: A whole number; copies of AIME have one as an angle in degrees: `336^\circ`.
_WHOLE = re.compile(r"([0-9]{1,3})(?:\^\{?\\circ\}?)?")
#: A box without braces, and the other command that MATH has: `\boxed 5`, `\fbox{5}`.
_BARE_BOX = re.compile(r"\\(?:boxed\s|fbox\{)([^$}]+)")
_MARKS = " \t\r\n*_`\"'"


class Gsm8k(CompletionBenchmark):
    """GSM8K (Cobbe et al., 2021): word problems; the answer of a solution stands behind `####`.

    The last or marked number is compared; examples show whole solutions.
    """

    name = "gsm8k"
    text_fields = ("question",)
    stop = ("\nQuestion:",)
    max_tokens = 512
    strategies = ("few_shot_5",)
    scores: ClassVar[tuple[str | Metric, ...]] = ("number_match",)
    instruction_pattern = "Question: {question}"
    cue_pattern = "Answer:"
    truth_column = "number"
    target_pattern = "{answer}"
    contents = "test.jsonl, 749,738 bytes: 1,319 problems; and train.jsonl, 4,166,206 bytes"
    licence = "MIT"
    hub = "openai/gsm8k:main/*"
    original = "grade_school_math/data of https://github.com/openai/grade-school-math"
    files = ("test.jsonl", "main/test-*.parquet")
    fewshot_files = ("train.jsonl", "main/train-*.parquet")

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with its number."""
        answer = fields.text(record, "answer")
        _, mark, number = answer.rpartition(_MARK)
        if not mark or not number.strip():
            msg = f"column 'answer': found {answer[-40:]!r} at its end, expected a solution that ends with {_MARK} 12"
            raise DataError(msg)
        number = number.strip().replace(",", "")
        return {"question": fields.text(record, "question"), "answer": answer, "number": number}


class Gsm8kBpb(Gsm8k):
    """The bits per byte of the whole solutions of GSM8K, beside the answers."""

    name = "gsm8k_bpb"
    scores = ("bits_per_byte", "number_match")
    truth_column = "answer"


class Aime(CompletionBenchmark):
    """The American Invitational Mathematics Examination: problems whose answers are whole numbers from 0 to 999.

    There are 30 in a year, so ask each several times: `repeats=8, temperature=0.6`.
    """

    text_fields = ("problem",)
    max_tokens = 4096
    scores = ("number_match",)
    preamble_pattern = r"Solve the problem. The answer is a whole number from 0 to 999. Put it into \boxed{{}}."
    instruction_pattern = "Problem:\n{problem}"
    cue_pattern = "Solution:"
    contents = "30 problems"
    licence = "problems of the Mathematical Association of America; that of the files is on their page"
    original = "https://artofproblemsolving.com/wiki, as text"

    def examples(self) -> None:
        """None: there is one split; problems that are not evaluated are the examples."""

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with its answer as a number without zeros before it."""
        answer = fields.value(record, object, "answer", "Answer")
        whole = _WHOLE.fullmatch(str(answer).strip())
        if whole is None:
            msg = f"column 'answer': found {answer!r}, expected a whole number from 0 to 999"
            raise DataError(msg)
        return {"problem": fields.text(record, "problem", "Problem", "question"), "answer": str(int(whole[1]))}


class Aime2024(Aime):
    """The two examinations of 2024."""

    name = "aime2024"
    split = "train"
    hub = "HuggingFaceH4/aime_2024"


class Aime2025(Aime):
    """Those of 2025."""

    name = "aime2025"
    hub = "math-ai/aime25"


class Aime2026(Aime):
    """Those of 2026."""

    name = "aime2026"
    hub = "math-ai/aime26"


class Math(PartedFiles, CompletionBenchmark):
    """MATH (Hendrycks et al., 2021): competition problems of seven subjects in five levels, with Minerva's prompt.

    Examples are of the same subject and level, and end with Minerva's line; its own four are not part of the prompt.
    """

    name = "math"
    text_fields = ("problem",)
    group_columns = ("subject", "level")
    part_files = ("{split}/*/*.json", "*/{split}-*.parquet")
    stop = ("\nProblem:",)
    max_tokens = 1024
    strategies = ("few_shot_4",)
    scores: ClassVar[tuple[str | Metric, ...]] = ("minerva", "minerva.flex", "math_match")
    instruction_pattern = "Problem:\n{problem}\n"
    cue_pattern = "Solution:"
    target_pattern = "{solution}\nFinal Answer: The final answer is ${answer}$. I hope it is correct."
    contents = "5,000 problems and 7,500 examples"
    licence = "MIT"
    hub = "EleutherAI/hendrycks_math:algebra/*"
    original = "MATH.tar of https://github.com/hendrycks/math"

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with the boxed answer of its solution."""
        solution = fields.text(record, "solution")
        answer = boxed(solution) or (_BARE_BOX.findall(solution) or [""])[-1].strip()
        if not answer:
            msg = rf"column 'solution': found {solution[-40:]!r} at its end, expected a solution with \boxed{{12}}"
            raise DataError(msg)
        texts = {"problem": fields.text(record, "problem"), "solution": solution, "answer": answer}
        return {**texts, "subject": fields.text(record, "type"), "level": fields.text(record, "level")}

    def published_in(self, file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        """Read the problem of a JSON file, or a file of the hub."""
        if file.suffix == ".json":
            expected = '{"problem": ..., "solution": ...}'
            yield from nested_records(
                file, lambda content: [{**content}], row="problem", system="MATH", expected=expected
            )
        else:
            yield from super().published_in(file)


class MathBpb(Math):
    """The bits per byte of the whole solutions of MATH, beside the answers."""

    name = "math_bpb"
    scores = ("bits_per_byte", "minerva")
    truth_column = "solution"
    target_pattern = "{solution}"


class Math500(CompletionBenchmark):
    """MATH-500 (Lightman et al., 2023): 500 problems of MATH (Hendrycks et al., 2021) in LaTeX, in seven subjects.

    The boxed or last expression of a solution is compared as mathematics.
    """

    name = "math500"
    key = "unique_id"
    text_fields = ("problem",)
    group_columns = ("subject", "level")
    stop = ("\nProblem:",)
    max_tokens = 1024
    scores = ("math_match",)
    preamble_pattern = r"Solve the problem. Put the final answer into \boxed{{}}."
    instruction_pattern = "Problem:\n{problem}"
    cue_pattern = "Solution:"
    target_pattern = "{solution}"
    contents = "test.jsonl, 446,564 bytes: 500 problems"
    licence = "MIT"
    hub = "HuggingFaceH4/MATH-500"
    original = "prm800k/math_splits/test.jsonl of https://github.com/openai/prm800k"

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with its level as a group."""
        texts = {name: fields.text(record, name) for name in ("unique_id", "problem", "solution", "answer", "subject")}
        return texts | {"level": str(fields.value(record, object, "level"))}


class BigBenchHard(TaskFiles):
    """BIG-Bench-Hard (Suzgun et al., 2022): 27 tasks on which earlier models were worse than people.

    Short answers are compared exactly: an option as `(A)`, a word, a number or a list. The examples are other questions
    of the task, without the chains of thought that the authors publish beside the data.
    """

    name = "bbh"
    pattern, form, expected = "*.json", "JSON", "one for each task, as snarks.json"
    stop = ("\nQ:",)
    strategies = ("few_shot_3",)
    instruction_pattern = "Q: {input}"
    cue_pattern = "A:"
    truth_column = "target"
    contents = "the folder of 27 JSON files with 6,511 questions, or one of them"
    licence = "MIT"
    original = "bbh/ of https://github.com/suzgunmirac/BIG-Bench-Hard"

    def post_process(self, text: str, sample: Sample) -> str | None:
        """Return what follows the last `answer is`, else the first line; of options, a single one as `(A)`."""
        stated = _ANSWER.fullmatch(text)
        answer = (stated[1] if stated else text).strip(_MARKS).partition("\n")[0].strip(_MARKS).removesuffix(".")
        option = _OPTION.fullmatch(answer) if "Options:" in sample.fields["input"] else None
        alone = option and not names_another(answer, option.end(1))
        return (f"({option[1]})" if option and alone else answer.strip(_MARKS)) or None

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record."""
        return {name: fields.text(record, name).strip() for name in ("task", "input", "target")}

    def published(self, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        """Read the examples of each file; its name is the task."""
        if path.is_file() and path.suffix != ".json":
            yield from super().published(path)
            return
        expected = '{"examples": [{"input": ..., "target": ...}]}'
        for file in self.parts(path):
            task = {"task": file.stem.removeprefix("bbh_")}
            records = nested_records(file, _examples, row="example", system="BIG-Bench-Hard", expected=expected)
            yield from ((f"{file.name}, {row}", task | record) for row, record in records)


def _examples(content: Any) -> list[dict[str, Any]]:
    return [dict(example) for example in content["examples"]]
