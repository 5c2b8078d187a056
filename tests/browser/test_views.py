import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opened
from tests.browser.invented import report
from tests.browser.page import page
from tests.browser.shapes import BETTER, WORSE, Shape

RUN = report(
    Shape(perturbations=("typos_5pct",), models=("q", "b"), samples=60),
    Shape(name="estimation", task="regression", strategies=("zero_shot",), samples=60),
    Shape(name="qa", task="choice", strategies=("option_scoring",), samples=60),
    Shape(name="sum", task="completion", strategies=("zero_shot",), samples=60),
    Shape(name="again", trials=3, turns=2, samples=30),
    Shape(name="quiet", baseline=False, texts=False, strategies=("zero_shot",), samples=60),
    Shape(name="judged", task="completion", strategies=("zero_shot",), samples=10, judged=True),
)


def test_each_cell_opens_with_its_charts_and_its_samples(opened: Opened) -> None:
    tab = opened(RUN)
    for place, entry in enumerate(RUN.index["cells"]):
        tab.locator("#details select").first.select_option(label=entry["id"])
        expect(tab.locator("#cell")).to_have_text(f"Cell {entry['id']}")
        charts = sum(bool(entry[name]) for name in ("points", "calibration", "shifts", "distributions", "history"))
        expect(tab.locator('svg.plot[role="img"]')).to_have_count(charts)
        # With the mouse, Playwright waits for most of a second.
        tab.locator("button.row").first.dispatch_event("click")
        texts = tab.locator(".reply pre" if f"t{place}" in RUN.blocks else ".sample .note")
        expect(texts.first).to_be_visible()


def test_a_cell_shows_gates_flips_and_errors_then_samples_then_the_rest_folded(opened: Opened) -> None:
    tab = opened(RUN, "cell=triage-zero_shot%40q")
    expect(tab.locator(".list tbody tr[role=row]").first).to_be_visible()
    order = ("table.gates", "table.flips", "table.confusion", "#samples", "svg.plot", "summary:has-text('metrics')")
    places = [tab.locator(f"#details {each}").first.bounding_box() for each in order]
    tops = [place["y"] for place in places if place is not None]
    assert len(tops) == len(order)
    assert tops == sorted(tops)
    expect(tab.locator("#details sup")).to_have_count(0)
    tab.locator("summary", has_text="metrics").click()
    noted = tab.locator("#details tr", has_text="parse_failure_rate")
    expect(noted.locator("sup")).to_have_text("1")
    expect(tab.locator("#details ol.note li")).to_have_text(["few answers failed"])


def test_a_failed_cell_has_its_commands_below_its_gates(opened: Opened) -> None:
    tab = opened(RUN)
    for entry in RUN.index["cells"][:6]:
        tab.locator("#details select").first.select_option(label=entry["id"])
        fails = any(verdict["fails"] for verdict in entry["verdicts"])
        expect(tab.locator("#details pre.command")).to_have_text(list(entry["commands"].values()) if fails else [])


def test_samples_and_flips_have_the_beginnings_of_their_texts(opened: Opened) -> None:
    tab = opened(RUN, "cell=triage-zero_shot%40q")
    texts = RUN.blocks["r0"]["texts"]
    first = RUN.index["scenarios"][0]["cells"][0]
    expect(tab.locator(".list .beginning").nth(1)).to_have_text(texts[0])
    flips = [row for bit in (WORSE, BETTER) for row, flag in enumerate(RUN.flags[first]) if flag & bit]
    assert flips
    shown = tab.locator("table.flips").first.locator("tbody tr")
    expect(shown.locator("td:nth-child(2)")).to_have_text([texts[row] for row in flips[:10]])
    shown.first.locator("button").click()
    expect(tab.locator("#sample")).to_contain_text(RUN.blocks["r0"]["ids"][flips[0]])


