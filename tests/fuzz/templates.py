"""Hostile templates: expressions and statements of Jinja2 in any order, with sizes that no prompt has."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from jinja2.filters import FILTERS
from jinja2.tests import TESTS
from markupsafe import Markup

from pytest_puma.core import EngineError, Message, Prompt, PumaError
from pytest_puma.engine import budget
from pytest_puma.engine.chat import ChatFormat
from pytest_puma.strategies.templates import find_template

#: Parts of Python that no template may reach, as text of an object.
_PYTHON = re.compile(r"<(?:class|module|frame|code|slot wrapper|method-wrapper)\b")
_LONGEST = 600

_VALUES = [
    "0", "1", "-1", "9", "99999", "10 ** 9", "9 ** 9 ** 9", "1.5", "1e999", "none", "true", "''", "'a'", "'a b' * 9999",
    "'\\n' * 9999", "'<a>' * 9999 | safe", "'%999d'", "'%(x)s'", "'{0:>999}'", "'{0.__class__}'", "'{x}'", "'\\ud800'",
    "'\\x1b[2J'", "[]", "{}", "range(9)", "range(99999)", "range(10 ** 9)", "namespace(x='a')", "dict(a='b')",
    "messages", "messages[0]", "messages[0].content", "x", "y", "n", "n.x", "varargs", "kwargs", "loop", "loop.index",
    "self", "caller", "f", "bos_token", "nothing", "cycler('a', 'b')", "joiner('a')", "raise_exception",
    "strftime_now('%Y')", "strftime_now('%999999999Y')", "9223372036854775808", "2305843009213693951",
]  # fmt: skip
_HIDDEN = [
    "__class__", "__mro__", "__subclasses__", "__globals__", "__init__", "__self__", "__func__", "__dict__", "__call__",
    "__code__", "gi_frame", "f_globals", "_Namespace__attrs", "_TemplateReference__context", "environment",
]  # fmt: skip
_METHODS = {name for kind in (str, int, float, list, dict, tuple, Markup) for name in dir(kind) if name[0] != "_"}
_ATTRIBUTES = st.sampled_from([*sorted(_METHODS), *_HIDDEN, "x", "content", "role", "first", "previtem", "depth"])
_FILTERS = st.sampled_from(sorted(FILTERS.keys() - {"pprint", "random", "striptags", "urlize", "wordwrap", "xmlattr"}))
_TESTS = st.sampled_from(sorted(filter(str.isidentifier, TESTS)))
_OPERATORS = st.sampled_from(["+", "-", "*", "**", "/", "//", "%", "~", "==", "<", "in", "not in", "and", "or"])
_NAMES = st.sampled_from(["attribute", "d", "indent", "width", "start", "default", "sep"])


def _form(form: str, *parts: SearchStrategy[str]) -> SearchStrategy[str]:
    """A text with a part in place of each `@`."""
    start, *rest = form.split("@")
    return st.tuples(*parts).map(lambda it: start + "".join(map("".join, zip(it, rest, strict=True))))


def _expressions(inner: SearchStrategy[str]) -> SearchStrategy[str]:
    last = st.lists(_form("@=@", _NAMES, inner) | _form("*(@)", inner), max_size=1)
    arguments = st.tuples(st.lists(inner, max_size=3), last).map(lambda it: ", ".join([*it[0], *it[1]]))
    return st.one_of(
        _form("(@ @ @)", inner, _OPERATORS, inner),
        _form("((@) | @)", inner, _FILTERS),
        _form("((@) | @(@))", inner, _FILTERS, arguments),
        _form("([@] | map('@', @) | list)", inner, _FILTERS, inner),
        _form("(@ is @(@))", inner, _TESTS, arguments),
        _form("(@).@", inner, _ATTRIBUTES),
        _form("(@).@(@)", inner, _ATTRIBUTES, arguments),
        _form("(@)(@)", inner, arguments),
        _form("(@)[@]", inner, inner),
        _form("(@)[@:]", inner, inner),
        _form("[@, @] * 9", inner, inner),
        _form("{@: @}", inner, inner),
        _form("(@ if @ else @)", inner, inner, inner),
    )


_EXPRESSION = st.recursive(st.sampled_from(_VALUES), _expressions, max_leaves=8)


def _statements(inner: SearchStrategy[str]) -> SearchStrategy[str]:
    body = st.lists(inner, max_size=3).map("".join)
    filters = st.lists(_FILTERS, min_size=1, max_size=3).map(" | ".join)
    return st.one_of(
        _form("{% for x in @ %}@{% endfor %}", _EXPRESSION, body),
        _form("{% for i in range(99) %}{% set n.x = @ %}@{% endfor %}", _EXPRESSION, body),
        _form("{% for x in @ if @ recursive %}@{{ loop(x) }}{% endfor %}", _EXPRESSION, _EXPRESSION, body),
        _form("{% if @ %}@{% else %}@{% endif %}", _EXPRESSION, body, body),
        _form("{% macro f(x, y=@) %}@{% endmacro %}{{ f(1) }}", _EXPRESSION, body),
        _form("{% call f(@) %}@{% endcall %}", _EXPRESSION, body),
        _form("{% filter @ %}@{% endfilter %}", filters, body),
        _form("{% set x | @ %}@{% endset %}", filters, body),
        _form("{% with y = @ %}@{% endwith %}", _EXPRESSION, body),
        _form("{% block @ %}@{% endblock %}", st.sampled_from("abcde"), body),
    )


_LEAVES = st.one_of(
    _form("{{ @ }}", _EXPRESSION),
    _form("{% set x = @ %}", _EXPRESSION),
    _form("{% set n = namespace(x=@) %}", _EXPRESSION),
    _form("{% set n.x = @ %}", _EXPRESSION),
    st.sampled_from(
        ["text", "{{ f(x, y, n, x) }}", "{{ self.a() }}", "{% set n.x = n.x ~ n.x %}", "{% set n.x = [n.x, n.x] %}"]
    ),
)
#: Statements that end most templates with an error, so that they are rare.
_RARE = st.sampled_from(
    ["\n", "{% break %}", "{{ super() }}", "{% include 'own.jinja' %}", "{% import '/etc/passwd' as x %}", "{{", "{%",
     "{% extends 'own.jinja' %}", "{#", "%}", "{% autoescape true %}{% endautoescape %}", "{{ x | urlize }}", "(" * 999]
)  # fmt: skip
_START = "{% set n = namespace(x='a') %}{% macro f(x) %}{{ x }}{{ varargs }}{% endmacro %}"
_BODY = st.lists(st.recursive(_LEAVES, _statements, max_leaves=6), min_size=1, max_size=6).map("".join)
#: A template, and whether it is a chat template or a prompt template.
TEMPLATES = st.tuples(
    _form("@@@", st.sampled_from([_START] * 3 + [""]), _BODY, st.just("") | st.just("") | st.just("") | _RARE),
    st.booleans(),
)


def rendered(value: list[Any]) -> str:
    """The text of a template or of the error that refuses it; an `AssertionError` for a finding."""
    source, chat = value
    # A tenth of the budget: findings need less time and memory.
    budget.CHARACTERS, budget.SECONDS = 1_000_000, 1.0
    try:
        text = _chat(source) if chat else _prompt(source)
    except (EngineError, PumaError) as error:
        sentence = str(error)
        assert len(sentence) < _LONGEST, f"a long message: {sentence[:200]}"
        assert "\n" not in sentence, f"a message of several lines: {sentence!r}"
        return sentence
    assert not _PYTHON.search(text), f"it reaches Python: {text[:200]}"
    return text[:200]


def _chat(source: str) -> str:
    chat = ChatFormat(source, bos="<s>", eos="</s>", thinking=False)
    return chat.render(
        Prompt(messages=(Message(role="system", content="Be brief."), Message(role="user", content="Why?")))
    )


def _prompt(source: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        prompts = Path(folder) / "prompts" / "own"
        prompts.mkdir(parents=True)
        (prompts / "own.jinja").write_text(source, encoding="utf-8", errors="surrogatepass")
        template = find_template("own", ["own"], project=Path(folder))
        variables = {
            "messages": [{"role": "user", "content": "Why?"}],
            "x": "a",
            "y": [1, "b"],
            "bos_token": "<s>",
            "labels": ["A", "B"],
        }
        return "".join(message.content for message in template.render("user", variables))
