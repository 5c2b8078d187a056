"""Metrics of the language in which a reply is written. A language is a code of ISO 639-1, as `de`.

It is the same on every run, without a download. The library lingua decides. Rules add languages that it does not know:
those with a script of their own, and Nepali, which shares the script of Hindi and Marathi. A text of a few words may
look like a language that it is not.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pytest_puma.core import Prediction, Sample, SettingsError
from pytest_puma.metrics.library.reading import completion_metric, original

if TYPE_CHECKING:
    from lingua import LanguageDetector

#: Those of the library langdetect that lingua knows. More of its 75 languages would make short texts less certain.
_COMMON = frozenset(
    [
        *("af", "ar", "bg", "bn", "ca", "cs", "cy", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr", "gu", "he"),
        *("hi", "hr", "hu", "id", "it", "ja", "ko", "lt", "lv", "mk", "mr", "nl", "no", "pa", "pl", "pt", "ro", "ru"),
        *("sk", "sl", "so", "sq", "sv", "sw", "ta", "te", "th", "tl", "tr", "uk", "ur", "vi", "zh"),
    ]
)
#: By the first word of the Unicode names of its letters.
_SCRIPTS = {
    "ARMENIAN": "hy",
    "ETHIOPIC": "am",
    "GEORGIAN": "ka",
    "KANNADA": "kn",
    "KHMER": "km",
    "LAO": "lo",
    "MALAYALAM": "ml",
    "MYANMAR": "my",
    "ORIYA": "or",
    "SINHALA": "si",
    "TIBETAN": "bo",
}
_ALIASES = {"nb": "no", "nn": "no", "fil": "tl", "iw": "he", "in": "id"}

#: A word with no letter, sign or digit of the script beside it.
_ALONE = r"(?<![ऀ-ॣ०-ॿ])(?:{})(?![ऀ-ॣ०-ॿ])"
#: Frequent words, and endings of verbs.
_NEPALI = re.compile(
    _ALONE.format("छ|छैन|थियो|थिए|हो|हुन्|हुनेछ|गर्न|गर्ने|गरेको|भएको|भने|पनि|र|लागि|यो|तपाईं|मलाई|मेरो|[ऀ-ॣ]*(?:्छ|छु|छन्|छौं|छौँ)")
)
_HINDI_OR_MARATHI = re.compile(
    _ALONE.format("है|हैं|था|थी|थे|हूँ|में|का|की|के|को|से|और|नहीं|यह|वह|कि|आहे|आहेत|होता|होती|आणि|नाही|हे|हा|ही|मी|तो|ती|व")
)


def language(sample: Sample, prediction: Prediction) -> float | None:
    """Return 1 if the reply is in the expected language; a reply without letters is in none.

    The context has it as `language`, else the groups; else each reference is a language. None without any.
    """
    expected = _expected(sample)
    for code in expected:
        if not isinstance(code, str) or canonical(code) not in known_languages():
            msg = (
                f"language: sample {sample.id!r} expects {code!r}; expected one of "
                f"{', '.join(sorted(known_languages()))}; return language from the scenario's context(item)"
            )
            raise SettingsError(msg)
    codes = frozenset(map(canonical, expected))
    return float(language_of(prediction.text, also=codes) in codes) if codes else None


def same_as_prompt(sample: Sample, prediction: Prediction) -> float | None:
    """Return 1 if the reply is in the language of the context's `original`; None if either has no letters."""
    return _same("language.same_as_prompt", sample, prediction.text)


def same_as_prompt_raw(sample: Sample, prediction: Prediction) -> float | None:
    """Return the same of the last response as the model wrote it, before the scenario reads it."""
    return _same("language.same_as_prompt.raw", sample, prediction.raw[-1] if prediction.raw else "")


def _expected(sample: Sample) -> tuple[Any, ...]:
    for given in (sample.context, sample.groups):
        if "language" in given:
            return (given["language"],)
    return sample.references


def _same(metric: str, sample: Sample, reply: str) -> float | None:
    expected = language_of(original(sample, metric))
    if expected is None:
        return None
    if not reply.strip():
        return 0.0
    written = language_of(reply)
    return None if written is None else float(written == expected)


@lru_cache(maxsize=4096)
def language_of(text: str, *, also: frozenset[str] = frozenset()) -> str | None:
    """Return the language of a text; None if it has no letters. `also`: possible languages beside the common ones."""
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in text if letter.isalpha())
    if not scripts:
        return None
    script = scripts.most_common(1)[0][0]
    if script in _SCRIPTS:
        return _SCRIPTS[script]
    detected = _detector(also - _COMMON).detect_language_of(text)
    code = None if detected is None else canonical(detected.iso_code_639_1.name)
    return "ne" if code in {"hi", "mr"} and _is_nepali(text) else code


def canonical(code: str) -> str:
    """Return a language code without its region, in lower case: `pt` for `pt-BR`, `no` for both kinds of Norwegian.

    A pair of languages, as `en-de`, stays as it is.
    """
    base, _, region = code.strip().replace("_", "-").partition("-")
    if region and region in known_languages():
        return code
    return _ALIASES.get(base.lower(), base.lower())


@lru_cache(maxsize=1)
def known_languages() -> frozenset[str]:
    """All codes that `language_of` can return."""
    from lingua import Language

    return frozenset({*(canonical(known.iso_code_639_1.name) for known in Language.all()), *_SCRIPTS.values(), "ne"})


@lru_cache(maxsize=8)
def _detector(also: frozenset[str]) -> LanguageDetector:
    from lingua import Language, LanguageDetectorBuilder

    among = _COMMON | also
    languages = [known for known in Language.all() if canonical(known.iso_code_639_1.name) in among]
    return LanguageDetectorBuilder.from_languages(*languages).build()


def _is_nepali(text: str) -> bool:
    return len(_NEPALI.findall(text)) > len(_HINDI_OR_MARATHI.findall(text))


METRICS = tuple(
    completion_metric(name=name, score=score, extra="lang")
    for name, score in (
        ("language", language),
        ("language.same_as_prompt", same_as_prompt),
        ("language.same_as_prompt.raw", same_as_prompt_raw),
    )
)
