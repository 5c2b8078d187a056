"""Issues of a tracker: their priority (triage), and the more urgent one of two (prioritization)."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar

from pytest_puma.core import OwnMetric, Prediction
from pytest_puma.datasets.frames import FileLayout, Frame, to_frame, to_records
from pytest_puma.datasets.order import draw_pairs, place_gold
from pytest_puma.replies.answers import own_words
from pytest_puma.replies.statements import Statements
from pytest_puma.scenarios.file import FileScenario

#: Most urgent first.
PRIORITIES = ("Critical", "Major", "Minor", "Trivial")

_TRIAGE_TAGS = ("issue",)
# Not \b: in the markdown `_Major_` the underscores are no part of the word.
_LABEL = rf"(?<![^\W_])(?<!\w-)(?:{'|'.join(PRIORITIES)})(?![^\W_]|-\w)"
_ISSUE = r"(?:the|this|an)\s+(?:issue|bug|defect|problem|ticket)"
_PRIORITY = Statements(
    label=_LABEL,
    subjects=r"priority(?:\s+level)?|severity|label|answer|decision|response|category|this(?:\s+one)?|it"
    rf"|{_ISSUE}",
    normal=str.capitalize,
    tags=_TRIAGE_TAGS,
    more=rf"\b{_ISSUE}\s+is\s+({_LABEL})\s+(?:for|in|on|to)\b|\bha[sv]e?\s+an?\s+({_LABEL})\s+priority\b",
)


class TriageJiraScenario(FileScenario):
    """The priority of an issue from its title and description; the four priorities are equally frequent."""

    name = "triage_jira"
    task_type = "classification"
    data = "jira_balanced_200.csv"
    pool = "jira_examples.csv"
    key = "issue_key"
    label_column = "priority"
    balanced = True
    ordered = True
    data_tags = _TRIAGE_TAGS
    columns = {  # noqa: RUF012 - a declaration, read only
        "issue_key": ("key", "id", "item_id"),
        "title": ("summary",),
        "description": ("body",),
        "priority": ("priority_name",),
    }

    def valid_labels(self) -> list[str]:
        """Return the four priorities, most urgent first."""
        return list(PRIORITIES)

    def parse_response(self, response: str) -> str | None:
        """Return the priority, in any case, that is the whole reply, opens a line or sentence, or is stated in it.

        Stricter than the first match: a list of the priorities, two contradictory ones, one that is only mentioned, and
        text of a repeated or invented issue are no answer.
        """
        return _PRIORITY.answered(response)

    def parse_conclusion(self, reply: str) -> str | None:
        """Return the priority that is the whole reply or is stated in it: "The priority is Critical"."""
        return _PRIORITY.decided(reply)


#: The columns of each of the two issues of a row: `title_a` and `title_b`.
_SIDES = ("title", "description", "priority")
_NOUN = r"(?i:issue|option|ticket)"
# "A or B", "A/B", "between A and B": the repeated question, or a hedge; "A means that": the prompt's explanation.
_QUESTION = re.compile(
    rf"""(?<!\w) (?: (?i:between|both|comparing|issues|options|tickets|of) \W+ (?:{_NOUN}\W+)? [AB] \W+ and
               | [AB] (?: \W* (?: \b(?:or|vs|versus)\b | / ) | \s+ and\b ) ) \W* (?:{_NOUN}\W+)? [AB] (?!\w)
       | \b A \s+ means \s+ that \b .*""",
    re.VERBOSE,
)
# The issue that is not chosen, or its description before the choice.
_ASIDE = re.compile(
    rf"""\b (?i:beats|not|outranks|over|than|instead\s+of) \s+ (?i:the\s+)? (?:{_NOUN}\s+)? [AB] (?!\w)
       | (?<!\w) [AB] \s+ [^.;\n]{{0,60}}? \b (?i:less|lower|not|no) \b .*
       | (?<!\w) [AB] \s+ (?: can \s+ wait
                         | (?:is|describes|concerns|mentions|reports) \s+ (?:about|an?|related|the) ) \b""",
    re.VERBOSE,
)
# At the start of a sentence the article is a capital too. A noun or an adjective follows it; a label is followed by
# a verb (most end in a single s), an adverb or a link.
_ARTICLE = re.compile(
    r"""(?: ^ | [.!?:;] [\s"'(*_]+ ) A [ \t]+
        (?! (?: \w+(?<![su])s | \w+ly | and | as | because | before | but | can(?:not)? | could | due | first | for | if
              | in | instead | it | may | might | must | not | on | or | over | rather | should | so | than | then | to
              | when | will | would ) \b )
        (?= [a-z0-9] )""",
    re.VERBOSE | re.MULTILINE,
)
_LETTER = re.compile(r"(?<![^\W_])(?<!\w-)[AB](?![^\W_]|-\w)")
_WHOLE = re.compile(r"[\W_]*(?:(?:the|issue|option|ticket|answer|choice|is)[\W_]+)*([ab])[\W_]*", re.IGNORECASE)
_PAIR_TAGS = ("issue_a", "issue_b")
_CHOICE = Statements(
    label=rf"(?<![^\W_])(?<!\w-)(?:{_NOUN}[\s_]*)?(?-i:[AB])(?![^\W_]|-\w)",
    subjects=r"answer|choice|decision|letter|priority|more\s+(?:urgent|important)(?:\s+(?:issue|one))?|it|(?:the|this)\s+one",
    normal=lambda match: match[-1],
    tags=_PAIR_TAGS,
    more=r"""(?<!\w) ((?-i:[AB])) \s+ (?:is|has|comes|deserves|goes|must|needs|should|takes) \b
        (?: (?! \b(?:not|less|lower)\b ) [^.;,\n] ){0,60}? \b (?: first | higher | worse | precedence
        | more \s+ (?:critical|important|serious|severe|urgent) ) \b""",
)


class PrioritizationJiraScenario(FileScenario):
    """Pairs of issues with different priorities, from the data of `triage_jira`; the answer is A or B.

    Pairs share no issue while the issues last. A and B are right equally often, in every prefix.
    """

    name = "prioritization_jira"
    task_type = "classification"
    data = TriageJiraScenario.data
    pool = TriageJiraScenario.pool
    key = "pair_id"
    text_fields = ("title_a", "description_a", "title_b", "description_b")
    unit_columns = ("key_a", "key_b")
    data_tags = _PAIR_TAGS

    #: Whether each pair is repeated in the next row, with A and B exchanged.
    both_orders: ClassVar[bool] = False

    def layout(self) -> FileLayout:
        """Return the layout of triage: the file contains issues, which form the pairs."""
        return TriageJiraScenario().layout()

    def sample(self, n: int, seed: int = 42) -> Frame:
        """Return the first `n` pairs in the order of the seed, or all if there are fewer."""
        return _pair_up(self.rows, n, seed=seed, both_orders=self.both_orders)

    def examples(self) -> Frame | None:
        """Return pairs of the pool's issues, each issue in one of them."""
        pool = super().examples()
        return None if pool is None else _pair_up(pool, len(pool) // 2, seed=0, both_orders=False)

    def gold_label(self, instance: dict[str, Any]) -> str:
        """Return the issue with the higher priority."""
        return "A" if PRIORITIES.index(instance["priority_a"]) < PRIORITIES.index(instance["priority_b"]) else "B"

    def hidden_fields(self) -> tuple[str, ...]:
        """Return the columns of both priorities."""
        return ("priority_a", "priority_b")

    def valid_labels(self) -> list[str]:
        """Return A and B."""
        return ["A", "B"]

    def primary_metric(self) -> str:
        """Return accuracy, as A and B are right equally often and have no meaning of their own."""
        return "accuracy"

    def parse_response(self, response: str) -> str | None:
        """Return the only capital A or B in the text, or the chosen one of both.

        An article, the repeated question, the issue that is not chosen, and text of a repeated or invented issue do not
        count; a lower-case a or b counts only if it is the whole reply. Stricter than the first match: a text with both
        and no choice is a parse failure.
        """
        if chosen := self.parse_conclusion(response):
            return chosen
        text = _ASIDE.sub(" ", _QUESTION.sub(" ", own_words(response, self.data_tags)))
        named = set(_LETTER.findall(_ARTICLE.sub(" ", text)))
        return named.pop() if len(named) == 1 else None

    def parse_conclusion(self, reply: str) -> str | None:
        """Return the letter that is the whole reply or is stated in it: "Issue B is more urgent"."""
        whole = _WHOLE.fullmatch(reply)
        return whole[1].upper() if whole else _CHOICE.decided(_QUESTION.sub(" ", reply))


class PrioritizationJiraBothOrdersScenario(PrioritizationJiraScenario):
    """Every pair in both orders, one after the other: shows how far the answer depends on the order."""

    name = "prioritization_jira_both_orders"
    template_folder = PrioritizationJiraScenario.name
    both_orders = True

    def metrics(self) -> Mapping[str, OwnMetric]:
        """Return the share of pairs whose answer changes with the order."""
        return {"order_dependent_rate": order_dependent_rate}


def order_dependent_rate(predictions: Sequence[Prediction]) -> float:
    """Return the share of pairs with different issues as the answers to the two orders; NaN without a pair.

    A pair counts if both orders have an answer, and as often as both are among the predictions: a resample may contain
    it several times, or one order alone.
    """
    picks: dict[frozenset[str], dict[tuple[str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for prediction in predictions:
        if prediction.answer is not None:
            # The first unit is the sample, if it has several trials.
            a, b = prediction.units[-2:]
            picks[frozenset((a, b))][a, b].append(a if prediction.answer == "A" else b)
    contradictions = [
        first != second
        for orders in picks.values()
        if len(orders) > 1
        for first, second in zip(*orders.values(), strict=False)
    ]
    return sum(contradictions) / len(contradictions) if contradictions else math.nan


def _pair_up(frame: Frame, n: int, *, seed: int, both_orders: bool) -> Frame:
    """The first `n` rows of pairs of the frame's issues."""
    issues = {str(issue["issue_key"]): issue for issue in to_records(frame)}
    priorities = {key: str(issue["priority"]) for key, issue in issues.items()}
    ranks = {key: PRIORITIES.index(priority) for key, priority in priorities.items()}
    pairs = place_gold(draw_pairs(priorities, seed), ranks=ranks, seed=seed)
    if both_orders:
        pairs = (order for a, b in pairs for order in ((a, b), (b, a)))
    extra = tuple(name for name in ("rationale",) if name in frame.columns)
    columns = ("pair_id", "key_a", "key_b", *(f"{name}_{side}" for side in "ab" for name in (*_SIDES, *extra)), *extra)
    return to_frame([_pair_row(a, b, issues, extra) for a, b in islice(pairs, max(n, 0))], columns=columns)


def _pair_row(a: str, b: str, issues: Mapping[str, Mapping[str, Any]], extra: tuple[str, ...]) -> dict[str, Any]:
    row = {"pair_id": f"{a}>{b}", "key_a": a, "key_b": b}
    for side, key in (("a", a), ("b", b)):
        row |= {f"{name}_{side}": issues[key][name] for name in (*_SIDES, *extra)}
    if extra and row["rationale_a"] and row["rationale_b"]:
        row["rationale"] = f"Issue A: {row['rationale_a']} Issue B: {row['rationale_b']}"
    return row