def test_a_flip_shows_the_old_prompt_and_reply_beside_the_new_ones(opened: Opened) -> None:
    made = report(Shape(samples=20))
    row = int(next(iter(made.blocks["a0"]["old"])))
    text = made.blocks["t0"]["rows"][row]
    text["old"] = {**text, "replies": ["an older reply"]}
    made.blocks["h0"]["old"] = {**made.blocks["h0"], "end": [" Be brief."], "run": "20261123-090000"}
    tab = opened(made, f"cell=triage-zero_shot%40q&row={made.blocks['r0']['ids'][row]}")
    expect(tab.locator(".before article")).to_have_count(2)
    was, now = tab.locator(".before article").all()
    expect(was).to_contain_text("Before, in run 20261123-090000")
    expect(was.locator("pre").first).to_contain_text("Be brief.")
    expect(was.locator("pre").last).to_have_text("an older reply")
    expect(now.locator("pre").first.locator("del").last).to_contain_text("brief")
    expect(now.locator("pre").last).to_contain_text(text["replies"][0])


def test_a_perturbed_prompt_is_compared_with_its_twin(opened: Opened) -> None:
    tab = opened(RUN, "cell=triage-zero_shot%2Btypos_5pct%40q&row=J-104")
    expect(tab.get_by_role("heading", name="What the perturbation changed")).to_be_visible()
    expect(tab.locator(".sample del").first).to_be_visible()


def test_a_sample_shows_what_a_judge_decided_and_what_a_program_did(opened: Opened) -> None:
    tab = opened(RUN, "cell=judged-zero_shot%40q&row=J-104")
    expect(tab.locator(".reply .role")).to_have_text(["the judge: judge.conciseness", "run"])
    expect(tab.get_by_text("It is one sentence long.")).to_be_visible()
    expect(tab.locator(".reply .probabilities tbody tr")).to_have_text(["yes0.75", "no0.25"])
    tab.get_by_text("program", exact=True).click()
    expect(tab.get_by_text("assert answer() == 42")).to_be_visible()


def test_a_trial_is_chosen_in_the_sample(opened: Opened) -> None:
    tab = opened(RUN, "cell=again-zero_shot%40q&row=J-104")
    tab.locator(".trials button").nth(2).click()
    expect(tab.locator("#sample")).to_have_text("Sample J-104 #3")


def test_the_back_button_closes_what_was_opened(opened: Opened) -> None:
    tab = opened(RUN, "cell=triage-zero_shot%40q")
    tab.locator("button.row").first.click()
    expect(tab.locator("#sample")).to_be_visible()
    tab.go_back()
    expect(tab.locator("#sample")).to_have_count(0)


def test_a_link_of_the_summary_keeps_the_theme(opened: Opened) -> None:
    tab = opened(RUN, "theme=dark")
    tab.locator("#summary a").nth(1).click()
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    assert "theme=dark" in tab.url


def test_the_summary_sorts(opened: Opened) -> None:
    tab = opened(RUN)
    head = tab.locator("#summary th", has_text="value")
    head.locator("button").click()
    values = [float(each) for each in tab.locator("#summary tbody td:last-child").all_text_contents()]
    assert values == sorted(values)
    expect(head).to_have_attribute("aria-sort", "ascending")


def test_a_run_without_cells_and_one_of_a_single_cell_open(opened: Opened) -> None:
    expect(opened(report()).locator("#details")).to_contain_text("No cell was measured.")
    one = opened(report(Shape(strategies=("zero_shot",))), "cell=triage-zero_shot%40q")
    expect(one.locator(".list tbody tr[role=row]").first).to_be_visible()


@pytest.mark.parametrize("fragment", ["cell=nothing", "cell=triage-zero_shot%40q&row=nothing&chips=nothing", "%%%&="])
def test_an_address_of_nothing_is_explained(opened: Opened, fragment: str) -> None:
    expect(opened(RUN, fragment).locator("#details")).to_contain_text("no")


def test_a_damaged_block_is_a_sentence(opened: Opened) -> None:
    damaged = report(Shape(samples=3))
    damaged.blocks["a0"] = []
    tab = opened(damaged, "cell=triage-zero_shot%40q")
    expect(tab.locator("#details .bad")).to_contain_text("The details cannot be shown")


def test_a_search_in_damaged_texts_ends_with_a_sentence(opened: Opened) -> None:
    damaged = report(Shape(samples=3))
    text = page(damaged)
    block = text.index('id="t0">') + len('id="t0">')
    tab = opened(f"{text[:block]}AAAA{text[block:]}", "cell=triage-zero_shot%40q")
    tab.get_by_label("in all texts").click()
    expect(tab.locator("#details .bad")).to_contain_text("block t0 cannot be read")
