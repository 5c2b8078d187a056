"""English names of languages by their codes: `de`, `de-AT`, `deu_Latn` are German."""

from __future__ import annotations

import re

#: Name -> its codes of ISO 639-1 and 639-3.
_CODES = {
    "Arabic": "ar arb ara",
    "Bengali": "bn ben",
    "Bulgarian": "bg bul",
    "Catalan": "ca cat",
    "Chinese": "zh zho",
    "Croatian": "hr hrv",
    "Czech": "cs ces",
    "Danish": "da dan",
    "Dutch": "nl nld",
    "English": "en eng",
    "Estonian": "et est ekk",
    "Finnish": "fi fin",
    "French": "fr fra",
    "German": "de deu",
    "Greek": "el ell",
    "Hebrew": "he heb",
    "Hindi": "hi hin",
    "Hungarian": "hu hun",
    "Indonesian": "id ind",
    "Irish": "ga gle",
    "Italian": "it ita",
    "Japanese": "ja jpn",
    "Korean": "ko kor",
    "Latvian": "lv lav lvs",
    "Lithuanian": "lt lit",
    "Norwegian": "no nob nor",
    "Persian": "fa fas pes",
    "Polish": "pl pol",
    "Portuguese": "pt por",
    "Romanian": "ro ron",
    "Russian": "ru rus",
    "Slovak": "sk slk",
    "Slovenian": "sl slv",
    "Spanish": "es spa",
    "Swedish": "sv swe",
    "Thai": "th tha",
    "Turkish": "tr tur",
    "Ukrainian": "uk ukr",
    "Vietnamese": "vi vie",
}
_NAMES = {code: name for name, codes in _CODES.items() for code in codes.split()}


def language_name(code: str) -> str:
    """Return the name of a language; the code itself if it is unknown, which may be a name."""
    return _NAMES.get(re.split(r"[-_]", code.casefold())[0], code)
