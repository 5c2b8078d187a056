from __future__ import annotations

import pytest
from lingua import Language

from pytest_puma.metrics.library.language import _COMMON, canonical, known_languages, language_of

#: "I drink a cup of tea every morning", more or less. In Latin script it has over 120 letters: for a shorter text,
#: the library loads five times as many numbers of each language with this script, which takes 12 seconds.
TEA = {
    "ar": "أشرب كوبا من الشاي كل صباح.",
    "bn": "আমি প্রতিদিন সকালে এক কাপ চা পান করি।",
    "de": (
        "Ich trinke jeden Morgen eine Tasse Tee. "
        "Dann lese ich die Zeitung, gehe mit dem Hund in den Park und fahre mit dem Bus zur Arbeit. "
        "Am Abend koche ich für die ganze Familie."
    ),
    "el": "Πίνω ένα φλιτζάνι τσάι κάθε πρωί.",
    "en": (
        "I drink a cup of tea every morning. "
        "Then I read the newspaper, walk the dog in the park, and take the bus to my work in the town. "
        "In the evening I cook for the whole family."
    ),
    "es": (
        "Bebo una taza de té todas las mañanas. "
        "Después leo el periódico, paseo al perro por el parque y voy en autobús a mi trabajo. "
        "Por la noche cocino para toda la familia."
    ),
    "fa": "من هر روز صبح یک فنجان چای می‌نوشم.",
    "fi": (
        "Juon kupin teetä joka aamu. "
        "Sitten luen sanomalehden, kävelen koiran kanssa puistossa ja menen bussilla töihin. "
        "Illalla laitan ruokaa koko perheelle."
    ),
    "fr": (
        "Je bois une tasse de thé tous les matins. "
        "Ensuite je lis le journal, je promène le chien dans le parc et je prends le bus. "
        "Le soir je fais la cuisine pour toute la famille."
    ),
    "gu": "હું દરરોજ સવારે એક કપ ચા પીઉં છું.",
    "he": "אני שותה כוס תה כל בוקר.",
    "hi": "मैं हर सुबह एक कप चाय पीता हूँ।",
    "hy": "Ես ամեն առավոտ մի բաժակ թեյ եմ խմում",
    "it": (
        "Bevo una tazza di tè ogni mattina. "
        "Poi leggo il giornale, porto il cane a passeggio nel parco e prendo l'autobus. "
        "La sera cucino per tutta la mia famiglia."
    ),
    "ja": "私は毎朝お茶を一杯飲みます。",
    "ka": "მე ყოველ დილით ერთ ფინჯან ჩაის ვსვამ.",
    "kn": "ನಾನು ಪ್ರತಿದಿನ ಬೆಳಿಗ್ಗೆ ಒಂದು ಕಪ್ ಚಹಾ ಕುಡಿಯುತ್ತೇನೆ.",
    "ko": "나는 매일 아침 차를 한 잔 마신다.",
    "ml": "ഞാൻ എല്ലാ ദിവസവും രാവിലെ ഒരു കപ്പ് ചായ കുടിക്കുന്നു.",
    "mr": "मी दररोज सकाळी एक कप चहा पितो आणि वर्तमानपत्र वाचतो.",
    "ne": "म हरेक बिहान एक कप चिया पिउँछु।",
    "nl": (
        "Ik drink elke ochtend een kopje thee. "
        "Daarna lees ik de krant, loop ik met de hond door het park en neem ik de bus naar mijn werk. "
        "In de avond kook ik voor het hele gezin."
    ),
    "pa": "ਮੈਂ ਹਰ ਰੋਜ਼ ਸਵੇਰੇ ਚਾਹ ਦਾ ਇੱਕ ਕੱਪ ਪੀਂਦਾ ਹਾਂ।",
    "pl": "Każdego ranka piję filiżankę herbaty.",
    "pt": (
        "Eu bebo uma xícara de chá todas as manhãs. "
        "Depois leio o jornal, passeio com o cachorro no parque e pego o ônibus para o trabalho. "
        "À noite cozinho para toda a família."
    ),
    "ru": "Каждое утро я пью чашку чая.",
    "sw": (
        "Ninakunywa kikombe cha chai kila asubuhi. "
        "Kisha ninasoma gazeti, ninatembea na mbwa wangu kwenye bustani na ninapanda basi. "
        "Jioni ninapika chakula kwa familia yangu."
    ),
    "ta": "நான் தினமும் காலையில் ஒரு கோப்பை தேநீர் குடிக்கிறேன்.",
    "te": "నేను ప్రతిరోజూ ఉదయం ఒక కప్పు టీ తాగుతాను.",
    "th": "ฉันดื่มชาหนึ่งถ้วยทุกเช้า",
    "uk": "Щоранку я п'ю чашку чаю.",
    "ur": "میں ہر صبح چائے کا ایک کپ پیتا ہوں",
    "vi": "Tôi uống một tách trà mỗi sáng.",
    "zh": "我每天早上喝一杯茶。",
}


