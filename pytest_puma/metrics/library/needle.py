"""Needle in a haystack: the reply must give all hidden numbers and no other one, or say that there are none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from pytest_puma.core import Prediction, Sample, SettingsError
from pytest_puma.metrics.library.reading import completion_metric

#: Words for "none", by ISO 639-1 code of the language, in lower case. A space may be missing in the answer, as Persian
#: and Tamil write such words together or apart.
NONE_WORDS: Mapping[str, tuple[str, ...]] = {
    "cs": ("žádné", "žádná", "žádný", "žádného"),
    "da": ("ingen", "intet"),
    "de": ("keine", "keiner", "keines", "kein"),
    "en": ("none",),
    "es": ("ninguno", "ninguna", "ningún"),
    "fa": ("هیچ کدام", "هیچ یک", "هیچ"),
    "fi": ("ei mitään", "ei yhtään", "ei mikään", "ei ole"),
    "fr": ("aucun", "aucune"),
    "hi": ("कोई नहीं", "कोई भी नहीं"),
    "hu": ("nincs", "egyik sem", "semmi"),
    "it": ("nessuno", "nessuna", "nessun"),
    "ja": ("なし", "無し", "ありません"),
    "ko": ("없음", "없습니다"),
    "nl": ("geen",),
    "no": ("ingen", "intet"),
    "pl": ("żadne", "żaden", "żadna", "żadnych", "brak"),
    "pt": ("nenhum", "nenhuma"),
    "ru": ("нет", "ни одного", "ни один", "ничего"),
    "sr": ("nijedan", "nijedna", "nijedno", "nema", "ниједан", "ниједна", "ниједно", "нема"),
    "st": ("ha ho letho", "ha ho", "letho"),
    "sv": ("ingen", "inget", "inga"),
    "sw": ("hakuna",),
    "ta": ("எதுவும் இல்லை", "ஒன்றும் இல்லை", "எதுவுமில்லை", "ஒன்றுமில்லை", "இல்லை"),
    "uk": ("немає", "жодного", "жоден", "жодна"),
    "vi": ("không có",),
    "zh": ("无", "無", "没有", "沒有"),
}
#: Languages without spaces around words: such a word counts wherever it stands.
UNSPACED = frozenset({"ja", "ko", "zh"})
_ZERO_WIDTH = dict.fromkeys(map(ord, "\u200b\u200c\u200d\ufeff"))


def needle(sample: Sample, prediction: Prediction) -> float | None:
    """Return 1 if the numbers of the reply are those of the references; None without references.

    Numbers of one digit, as in a numbered list, do not count, unless they are references. The order does not matter. If
    the reference is a word for "none", the reply must have such a word and no number; else it must have no such word.
    The language of the words is `language` of the sample's context or groups: a code as `de`, or `en-de` for an
    English text with a German question.
    """
    if not sample.references:
        return None
    language, text = _language(sample), _plain(prediction.text)
    says_none = any(_has(text, word, language) for word in NONE_WORDS[language])
    if any(_has(_plain(reference), word, language) for reference in sample.references for word in NONE_WORDS[language]):
        return float(says_none and not _numbers(text))
    wanted = {number for reference in sample.references for number in _wanted(sample, reference)}
    return float(not says_none and _numbers(text, short=wanted) == wanted)


def _wanted(sample: Sample, reference: str) -> list[str]:
    numbers = list(map(_number, re.findall(r"\d+", _plain(reference))))
    if not numbers:
        msg = (
            f"needle: reference {reference!r} of sample {sample.id!r} is neither a number nor a word for 'none' in "
            f"{_language(sample)!r}; for words use the metric 'cwe'"
        )
        raise SettingsError(msg)
    return numbers


def _numbers(text: str, short: set[str] | frozenset[str] = frozenset()) -> set[str]:
    """The numbers of a text; those of one digit only if they are among `short`."""
    digits: list[str] = re.findall(r"\d+", text)
    return {_number(run) for run in digits if len(run) > 1 or _number(run) in short}


def _number(digits: str) -> str:
    """The digits of any script, without leading zeros: text, as the length of a reply's number has no limit."""
    return "".join(str(unicodedata.digit(digit)) for digit in digits).lstrip("0") or "0"


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).translate(_ZERO_WIDTH).casefold().split())


def _has(text: str, word: str, language: str) -> bool:
    pattern = r"\s?".join(map(re.escape, _plain(word).split()))
    return re.search(pattern if language in UNSPACED else rf"(?<!\w){pattern}(?!\w)", text) is not None


def _language(sample: Sample) -> str:
    code = sample.context.get("language", sample.groups.get("language", "en"))
    parts = re.split(r"[-_]", str(code))
    if not parts[0].isupper():
        # Countries are in upper case: `sv-FI` is Swedish.
        parts = [part for part in parts if not part.isupper()]
    # The question is in the last one of two languages.
    language = next((part for part in reversed([*map(str.casefold, parts)]) if part in NONE_WORDS), None)
    if language is None:
        msg = (
            f"needle: the language of sample {sample.id!r} is {code!r}; expected one of {', '.join(NONE_WORDS)}, "
            "or two of them as 'en-de'"
        )
        raise SettingsError(msg)
    return language


METRICS = (completion_metric(name="needle", score=needle),)
