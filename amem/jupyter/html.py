"""What amem returns as HTML for notebooks: a note, hits, an explanation, a history, a report, a graph.

Every text is escaped, nothing is fetched from elsewhere, and colours are the host's own, so that light and dark fit.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from amem.interop.graph import TITLE, NoteGraph
from amem.interop.graph_formats import svg
from amem.labels import counted, short_id, title
from amem.maintenance.phase import MaintenanceReport
from amem.note import MemoryNote, Overturned, Receipt
from amem.rendering import segments
from amem.retrieval.confidence import Support
from amem.retrieval.explanation import Explanation, Passage
from amem.retrieval.hit import Hit
from amem.storage.operations import Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime


_SOFT = "opacity:.7;font-size:.92em"
_CARD = "border:1px solid rgba(128,128,128,.4);border-radius:6px;padding:.5em .8em;max-width:60em;margin:.2em 0"
_TABLE = "border-collapse:collapse;margin:.2em 0"
_CELL = "text-align:left;vertical-align:top;padding:.15em .7em .15em 0"
#: Characters of a value that a history shows.
_LONGEST = 300


def note(shown: MemoryNote) -> str:
    """A note: its text with what no longer holds struck through, tags, context and standing."""
    when = shown.at or shown.recorded_at
    meta = [_day(when), str(shown.kind), str(shown.layer).replace("_", " "), str(shown.status), shown.id]
    ends = f"until {_day(shown.valid_to)}" if shown.valid_to else ""
    parts = [
        f"<div style='white-space:pre-wrap'>{_standing(shown.content, shown.overturned)}</div>",
        _line(" · ".join(each for each in (*meta, ends, "pinned" if shown.pinned else "") if each)),
        _line(" ".join(f"#{tag}" for tag in shown.tags)),
        _line(shown.context),
        *(_line(f"in doubt: {doubt}") for doubt in shown.doubts),
    ]
    return _card(parts)


def hits(found: Sequence[Hit]) -> str:
    """Hits in a table, best first, each with its support, its catalog and its reasons; weak ones below a line."""
    if not found:
        return _card([_line("No notes match.")])
    rows = []
    for place, hit in enumerate(found, 1):
        weak = hit.support is not Support.STRONG
        if weak and (place == 1 or found[place - 2].support is Support.STRONG):
            rows.append(f"<tr><td></td><td colspan='2' style='{_CELL};{_SOFT}'>nothing certain; nearest:</td></tr>")
        text = _standing(hit.content, hit.overturned) if hit.overturned else _marked(hit.passage, hit.content)
        named = [f"catalog {hit.catalog}"] if hit.is_catalog else []
        meta = " · ".join([*named, str(hit.kind), hit.timestamp, " ".join(f"#{tag}" for tag in hit.tags), hit.id])
        doubts = "".join(_line(f"in doubt: {doubt}") for doubt in hit.doubts)
        rows.append(
            f"<tr><td style='{_CELL}'>{place}</td>"
            f"<td style='{_CELL}'>{hit.score:.2f}<div style='{_SOFT}'>{hit.confidence:.0%} sure</div></td>"
            f"<td style='{_CELL}'><div style='white-space:pre-wrap'>{text}</div>{_line(meta)}"
            f"{_line(hit.explanation.words())}{doubts}</td></tr>"
        )
    return _table(("", "score", "note"), rows)


def _marked(part: Passage, whole: str) -> str:
    """A part of a note with the matched words marked, and an ellipsis where the note goes on."""
    pieces = "".join(f"<mark>{escape(piece)}</mark>" if matched else escape(piece) for piece, matched in part.pieces())
    before, after = whole[: part.start].strip(), whole[part.end :].strip()
    return f"{'… ' if before else ''}{pieces}{' …' if after else ''}"


def receipt(shown: Receipt) -> str:
    """What a write did: its links, what it overturned, and the operation that undoes it."""
    parts = [f"<div>{escape(_written(shown))}</div>"]
    parts += [_line(f"{link.type} → {link.target}: {link.reason}") for link in shown.links]
    parts += [_line(f"overturned: {id}") for id in shown.superseded]
    parts += [_line(f"refused: {each}") for each in shown.dropped]
    return _card(parts)


def explanation(shown: Explanation) -> str:
    """Why a note has its score: its sentence, and each leg's share."""
    rows = [
        f"<tr><td style='{_CELL}'>{escape(leg.leg)}</td><td style='{_CELL}'>{share:.3f}</td>"
        f"<td style='{_CELL}'>{escape(leg.words())}</td></tr>"
        for leg, share in shown.shares
    ]
    if shown.link_share > 0:
        why = "; ".join(step.words() for step in shown.via)
        rows.append(
            f"<tr><td style='{_CELL}'>links</td><td style='{_CELL}'>{shown.linked_share:.3f}</td>"
            f"<td style='{_CELL}'>{escape(why)}</td></tr>"
        )
    rows.append(
        f"<tr><td style='{_CELL}'>freshness</td><td style='{_CELL}'>×{shown.prior.factor:.2f}</td>"
        f"<td style='{_CELL}'>{escape(', '.join(shown.prior.told()))}</td></tr>"
    )
    head = _line(f"score {shown.score:.3f} of {title(shown.content, TITLE) or shown.id}: {shown.words()}")
    return head + _table(("leg", "share", "why"), rows)


