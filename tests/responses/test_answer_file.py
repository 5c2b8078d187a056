"""The file of answers of `recorded:`: what its lines mean, and each fault with its line."""

from __future__ import annotations

import hashlib
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_puma.core import DataError, Model
from pytest_puma.responses.answer_file import GivenAnswer, GivenAnswers, read_answers

RIGHT = '{"id": "a", "text": "x"}'


def read(folder: Path, content: str | bytes, **keys: str) -> GivenAnswers:
    path = folder / "answers.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_answers(Model(name="gpt4", path=path, source="answers", keys=tuple(keys.items())))


def lines(*entries: Any) -> str:
    return "".join(f"{json.dumps(entry)}\n" for entry in entries)


def parts(answer: GivenAnswer) -> tuple[Any, ...]:
    return answer.line, answer.id, answer.prompt, answer.trials.get("text", ()), answer.trials.get("logprobs", ())


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("x", (("x",),)),
        ("", (("",),)),
        (["x", "y"], (("x",), ("y",))),
        (["x"], (("x",),)),
        ([["x", "y"]], (("x", "y"),)),
        ([["x", "y"], "z"], (("x", "y"), ("z",))),
    ],
)
def test_a_text_is_for_one_trial_and_a_list_for_several(tmp_path: Path, value: Any, texts: Any) -> None:
    (answer,) = read(tmp_path, lines({"id": "a", "text": value})).answers
    assert parts(answer) == ("line 1", "a", None, texts, ())


@pytest.mark.parametrize(
    ("value", "scores"),
    [
        ({"A": -1, "B": -0.5}, (({"A": -1.0, "B": -0.5},),)),
        ({"A": 0}, (({"A": 0.0},),)),
        ([{"A": -1.5}, {"A": -2.5}], (({"A": -1.5},), ({"A": -2.5},))),
        ([[{"A": -1.5}, {"A": -9.5}]], (({"A": -1.5}, {"A": -9.5}),)),
        ({"A": -math.inf}, (({"A": -math.inf},),)),
    ],
)
def test_log_probabilities_are_given_by_choice(tmp_path: Path, value: Any, scores: Any) -> None:
    (answer,) = read(tmp_path, lines({"prompt": "Where?", "logprobs": value})).answers
    assert parts(answer) == ("line 1", None, "Where?", (), scores)


def test_a_line_may_have_both_a_text_and_log_probabilities(tmp_path: Path) -> None:
    (answer,) = read(tmp_path, lines({"id": "a", "text": "A", "logprobs": {"A": -1.5}})).answers
    assert parts(answer)[3:] == ((("A",),), (({"A": -1.5},),))


def test_empty_lines_and_a_byte_order_mark_are_ignored_and_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + f"\n{RIGHT}\r\n\n".encode()
    given = read(tmp_path, content)
    assert [answer.line for answer in given.answers] == ["line 2"]
    assert given.digest == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("wrap", [lambda entries: entries, lambda entries: {"canary": "x", "outputs": entries}])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_file_may_be_one_list(tmp_path: Path, wrap: Any, indent: int | None) -> None:
    entries = [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}]
    answers = read(tmp_path, json.dumps(wrap(entries), indent=indent)).answers
    assert [(answer.line, answer.id) for answer in answers] == [("entry 1", "a"), ("entry 2", "b")]


