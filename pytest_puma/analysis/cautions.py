"""Cautions about the numbers of a cell: sentences that every report shows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from pytest_puma.core import SANDBOX, Measure, Metric, Prediction, Sample, Scenario
from pytest_puma.datasets.fields import beginning
from pytest_puma.judges.agreement import LABEL, REPLY, WEAK, labelled
from pytest_puma.metrics import TOLERATED_FAILURES
from pytest_puma.metrics.calibration import outside_labels
from pytest_puma.metrics.statistic import MIN_ROWS
from pytest_puma.phrases import named
from pytest_puma.replies.fences import blocks
from pytest_puma.task_types import KINDS

#: A higher mean probability outside the scored labels gives a warning. In zero-shot triage, a chat model of
#: 135 million parameters has .98, a base model of 270 million .9999.
TOLERATED_OUTSIDE = 0.99
#: A larger share of texts that were cut off gives a warning.
TOLERATED_TRUNCATION = 0.05
#: A larger share of unreadable verdicts of a judge fails the gates on them.
TOLERATED_UNREADABLE = 0.05
#: Minimum seconds, and minimum share of a cell's seconds, for a caution about an own metric.
SLOW, SLOW_SHARE = 5.0, 0.2
#: Maximum number of refused texts, or of repeated rows, in a sentence.
_SHOWN = 3
#: The errors of Python about a text that is no program.
_NO_CODE = ("SyntaxError", "IndentationError", "TabError")
_REFUSED = tuple(kind.refusal for kind in KINDS.values())


def failure_counts(predictions: Sequence[Prediction]) -> dict[str, int]:
    """Return the count of each cause of a missing answer, the most frequent first."""
    causes = Counter(prediction.failure for prediction in predictions if prediction.failure is not None)
    return dict(causes.most_common())


def on_answers(scenario: Scenario, predictions: Sequence[Prediction]) -> list[str]:
    """Return sentences on refused answers, on parse failures beyond the tolerated share, and on overflows."""
    total, causes = len(predictions), failure_counts(predictions)
    refused = sum(causes.get(cause, 0) for cause in _REFUSED)
    failures = sum(causes.values())
    sentences = [f"{refused} of {total} {_refused(scenario, predictions)}"] if refused else []
    if failures > refused and failures > TOLERATED_FAILURES * total:
        listed = ", ".join(f"{times} {cause.replace('_', ' ')}" for cause, times in causes.items())
        sentences.append(f"{failures} of {total} replies could not be parsed ({listed}); the scores are not meaningful")
    for caution in (_on_labels_without_samples, _on_scores, _on_truncation, _on_programs):
        sentences += caution(scenario, predictions)
    # Trials of a sample share its prompt.
    prompts = [prediction.failure for prediction in predictions if prediction.trial == 0]
    if overflown := prompts.count("overflow"):
        sentences.append(f"{overflown} of {len(prompts)} prompts are longer than the context and were not answered")
    return sentences


def _on_labels_without_samples(scenario: Scenario, predictions: Sequence[Prediction]) -> list[str]:
    """A sentence if answers name labels that no sample has. In a few samples, labels are often absent."""
    if scenario.kind.form != "labels" or len(predictions) < MIN_ROWS:
        return []
    answers = Counter(prediction.answer for prediction in predictions if prediction.answer is not None)
    golds = {prediction.gold for prediction in predictions}
    absent = [label for label in scenario.valid_labels() if label in answers and label not in golds]
    if not absent:
        return []
    times = sum(answers[label] for label in absent)
    sentence = (
        f"no sample has the label {' or '.join(absent)}, which {times} of {len(predictions)} answers name; "
        "f1_macro counts each of these labels as a class with an F1 of 0"
    )
    return [sentence]


def _on_scores(scenario: Scenario, predictions: Sequence[Prediction]) -> list[str]:
    """A sentence if the model would rather write something else than any of the scored labels."""
    labels = scenario.valid_labels()
    masses = (outside_labels(prediction, labels) for prediction in predictions)
    outside = [mass for mass in masses if not math.isnan(mass)]
    if not outside or fmean(outside) <= TOLERATED_OUTSIDE:
        return []
    sentence = (
        f"all labels together have {1 - fmean(outside):.2g} of the probability of all replies (outside_labels): "
        "their scores compare replies that the model would seldom write"
    )
    return [sentence]


def _on_truncation(scenario: Scenario, predictions: Sequence[Prediction]) -> list[str]:
    """A sentence if many texts were cut off. A label is mostly complete before its reply is."""
    if scenario.kind.form != "texts":
        return []
    cut = sum(prediction.truncated for prediction in predictions)
    if cut <= TOLERATED_TRUNCATION * len(predictions):
        return []
    sentence = f"{cut} of {len(predictions)} replies were cut off at the token limit, and are scored as they are; "
    return [f"{sentence}raise max_tokens, or let a stop string end them"]


def _on_programs(_: Scenario, predictions: Sequence[Prediction]) -> list[str]:
    """A sentence if programs are no code because of the Markdown fences around them, or if none is code."""
    ran = [prediction for prediction in predictions if SANDBOX in prediction.transcripts]
    broken = [prediction for prediction in ran if _is_no_code(prediction)]
    fenced = sum(bool(blocks(prediction.text)) for prediction in broken)
    count = f"{len(broken)} of {len(ran)} programs end with a SyntaxError"
    if fenced > TOLERATED_FAILURES * len(ran):
        which = "as their replies have" if fenced == len(broken) else f"{fenced} of them in replies with"
        advice = "return code(text) of pytest_puma.replies.readers in post_process (docs/running-code.md)"
        return [f"{count}, {which} Markdown fences; {advice}"]
    return [f"{count}: the text that metrics read is no program"] if broken and len(broken) == len(ran) else []


def _is_no_code(prediction: Prediction) -> bool:
    """Whether a program of the prediction could not be parsed: the last line of its output has the error."""
    outputs = (turn.response.text.rstrip().rpartition("\n")[2] for turn in prediction.transcripts[SANDBOX].turns)
    return any(output.startswith(_NO_CODE) for output in outputs)


def on_repeats(samples: Sequence[Sample], texts: Sequence[str]) -> list[str]:
    """Return a sentence on rows that repeat others, with their places and the beginning of their text."""
    repeated = [sample for sample in samples if sample.equal_row]
    if not repeated:
        return []
    places = (
        f"{sample.row} repeats {sample.equal_row}{f' ({quote!r})' if (quote := beginning(sample, texts)) else ''}"
        for sample in repeated
    )
    quoted = named(places, _SHOWN, separator="; ")
    sentence = (
        f"{len(repeated)} of {len(samples)} samples repeat an earlier row: {quoted}; "
        'they count as further samples of the same unit; duplicates = "drop" in the scenario leaves them out'
    )
    return [sentence]


def on_judge(metric: str, wanted: str) -> str:
    """Return a sentence on a gate whose judge nobody has checked; `wanted`: where labels are expected."""
    return f"{metric}: this judge was never compared with people; label some replies in {wanted}"


def on_undrawn_labels(
    metrics: Sequence[Metric], samples: Sequence[Sample], rows: Callable[[], Iterable[Mapping[str, Any]]]
) -> list[str]:
    """Return a sentence if people labelled rows that are not among the samples; `rows` reads all of them."""
    if not any(name.startswith(LABEL) for name in samples[0].fields):
        return []
    every = labelled(metrics, rows())
    undrawn = every - labelled(metrics, (sample.fields for sample in samples))
    sentence = (
        f"{undrawn} of {every} rows with labels of people were not drawn, so no judge is compared with these labels; "
        "--puma-samples all draws them too"
    )
    return [sentence] if undrawn > 0 else []


def on_labels(metric: str) -> str:
    """Return a sentence on labels that were given to other replies than those of this run."""
    return (
        f"{metric}: no row has the reply that people labelled, in a column {REPLY!r}; their labels are compared with "
        "verdicts about the new replies (docs/judges.md)"
    )


def on_agreement(metric: str, kappa: Measure, only: str = "") -> str:
    """Return a sentence on a gate whose judge may agree with people hardly more than by chance.

    `only`: the verdict that it gave for all labelled replies, empty if it gave several.
    """
    if only:
        people = "people did the same" if math.isnan(kappa.value) else "this makes kappa 0, whatever people say"
        return (
            f"{metric}: this judge gave all {kappa.n} labelled replies one verdict, {only!r}; {people}, "
            "so nothing shows that it tells good replies from bad ones (docs/judges.md)"
        )
    return (
        f"{metric}: this judge agrees with people by a kappa of {kappa.value:.3g} [{kappa.low:.3g}, {kappa.high:.3g}]; "
        f"where it may be under {WEAK:g}, its verdicts say little about theirs (docs/judges.md)"
    )


def on_unreadable(reason: str, rate: float) -> str:
    """Return the reason of a gate that fails as too many verdicts are unreadable, after its own reason."""
    return (
        f"{reason}; but {rate:.0%} of the judge's verdicts are unreadable (at most {TOLERATED_UNREADABLE:.0%} may be)"
    )


def on_slow_metrics(seconds: Mapping[str, tuple[float, int]], whole: float) -> list[str]:
    """Return a sentence for each slow metric; `seconds`: its seconds and calls by name; `whole`: of the cell."""
    return [
        f"metrics(): {name!r} took {took:.0f} s of {whole:.0f} s in {calls} calls, all but one for its interval; "
        "compute once what depends on one prediction alone, and look it up by its sample_id"
        for name, (took, calls) in seconds.items()
        if took >= max(SLOW, SLOW_SHARE * whole)
    ]


def on_size(requested: int, samples: int) -> list[str]:
    """Return a sentence if the data have fewer samples than requested."""
    if samples >= requested:
        return []
    return [f"{requested} samples were requested; the data have {samples}, all were run"]


def on_baseline(name: str, *, lacking: int, unasked: int, samples: int) -> list[str]:
    """Return a sentence if a part of the samples is not in the baseline, or a part of those of the baseline not here.

    `lacking`: the number of the former; `unasked`: of the latter, 0 if fewer were requested.
    """
    common = samples - lacking
    if not common:
        return []
    if lacking:
        of_all = f" of its {common + unasked}" if unasked else ""
        return [f"{lacking} of {samples} samples are not in {name}; comparisons with it use the other {common}{of_all}"]
    if unasked:
        return [f"{common} of the {common + unasked} samples of {name} were run; comparisons with it use these"]
    return []


def on_changed_data(name: str, numbers: str = "") -> str:
    """Return a sentence on a baseline of other data: its gold labels are not stored.

    `numbers`: its metric by today's labels and by those of then, empty if they are the same or unknown.
    """
    rise = f", which gives it {numbers}: do its ids still name the same rows?" if numbers else ""
    return f"the data changed since {name}: its answers are judged by today's labels{rise}"


def _refused(scenario: Scenario, predictions: Sequence[Prediction]) -> str:
    texts = Counter(prediction.parsed for prediction in predictions if prediction.failure in _REFUSED)
    quoted = named((f"{text!r} ({times})" for text, times in texts.most_common()), _SHOWN)
    if scenario.kind.form == "choices":
        return f"answers are no choice of their sample: {quoted}; read() must return the text of a choice, or None"
    if scenario.kind.form == "numbers":
        return f"answers are not finite numbers: {quoted}; parse_response() must return a number as text, or None"
    return (
        f"answers are not among valid_labels(): {quoted}; expected one of {', '.join(scenario.valid_labels())}; "
        "parse_response() must return a label exactly as valid_labels() spells it, or None"
    )