def history(versions: Sequence[Version]) -> str:
    """A note's versions: what changed in each, by whom and why, and the operation that undoes it."""
    rows = []
    for version in versions:
        changes = "".join(
            f"<div><b>{escape(name)}</b>: {_value(before, 'del')} → {_value(after, 'ins')}</div>"
            for name, (before, after) in version.changes.items()
        )
        rows.append(
            f"<tr><td style='{_CELL}'>{version.version}</td><td style='{_CELL}'>{_day(version.at)}</td>"
            f"<td style='{_CELL}'>{escape(version.action)} by {escape(version.actor)}{_line(version.cause)}</td>"
            f"<td style='{_CELL}'>{changes}</td><td style='{_CELL}'>{version.operation}</td></tr>"
        )
    return _table(("version", "when", "what", "changes", "operation"), rows)


def report(shown: MaintenanceReport) -> str:
    """What a maintenance run did, or would do, with a reason for each change."""
    rows = [
        f"<tr><td style='{_CELL}'>{escape(reason.what)}</td><td style='{_CELL}'>{escape(reason.id)}</td>"
        f"<td style='{_CELL}'>{escape(reason.why)}</td></tr>"
        for reason in shown.reasons
    ]
    table = _table(("what", "note", "why"), rows) if rows else ""
    return _card(
        [f"<div>{escape(_headline(shown))}</div>", *(_line(f"failed: {problem}") for problem in shown.problems), table]
    )


def graph(shown: NoteGraph) -> str:
    """The graph as a static picture."""
    more = f", {shown.left_out:,} more notes not shown" if shown.left_out else ""
    return _line(f"{counted(len(shown.nodes), 'note')}, {counted(len(shown.edges), 'link')}{more}") + svg(shown)


def listed(values: list[Any] | tuple[Any, ...]) -> str | None:
    """Hits, notes or a history in a list; None for a list of anything else, which is shown as ever."""
    if values and all(isinstance(value, Hit) for value in values):
        return hits(values)
    if values and all(isinstance(value, Version) for value in values):
        return history(values)
    if values and all(isinstance(value, MemoryNote) for value in values):
        return "".join(map(note, values))
    return None


def line(value: MemoryNote | Hit | Version | Receipt | Explanation | MaintenanceReport | NoteGraph) -> str:
    """A value in a line of plain text."""
    match value:
        case Hit():
            named = f", catalog {value.catalog}" if value.is_catalog else ""
            said = f"{value.score:.2f}, {value.confidence:.0%} sure{named}, {short_id(value.id)}: "
            said += title(value.content, TITLE)
        case Version():
            said = f"version {value.version}, {_day(value.at)}: {value.action} by {value.actor}, {value.cause}"
        case Explanation():
            said = f"{value.score:.3f}, {short_id(value.id)}: {value.words()}"
        case Receipt():
            said = _written(value)
        case MaintenanceReport():
            said = _headline(value)
        case MemoryNote():
            when = f"{_day(value.at or value.recorded_at)}, {value.kind}"
            said = f"{when}, {short_id(value.id)}: {title(value.content, TITLE)}"
        case _:
            said = f"{counted(len(value.nodes), 'note')}, {counted(len(value.edges), 'link')}"
    return f"<{type(value).__name__} {said}>"


def _written(shown: Receipt) -> str:
    links = f"{len(shown.links)} link{'' if len(shown.links) == 1 else 's'}"
    undo = "" if shown.operation is None else f"; undo with operation {shown.operation}"
    return f"{shown.status} {short_id(shown.id)}, analysed by {shown.analyst or 'nothing yet'}, {links}{undo}"


def _headline(shown: MaintenanceReport) -> str:
    counts = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in shown.counts())
    state = "would change" if shown.dry_run else "changed"
    undo = "" if shown.operation is None else f"; undo with operation {shown.operation}"
    return f"{shown.cycle} maintenance {state}: {counts or 'nothing'}{undo}"


def _standing(content: str, overturned: Iterable[Overturned]) -> str:
    parts = []
    for segment in segments(content, overturned):
        ended = segment.overturned
        if ended is None:
            parts.append(escape(segment.text))
            continue
        then = f", then: {ended.then}" if ended.then else ""
        parts.append(f"<del>{escape(segment.text)}</del> <em>(until {_day(ended.until)}{escape(then)})</em>")
    return "".join(parts)


def _value(value: Any, element: str) -> str:
    if value in (None, "", [], {}):
        return f"<span style='{_SOFT}'>nothing</span>"
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return f"<{element}>{escape(text if len(text) <= _LONGEST else text[:_LONGEST] + '…')}</{element}>"


def _day(moment: datetime | None) -> str:
    return "" if moment is None else moment.strftime("%Y-%m-%d")


def _line(text: str) -> str:
    return f"<div style='{_SOFT}'>{escape(text)}</div>" if text else ""


def _card(parts: Iterable[str]) -> str:
    return f"<div style='{_CARD}'>{''.join(parts)}</div>"


def _table(columns: Sequence[str], rows: Iterable[str]) -> str:
    head = "".join(f"<th style='{_CELL}'>{escape(column)}</th>" for column in columns)
    return f"<table style='{_TABLE}'><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
