from functools import cache
from itertools import cycle

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Opened
from tests.browser.invented import report, with_texts
from tests.browser.shapes import Shape

_RUN = "window.HACKED=1"
PAYLOADS = [
    f"<script>{_RUN}</script>",
    f"</script><script>{_RUN}</script>",
    f"</SCRIPT ><ScRiPt>{_RUN}</sCrIpT>",
    f"</style><script>{_RUN}</script>",
    f"</title></textarea><script>{_RUN}</script>",
    f"<img src=x onerror={_RUN}>",
    f'"><img src=x onerror="{_RUN}">',
    f"'><img src=x onerror='{_RUN}'>",
    f"`><img src=x onerror=`{_RUN}`>",
    f"<svg onload={_RUN}>",
    f"<svg><script>{_RUN}</script></svg>",
    f"<svg><animate onbegin={_RUN} attributeName=x>",
    f"<svg><foreignObject><iframe srcdoc='<script>parent.{_RUN}</script>'>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={_RUN}>",
    f"<body onload={_RUN}>",
    f"<details open ontoggle={_RUN}>",
    f"<video><source onerror={_RUN}>",
    f"<audio src=x onerror={_RUN}>",
    f"<input autofocus onfocus={_RUN}>",
    f"<select autofocus onfocus={_RUN}>",
    f"<marquee onstart={_RUN}>",
    f"<iframe src=javascript:parent.{_RUN}>",
    f"<iframe srcdoc='&lt;script&gt;parent.{_RUN}&lt;/script&gt;'>",
    f"<object data=javascript:{_RUN}>",
    f"<embed src=javascript:{_RUN}>",
    f"<a href=javascript:{_RUN}>x</a>",
    f"<form action=javascript:{_RUN}><button>x</button></form>",
    f"<base href=javascript:{_RUN}//>",
    f"<meta http-equiv=refresh content='0;url=javascript:{_RUN}'>",
    "<meta http-equiv=refresh content='0;url=https://evil.invalid/'>",
    "<link rel=stylesheet href=https://evil.invalid/x.css>",
    "<link rel=prefetch href=//evil.invalid/x>",
    "<img src=https://evil.invalid/x.png>",
    "<style>@import 'https://evil.invalid/x.css'</style>",
    "<style>*{background:url(https://evil.invalid/x)}</style>",
    "<template><script>window.HACKED=1</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=window.HACKED=1>'>",
    f"<!--<script>{_RUN}//-->",
    f"--><script>{_RUN}</script>",
    f"--!><script>{_RUN}</script>",
    f"<![CDATA[<script>{_RUN}</script>]]>",
    f"]]><script>{_RUN}</script>",
    f"javascript:{_RUN}",
    f"data:text/html,<script>{_RUN}</script>",
    "${window.HACKED=1}",
    "{{constructor.constructor('window.HACKED=1')()}}",
    "{% raw %}<%= window.HACKED=1 %>",
    "#{window.HACKED=1}",
    f"&lt;script&gt;{_RUN}&lt;/script&gt;",
    f"&#60;script&#62;{_RUN}&#60;/script&#62;",
    f"\\u003cscript\\u003e{_RUN}\\u003c/script\\u003e",
    f"\u2028{_RUN}\u2029",
    f"';{_RUN};//",
    f'";{_RUN};//',
    f"`;{_RUN};//",
    f"\x00<scr\x00ipt>{_RUN}</script>",
    f"\u202e<script>{_RUN}</script>\u2066\u200b\ufeff",
    f"\ud800<img src=x onerror={_RUN}>",
    "__proto__",
    "constructor",
    f"#cell=<img src=x onerror={_RUN}>",
    "https://evil.invalid/ www.evil.invalid",
    f"{'A' * 2_000}<script>{_RUN}</script>",
]
_LONG = f"{'A' * 250_000}<script>{_RUN}</script>"
SMALL = report(Shape(samples=3, strategies=("zero_shot", "option_scoring"), words=4))


@pytest.mark.parametrize("first", range(0, len(PAYLOADS), 8))
def test_hostile_texts_stay_text(opened: Opened, first: int) -> None:
    """By construction alone: the page has no policy that would stop a script."""
    payloads = PAYLOADS[first : first + 8]
    turns = cycle(payloads)
    tab = opened(with_texts(SMALL, cache(lambda text: f"{text}{next(turns)}")), policy=False)
    assert _reply_of_text_alone(tab)
    shown = _printable(tab.locator("#details").text_content() or "")
    for payload in payloads:
        assert _printable(payload)[:5000] in shown or any(map(_hidden, payload))


@pytest.mark.parametrize("first", range(0, len(PAYLOADS), 8))
def test_hostile_texts_break_no_policy(opened: Opened, first: int) -> None:
    """A refused script or link would be a message of the browser. The texts of a page take turns over all payloads."""
    turns = cycle([*PAYLOADS[first:], *PAYLOADS[:first]])
    # A text is the same wherever it stands.
    tab = opened(with_texts(SMALL, cache(lambda text: f"{text}{next(turns)}")))
    assert _reply_of_text_alone(tab)


def _reply_of_text_alone(tab: Page) -> str:
    """The text of a reply, after a look at the elements of the page: no text became one."""
    tab.locator("#details select").first.select_option(index=1)
    # With the mouse, Playwright waits for most of a second.
    tab.locator("button.row").first.dispatch_event("click")
    tab.wait_for_selector(".reply pre")
    assert tab.evaluate("window.HACKED") is None
    tags = "script, iframe, object, embed, img, video, audio, form, base, marquee, a, style:not(svg style)"
    assert tab.locator(f":is({tags})").locator("visible=true").count() == tab.locator("#summary a").count()
    return tab.locator(".reply pre").first.text_content() or ""


def test_a_line_of_a_quarter_of_a_megabyte_in_every_field_opens(opened: Opened) -> None:
    made = report(Shape(samples=1, words=4, baseline=False, strategies=("zero_shot", "option_scoring")))
    tab = opened(with_texts(made, lambda text: f"{text}{_LONG}"))
    assert _reply_of_text_alone(tab).count("A") > 10_000


def _printable(text: str) -> str:
    return "".join(letter for letter in text if letter.isprintable())


def _hidden(letter: str) -> bool:
    return not letter.isprintable()
