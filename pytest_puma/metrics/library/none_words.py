"""Words for "none", by ISO 639-1 code of the language: an answer to a question for things that are not there."""

from __future__ import annotations

from collections.abc import Mapping

#: In lower case; a space may be missing in the answer, as Persian and Tamil write such words together or apart.
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