@given(st.dictionaries(st.text(min_size=1).filter(str.strip), st.text(), min_size=1, max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_texts_come_back(tmp_path: Path, texts: dict[str, str]) -> None:
    content = lines(*({"id": key, "text": text} for key, text in texts.items()))
    assert {answer.id: answer.trials["text"] for answer in read(tmp_path, content).answers} == {
        key: ((text,),) for key, text in texts.items()
    }


def test_the_keys_of_another_format_may_be_nested_and_all_others_are_ignored(tmp_path: Path) -> None:
    entry = {"qid": "a", "id": 7, "prompt": None, "out": {"model.x": {"text": "y"}, "m": {"text": "z"}}, "text": 5}
    (answer,) = read(tmp_path, lines(entry), id="qid", text="out.m.text").answers
    assert parts(answer) == ("line 1", "a", None, (("z",),), ())


def test_a_key_with_a_dot_is_taken_whole_first(tmp_path: Path) -> None:
    (answer,) = read(tmp_path, lines({"id": "a", "m.text": "whole", "m": {"text": "nested"}}), text="m.text").answers
    assert answer.trials["text"] == (("whole",),)


def test_another_format_may_repeat_an_id_but_not_change_its_answer(tmp_path: Path) -> None:
    repeated = {"id": "p", "response": "x"}
    assert len(read(tmp_path, lines(repeated, repeated), text="response").answers) == 2
    with pytest.raises(DataError, match=r"line 2: has the same id as line 1 \('p'\); expected one line for each"):
        read(tmp_path, lines(repeated, repeated | {"response": "y"}), text="response")


def test_prompts_may_repeat_as_rows_may_be_equal(tmp_path: Path) -> None:
    repeated = [{"prompt": "p", "text": "x"}, {"prompt": "p", "text": "y"}]
    assert [answer.trials["text"] for answer in read(tmp_path, lines(*repeated)).answers] == [(("x",),), (("y",),)]


SUCH = 'expected a line such as {"id": "PUMA-17", "text": "Major"}'


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", 'has no answers; expected a line for each sample, such as {"id": "PUMA-17", "text": "Major"}'),
        ("\n \n", "has no answers; expected a line for each sample"),
        ("[]", "has no answers; expected a line for each sample"),
        (f"{RIGHT}\n[oops\n", f"line 2: is not JSON (Expecting value: line 1 column 2 (char 1)); {SUCH}"),
        (f"{RIGHT}\nMajor\n", "line 2: is not JSON (Expecting value"),
        (RIGHT.encode() + b"\n\xff\n", "line 2: is not UTF-8; expected JSON Lines in UTF-8"),
        (f'{RIGHT}\n["b"]\n', 'line 2: is a list; expected an object such as {"id": "PUMA-17", "text": "Major"}'),
        ("[" * 5000, "line 1: is not JSON (it is nested too deeply, more than 100 levels); expected"),
        ('{"id": "a", "text": "x", "text": "y"}', "line 1: is not JSON (the key 'text' is there twice)"),
        (lines({"id": ["x" * 999], "text": "y"}), f"line 1: id is ['{'x' * 78}...; expected a text"),
        (
            '{"id": "a", "logprobs": {"b": -1' + "0" * 400 + "}}",
            f"line 1: logprobs of 'b' is -1{'0' * 78}...; expected the",
        ),
        ("[3]", "entry 1: is a number; expected an object"),
        ("[null]", "entry 1: is null; expected an object"),
        (
            lines({"id": "a", "text": "x", "txt": "y"}),
            "line 1: has the unknown key 'txt'; there are: id, prompt, text, logprobs",
        ),
        (lines({"text": "x"}), "line 1: has no id or prompt; expected either id or prompt"),
        (lines({"id": "a", "prompt": "b", "text": "x"}), "line 1: has id and prompt; expected either id or prompt"),
        (lines({"id": "a"}), "line 1: has no text and no logprobs; expected one of the two"),
        (lines({"id": 7, "text": "x"}), "line 1: id is 7; expected a text that is not empty"),
        (lines({"id": None, "text": "x"}), "line 1: id is None; expected a text that is not empty"),
        (lines({"id": " ", "text": "x"}), "line 1: id is ' '; expected a text that is not empty"),
        (lines({"prompt": ["p"], "text": "x"}), "line 1: prompt is ['p']; expected a text that is not empty"),
        (
            lines({"id": "a", "text": 7}),
            "line 1: text has a number; expected a text, or a list with one for each trial of the sample",
        ),
        (lines({"id": "a", "text": None}), "line 1: text has null; expected a text"),
        (lines({"id": "a", "text": ["x", True]}), "line 1: text has true; expected a text"),
        (lines({"id": "a", "text": {"x": "y"}}), "line 1: text has an object; expected a text"),
        (lines({"id": "a", "text": [[["x"]]]}), "line 1: text has a list; expected a text"),
        (
            lines({"id": "a", "text": []}),
            "line 1: text has an empty list; expected a value for each trial of the sample",
        ),
        (lines({"id": "a", "text": ["x", []]}), "line 1: text has an empty list; expected a value for each trial"),
        (
            lines({"id": "a", "logprobs": "x"}),
            'line 1: logprobs has a text; expected an object such as {"desk": -0.2, "house": -1.9}',
        ),
        (lines({"id": "a", "logprobs": {}}), "line 1: logprobs has an empty object; expected an object"),
        (lines({"id": "a", "logprobs": [-1.5]}), "line 1: logprobs has a number; expected an object"),
        (
            lines({"id": "a", "logprobs": {"A": 0.7}}),
            "line 1: logprobs of 'A' is 0.7; expected the natural logarithm of a probability, at most 0",
        ),
        (lines({"id": "a", "logprobs": {"A": "-1"}}), "line 1: logprobs of 'A' is '-1'; expected the natural"),
        (lines({"id": "a", "logprobs": {"A": False}}), "line 1: logprobs of 'A' is False; expected the natural"),
        ('{"id": "a", "logprobs": {"A": NaN}}', "line 1: logprobs of 'A' is nan; expected the natural"),
        (
            lines({"id": "a", "text": "x"}, {"id": "b", "text": "x"}, {"id": "a", "text": "x"}),
            "line 3: has the same id as line 1 ('a'); expected one line for each sample",
        ),
        (
            lines({"id": "p" * 90, "text": "x"}, {"id": "p" * 90, "text": "y"}),
            f"line 2: has the same id as line 1 ('{'p' * 79}...); expected one line for each sample",
        ),
    ],
)
def test_a_fault_is_reported_with_its_line(tmp_path: Path, content: str | bytes, problem: str) -> None:
    whole = f"recorded:gpt4=answers.jsonl{'' if problem.startswith(('line', 'entry')) else ' '}"
    whole += f": {problem}" if problem.startswith(("line", "entry")) else problem
    with pytest.raises(DataError, match=f"^{re.escape(whole)}"):
        read(tmp_path, content)


def test_a_missing_key_of_another_format_is_named_as_the_file_calls_it(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 1: has no question; expected either id or prompt"):
        read(tmp_path, lines({"id": "a", "out": "x"}), prompt="question", text="out")
    with pytest.raises(DataError, match=r"line 1: has no out\.x and no logprobs; expected one of the two"):
        read(tmp_path, lines({"question": "a", "out": "x"}), prompt="question", text="out.x")


def test_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^gpt4: .*gone\.jsonl: cannot be read \(No such file or directory\)"):
        read_answers(Model(name="gpt4", path=tmp_path / "gone.jsonl", source="answers"))
