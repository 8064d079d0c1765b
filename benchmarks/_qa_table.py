"""The one table of a run: a row for each reader and category, and for each reader all of them together."""

from __future__ import annotations

from statistics import fmean, median
from typing import TYPE_CHECKING

from _qa_readers import READERS
from _scores import ADVERSARIAL, CATEGORIES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from _qa_readers import Answered

_COLUMNS = (
    f"{'':<32}{'n':>5}{'F1':>7}{'BLEU-1':>8}{'found':>7}{'tokens':>8}{'served':>8}{'share':>8}{'calls':>7}{'s each':>8}"
)
_FAKE = "Answered by the fake server: F1 and BLEU-1 of a model's rows say that the wires hold, and nothing else.\n"


def table(answered: Sequence[Answered], given: argparse.Namespace) -> str:
    """The table as text, with what its columns mean below."""
    who = "the fake server" if given.fake else given.model or "nobody"
    lines = [f"k {given.k}, recall {given.recall}, analyst {given.analyst}, answered by {who}", "", _COLUMNS]
    for reader in dict.fromkeys(each.reader for each in answered):
        of = [each for each in answered if each.reader == reader]
        lines.append(READERS[reader])
        for category, name in CATEGORIES.items():
            some = [each for each in of if each.question.category == category]
            if some:
                lines.append(_row(name, some))
        lines.append(_row("all but adversarial", [each for each in of if each.question.category != ADVERSARIAL]))
        lines.append(_row("all", of))
    notes = (
        f"{_FAKE if given.fake else ''}"
        'F1 of adversarial questions: the share that was answered with "not mentioned"; without a model, none can be.\n'
        "found: share of the evidence among the recalled notes. tokens: mean of a prompt, counted here "
        f"({given.tokenizer}); served: the same as the model's server counts it.\n"
        "share: tokens as a part of the whole conversation's. s each: median time of a call."
    )
    return "\n".join([*lines, "", notes])


def _row(name: str, some: Sequence[Answered]) -> str:
    if not some:
        return f"  {name:<30}{0:>5}"
    said = [each.said for each in some if each.said is not None]
    served = f"{fmean(each.tokens_in for each in said):,.0f}" if said and any(each.tokens_in for each in said) else "-"
    found = [each.found for each in some if each.found is not None]
    return (
        f"  {name:<30}{len(some):>5}{100 * fmean(each.f1 for each in some):>7.1f}"
        f"{100 * fmean(each.bleu1 for each in some):>8.1f}{f'{fmean(found):.0%}' if found else '-':>7}"
        f"{fmean(each.prompt_tokens for each in some):>8,.0f}{served:>8}{fmean(each.share for each in some):>8.1%}"
        f"{len(said) or '-':>7}{f'{median(each.seconds for each in said):.2f}' if said else '-':>8}"
    )
