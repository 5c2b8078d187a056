"""The sandbox of chat templates: no files, no Python, limited time and size."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_puma.core import EngineError, Message, Prompt
from pytest_puma.engine.budget import SECONDS
from tests.engine.chat import ROLES, USER, chat, render


@pytest.mark.parametrize(
    "attack",
    [
        "{% include '/etc/passwd' %}",
        "{% import '/etc/passwd' as f %}{{ f }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ cycler.__init__.__globals__.os.mkdir('PATH') }}",
        "{{ raise_exception.__globals__['json'].codecs.open('PATH', 'w') }}",
        "{{ strftime_now.__self__.max }}",
        "{{ self.__init__.__globals__ }}",
        "{{ messages.append(messages[0]) }}",
        "{{ messages[0].update(content='PATH') }}",
        "{{ '{0.__class__.__mro__}'.format(messages) }}",
    ],
)
def test_a_template_reaches_neither_files_nor_python(attack: str, tmp_path: Path) -> None:
    target = tmp_path / "made"
    with pytest.raises(EngineError, match="chat template"):
        render(ROLES + attack.replace("PATH", str(target)))
    assert not target.exists()


BOMBS = [
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "{% for i in range(9999) %}{% for j in range(99999) if false %}{% endfor %}{% endfor %}",
    "{% for i in [[[], []]] * 9 recursive %}{{ loop([[i, i]] * 9) }}{% endfor %}",
    "{% macro f(n) %}{{ f(n + 1) if n < 99 }}{{ f(n + 1) if n < 99 }}{% endmacro %}{{ f(0) }}",
    "{% for i in range(99999) %}" + "x" * 10_000 + "{% endfor %}",
    "{% macro f() %}" + "x" * 10_000 + "{% endmacro %}{% for i in range(50000) %}{{ f() }}{% endfor %}",
    "{{ 'a' | center(3000000000) }}",
    "{{ 'a'.center(3000000000) }}",
    "{{ ['a'] | map('center', 3000000000) | list }}",
    "{{ 'a'.zfill(3000000000) }}",
    "{{ '\t'.expandtabs(3000000000) }}",
    "{{ 'a'.translate({97: 'b' * 9999999}) }}",
    "{{ 'a' * 3000000000 }}",
    "{% set x = 3000000000 * ['a'] %}",
    "{{ '%3000000000d' % 1 }}",
    "{{ '%*d' % (3000000000, 1) }}",
    "{{ '%3000000000d' | format(1) }}",
    "{{ '{:>3000000000}'.format(1) }}",
    "{{ '{:>{}}'.format(1, 3000000000) }}",
    "{{ ('{0}' * 9999).format('a' * 9999) }}",
    "{{ (1).to_bytes(3000000000, 'big') }}",
    "{{ 9 ** 999999999 }}",
    "{% set n = namespace(x=9) %}{% for i in range(99) %}{% set n.x = n.x * n.x %}{% endfor %}",
    "{% set n = namespace(x='a') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
    "{% set n = namespace(x='a') %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}",
    "{% set n = namespace(x='a') %}{% for i in range(99) %}{% set n.x %}{{ n.x }}{{ n.x }}{% endset %}{% endfor %}",
    "{% set n = namespace(x='a') %}{% for i in range(99) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}",
    "{% set n = namespace(x='a') %}{% for i in range(99) %}{% set n.x = {1: n.x, 2: n.x} %}{% endfor %}{{ n.x }}",
    "{{ ('a' * 99999).replace('a', 'b' * 99999) }}",
    "{{ ('a' * 99999) | replace('a', 'b' * 99999) }}",
    "{{ ('b' * 99999).join(range(99999) | map('string')) }}",
    "{{ range(99999) | join('b' * 99999) }}",
    "{{ range(99999) | join(d='b' * 99999) }}",
    "{{ ('a\n' * 99999) | indent(99999) }}",
    "{{ ('a\n' * 99999) | indent('b' * 99999) }}",
    "{{ [[1]] * 99999 | tojson(indent=3000000000) }}",
    "{% for i in range(99999) %}{{ ('ab' * 99999).count('ba') }}{% endfor %}",
    "{% set x = 'a' * 999999 %}" + "{% set y = x[1:] %}" * 5000,
    "{% set x = 'a' * 999999 %}" + "{% set y = x[1:] == x %}" * 4000,
    "{{ range(99999) | batch(3000000000, 1) | list }}",
    "{{ lipsum(n=99999) }}",
    "{{ 1 | round(999999999, 'floor') }}",
    "{{ [[1]] * 99999 | sum(start=[]) }}",
    "{% autoescape 'a' * 3000000000 %}{% endautoescape %}",
    "{% set x | replace('a', 'b' ~ 'c' * 3000000000) %}a{% endset %}",
    "{{ " + "9" * 5000 + " }}",
    "{{ 0x" + "9" * 90_000 + " }}",
    "{% if true %}" * 300 + "{% endif %}" * 300,
    "{% for i in [1] %}" * 30 + "{% endfor %}" * 30,
    "{{ " + "(" * 9999 + "1" + ")" * 9999 + " }}",
    "{{ " + "-" * 9999 + "1 }}",
    "{{ a" + ".b" * 9999 + " }}",
    "x" * 200_000,
]


#: Lists in lists, each twice in the next one: the text of the last has 2 ** 40 parts.
TWICE = (
    "{% macro f(n) %}{% if n %}{{ f(n - 1, varargs, varargs) }}{% else %}{{ varargs | CHECK }}{% endif %}{% endmacro %}"
)
#: Pairs whose keys are different numbers of one hash.
COLLIDING = "{% set x %}{% for i in range(40000) %}{{ i * 2305843009213693951 }},1 {% endfor %}{% endset %}"

BOMBS += [
    "{{ [range(99999)] | map('map', 'string') | map('join', 'b' * 9999) | list }}",
    *((TWICE + "{{ f(40, 1) }}").replace("CHECK", check) for check in ("string", "upper", "string is upper")),
    TWICE.replace("varargs | CHECK", "raise_exception(varargs)") + "{{ f(40, 1) }}",
    TWICE.replace("varargs | CHECK", "messages[0][varargs].x") + "{{ f(40, 1) }}",
    "{{ ('%(a)999d' * 100000) % {'a': 1} }}",
    "{{ ('{0:\U0001f600>999}' * 50000).format(1) }}",
    "{{ ('a' * 4000000).strip('b' * 4000000 ~ 'a') }}",
    "{{ ('a' * 4000000) | trim('b' * 4000000 ~ 'a') }}",
    "{{ ('a' * 9000000) | list }}",
    "{{ ('a' * 9000000) | sort }}",
    "{{ ('a' * 9000000) | groupby('x') }}",
    "{{ ('a b' * 3000000) | title }}",
    "{{ ('a b' * 3000000) | wordcount }}",
    "{{ ('a' * 9000000) | join }}",
    "{{ '-'.join('a' * 9000000) }}",
    "{{ ('a ' * 4500000).split(' ') }}",
    "{{ ('a ' * 4500000).split() }}",
    "{{ ('a\n' * 4500000).splitlines() }}",
    "{{ dict(*('a' * 9000000)) }}",
    "{% filter escape %}" * 60 + "{{ '&' * 1000000 }}" + "{% endfilter %}" * 60,
    "{% filter tojson %}" * 60 + '"' + "{% endfilter %}" * 60,
    COLLIDING + "{{ dict(x.split() | map('replace', ',1', '') | map('int') | batch(2)) }}",
    "{{ range(9) | slice(3000000000) }}",
    "{{ 1 | round(-999999999) }}",
]


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb[:40])
def test_a_template_beyond_its_budget_is_refused_in_one_short_line(bomb: str) -> None:
    started = time.thread_time()
    with pytest.raises(EngineError, match="chat template") as caught:
        render(ROLES + bomb)
    assert time.thread_time() - started < 2 * SECONDS
    sentence = str(caught.value)
    assert len(sentence) < 300
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("harmless", "text"),
    [
        ("{{ 'ab' | center(8) }}{{ 'ab'.ljust(4) }}|", "   ab   ab  |"),
        ("{{ [1, 2, 3] | batch(2) | list }}", "[[1, 2], [3]]"),
        ("{{ [1, 2, 3] | slice(2) | list }}", "[[1, 2], [3]]"),
        ("{{ 2.345 | round(1) }}{{ [1, 2] | sum }}", "2.33"),
        ("{{ ['b', 'a'] | sort | join(', ') }}{{ 'x a b '.split() }}", "a, b['x', 'a', 'b']"),
        ("{% macro f(a) %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, b=3) }}", "(2,){'b': 3}"),
        ("{% macro f(a, b) %}{{ a ~ b }}{% endmacro %}{{ f(*[1, 2]) }}{{ f(**{'a': 1, 'b': 2}) }}", "1212"),
        ("{{ dict([[1, 2]], a=3) }}{{ dict({1: 2}) }}", "{1: 2, 'a': 3}{1: 2}"),
        ("{% filter upper | replace('A', 'b') %}a{% endfilter %}", "b"),
    ],
)
def test_filters_of_ordinary_size_work(harmless: str, text: str) -> None:
    assert render(harmless) == text


def test_a_namespace_in_namespaces_is_no_text_that_doubles() -> None:
    """Its values are set after anything could have measured them."""
    names = range(1, 41)
    made = "".join(f"{{% set n{name} = namespace() %}}" for name in (0, *names))
    nested = "".join(f"{{% set n{name}.a = n{name - 1} %}}{{% set n{name}.b = n{name - 1} %}}" for name in names)
    assert render(made + nested + "{{ n40 | string }}") == "<namespace>"
    with pytest.raises(EngineError, match="has no element <namespace>"):
        render(ROLES + made + nested + "{{ messages[0][n40].x }}")


@pytest.mark.parametrize(
    "template", ["{{ 1e999 }}", "{{ 'abc def' | truncate(1) }}", "{{ raise_exception(messages) }}"]
)
def test_any_error_of_a_template_is_told_as_one_of_the_model(template: str) -> None:
    with pytest.raises(EngineError, match="the model's chat template refuses roles"):
        render(ROLES + template)


def test_each_thread_has_its_own_budget() -> None:
    loops = chat(ROLES + "{% for i in range(9999) %}x{% endfor %}")
    with ThreadPoolExecutor(4) as pool:
        texts = set(pool.map(lambda _: loops.render(Prompt(messages=(USER,))), range(40)))
    assert texts == {"[user:Why?]" + "x" * 9999}


def test_long_messages_bring_their_own_budget() -> None:
    content = "a b\n" * 500_000
    trimmed = "{% for m in messages %}{{ (m.content | trim).replace('b', 'c').split('x')[0] ~ '!' }}{% endfor %}"
    assert render(trimmed, Message(role="user", content=content)) == content.strip().replace("b", "c") + "!"
