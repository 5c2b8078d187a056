r"""Numbers in text, as exact fractions: `-$1,250.50` is -2501/2, `1 1/2` and `\frac{3}{2}` are 3/2, `70 %` is 70.

Currencies and per cent signs are units, which are not read: `70 %` is not 0.7. A comma separates thousands only, and a
dot decimals only: `1,5` is a list. A minus between two numbers subtracts, and is no sign.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

#: Longer runs of digits are no numbers: Python refuses to convert 4,300 digits. A power of ten needs memory.
_MOST = 400
_DIGITS, _EXPONENT = rf"\d{{1,{_MOST}}}", r"[-+]?\d{1,3}"
#: The smallest number that has more digits.
_TOO_LARGE = 10**_MOST
_THOUSANDS = r"[1-9]\d{0,2}(?:(?:,(?:\\!)?|\{,\}|\\[,!]|[\u00A0\u2009\u202F])\d{3})+"
_NUMERAL = re.compile(
    rf"""
    (?: (?<![\w)\]}}%]) (?P<sign>[-+\u2212]) )?
    (?: \\?[$\u20AC\u00A3\u00A5] [ ]? (?P<inner>[-+\u2212])? )?
    (?<![^\W_]) (?<!\d\.)                     # not in a word, nor a part of a version such as 1.2.3
    (?: (?<!/) (?:(?P<units>{_DIGITS})[ ])? (?P<top>{_DIGITS}) [ ]?/[ ]? (?P<bottom>{_DIGITS}) (?![/\d]|[.,]\d)
      | (?: (?P<whole>{_THOUSANDS}|{_DIGITS})(?!\d) (?P<decimals>\.{_DIGITS}(?!\d))?
          | (?P<bare>\.{_DIGITS}(?!\d)) )
        (?: [eE](?P<exponent>{_EXPONENT})(?!\w) )?
        (?! [eE][-+]?\d | \.\d )                # 1e9999 and 1.2.3 are not read in part
    )""",
    re.VERBOSE,
)
_LATEX_FRACTION = re.compile(r"\\[dt]?frac\s*(?:\{\s*([-+]?\d+)\s*\}\s*\{\s*(\d+)\s*\}|(\d)\s*(\d))")
#: One sign for a fraction, such as U+00BD, with its spelling.
_SIGNS = {
    code: unicodedata.normalize("NFKC", chr(code)).replace("\u2044", "/")
    for code in (0xBC, 0xBD, 0xBE, *range(0x2150, 0x215F))
}
_MIXED = re.compile(rf"(?<=\d)(?=\\[dt]?frac|[{''.join(map(chr, _SIGNS))}])")
_MARKDOWN, _UNITS = " \t\r\n*_`$", ".\\%\u20ac\u00a3\u00a5"
_MINUS = ("-", "\u2212")


def numbers(text: str) -> Iterator[Fraction]:
    """Yield the numbers of a text in their order."""
    for numeral in _NUMERAL.finditer(_plain(text)):
        value = _value(numeral)
        if value is not None:
            yield value


def number_of(text: str) -> Fraction | None:
    """Return the number that the text is, in Markdown or LaTeX or not; None if it is anything else."""
    numeral = _NUMERAL.fullmatch(_plain(text.lstrip(_MARKDOWN).rstrip(_MARKDOWN + _UNITS)))
    return None if numeral is None else _value(numeral)


def decimal_text(value: Fraction) -> str:
    """Return one spelling for each number: `1250.5`, `3`, or `2/3` if no decimals end."""
    decimals = _decimals(value.denominator)
    if decimals is None:
        return str(value)
    digits = Decimal(value.numerator * (10**decimals // value.denominator)).as_tuple()
    return f"{Decimal((digits.sign, digits.digits, -decimals)):f}"


def _decimals(denominator: int) -> int | None:
    """The number of decimals of a fraction; None if they do not end."""
    counts = {2: 0, 5: 0}
    for prime in counts:
        while denominator % prime == 0:
            denominator //= prime
            counts[prime] += 1
    return max(counts.values()) if denominator == 1 else None


def _plain(text: str) -> str:
    """The text with its fractions written as `1/2`, and `1 1/2` behind a whole number."""
    text = _LATEX_FRACTION.sub(lambda match: f"{match[1] or match[3]}/{match[2] or match[4]}", _MIXED.sub(" ", text))
    return text.translate(_SIGNS)


def _value(numeral: re.Match[str]) -> Fraction | None:
    """The value; None for a fraction by 0, or if its spelling in full has too many digits, as that of `1e400`."""
    if numeral["bottom"]:
        bottom = int(numeral["bottom"])
        if not bottom:
            return None
        size = int(numeral["units"] or 0) + Fraction(int(numeral["top"]), bottom)
    else:
        whole = "".join(filter(str.isdecimal, numeral["whole"] or "0"))
        decimals = (numeral["decimals"] or numeral["bare"] or ".")[1:]
        size = int(whole + decimals) * Fraction(10) ** (int(numeral["exponent"] or 0) - len(decimals))
    if size.numerator >= _TOO_LARGE or size.denominator > _TOO_LARGE:
        return None
    sign = numeral["sign"] or numeral["inner"] or ""
    return -size if sign in _MINUS else size