@pytest.mark.parametrize("code", TEA)
def test_a_sentence_is_in_its_language(code: str) -> None:
    assert language_of(TEA[code]) == code


@pytest.mark.parametrize("text", ["", "42 + 58 = 100", "...", "\n\t"])
def test_a_text_without_letters_is_in_no_language(text: str) -> None:
    assert language_of(text) is None


def test_the_script_of_most_letters_decides() -> None:
    assert language_of("ನಾನು ಪ್ರತಿದಿನ ಚಹಾ ಕುಡಿಯುತ್ತೇನೆ: tea") == "kn"
    assert language_of(f"The word ಚಹಾ is Kannada and it means tea. {TEA['en']}") == "en"


@pytest.mark.parametrize("code", ["en", "de"])
def test_capital_letters_change_no_language(code: str) -> None:
    assert language_of(TEA[code].upper()) == code


def test_a_rare_language_is_found_if_it_is_possible() -> None:
    zulu = (
        "Ngiphuza inkomishi yetiye njalo ekuseni ngaphambi kokuya emsebenzini. "
        "Ngemva kwalokho ngifunda iphephandaba futhi ngihamba nenja yami epaki ngaphambi kokulala."
    )
    assert language_of(zulu) != "zu"
    assert language_of(zulu, also=frozenset({"zu"})) == "zu"
    assert language_of(TEA["en"], also=frozenset({"zu"})) == "en"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("म गर्छु।", "ne"),
        ("नेपाल एक सुन्दर देश हो र यहाँ धेरै हिमालहरू छन्।", "ne"),
        ("भारत एक विशाल देश है।", "hi"),
        ("मुझे कुछ नहीं चाहिए।", "hi"),
    ],
)
def test_words_and_endings_tell_nepali_from_hindi(text: str, code: str) -> None:
    assert language_of(text) == code


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("en", "en"),
        (" EN ", "en"),
        ("pt-BR", "pt"),
        ("pt_br", "pt"),
        ("zh-cn", "zh"),
        ("nb", "no"),
        ("nn-NO", "no"),
        ("iw", "he"),
        ("in", "id"),
        ("fil", "tl"),
        ("German", "german"),
        ("en-de", "en-de"),
    ],
)
def test_a_code_has_one_form_and_a_pair_of_languages_is_none(code: str, name: str) -> None:
    assert canonical(code) == name


def test_known_are_the_languages_of_lingua_and_ten_more() -> None:
    of_lingua = {canonical(each.iso_code_639_1.name) for each in Language.all()}
    added = {"am", "bo", "km", "kn", "lo", "ml", "my", "ne", "or", "si"}
    assert len(of_lingua) == len(Language.all()) - 1  # both forms of Norwegian
    assert known_languages() == of_lingua | added
    assert of_lingua.isdisjoint(added)


def test_the_languages_that_lingua_decides_between_are_fifty_one_of_its_own() -> None:
    assert len(_COMMON) == 51
    assert {language.iso_code_639_1.name.lower() for language in Language.all()} | {"no"} >= _COMMON
