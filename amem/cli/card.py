"""One note as people read it: whole, or as what came of adding it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.cli.hits import origin_of
from amem.cli.render import (
    console,
    count,
    in_words,
    on_terminal,
    one_line,
    print_wrapped,
    say,
    short_id,
    short_ids,
    styled,
    when,
)
from amem.clock import zone
from amem.note import LinkType, Status
from amem.rendering import fallen, mark, text_of
from amem.writing.steps import BY_RULES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from amem.memory_system import AgenticMemorySystem
    from amem.note import Link, MemoryNote
    from amem.receipt import Receipt
    from amem.verdict import Conflict


def print_card(memory: AgenticMemorySystem, note: MemoryNote) -> None:
    """The note's text, its fields, its links in both directions with reasons, and where it came from."""
    if not on_terminal():
        for name, value in [("id", note.id), *_facts(memory, note)]:
            say(f"{name}: {one_line(value)}")
        say(f"\n{text_of(note)}\n")
        return
    out = console()
    out.print(styled((short_id(note.id), "bold cyan"), f"  {note.kind}  ", (_tags(note), "green")))
    out.print()
    print_wrapped(out, styled(text_of(note)), indent=2)
    out.print()
    for name, value in _facts(memory, note):
        print_wrapped(out, styled((f"{name:<11}", "dim"), value), indent=2, hanging=11)
    out.print()


def print_receipt(memory: AgenticMemorySystem, receipt: Receipt, *, mark: str = "") -> None:
    """What adding a note did: how it was analysed, what it was linked to, what it changed. `mark` goes before it."""
    out = console()
    if not receipt.stored:
        out.print(styled((mark, "dim"), "already saved as ", (short_id(receipt.id), "bold cyan")))
        return
    note = memory.read(receipt.id)
    assert note is not None
    out.print(
        styled((mark, "dim"), "stored ", (short_id(note.id), "bold cyan"), f"  {note.kind}  ", (_tags(note), "green"))
    )
    if note.context:
        print_wrapped(out, styled(note.context), indent=2)
    done = [_of_conflict(each, note.id) for each in receipt.conflicts]
    told = {(each.later, each.earlier) for each in receipt.conflicts}
    done += [
        (f"{link.type} → ", link.target, link.reason)
        for link in receipt.links
        if (link.source, link.target) not in told or link.type not in (LinkType.CONTRADICTS, LinkType.SUPERSEDES)
    ]
    done += [("rewrote ", each.id, f"{', '.join(each.fields)}: {each.reason}") for each in receipt.evolved]
    done += [("waits for review: ", each.id, each.reason) for each in receipt.queued]
    for what, id, reason in done:
        print_wrapped(out, styled(what, (short_id(id), "cyan"), f"  {reason}"), indent=2, hanging=2)


def _of_conflict(conflict: Conflict, id: str) -> tuple[str, str, str]:
    """What came of the note `id` and another: in words, the other, and why."""
    label, reason = conflict.verdict.label, conflict.verdict.reason
    mine = conflict.later == id
    other = conflict.earlier if mine else conflict.later
    if conflict.hides:
        return "supersedes " if mine else "superseded by ", other, reason
    if conflict.ends:
        said = "; ".join(one_line(each, 60) for each in conflict.ends)
        return f"ends “{said}” of " if mine else f"“{said}” ended by ", other, reason
    if conflict.waits and not conflict.verdict.whole and mine:
        return "", other, f"may be partly out of date: {reason}"
    if conflict.waits:
        return f"may {'supersede' if mine else 'be superseded by'} ", other, f"{reason}; {conflict.waits}"
    return f"{label} ", other, reason


def _facts(memory: AgenticMemorySystem, note: MemoryNote) -> Iterator[tuple[str, str]]:
    local = zone(memory.settings.timezone)
    yield "when", f"{when(note.at, local)} (recorded {when(note.recorded_at, local)})"
    if note.context:
        yield "context", note.context
    yield "keywords", ", ".join(note.keywords)
    yield "tags", ", ".join(note.tags)
    if note.entities:
        yield "entities", ", ".join(note.entities)
    gone = fallen(note)
    for place, fact in enumerate(note.facts):
        ended = f" ({mark(gone[place])})" if place in gone else ""
        yield "fact", " · ".join((fact.subject, fact.predicate, fact.object)) + ended
    if note.valid_from or note.valid_to:
        yield "valid", _validity(note, local)
    if note.speaker:
        yield "speaker", note.speaker
    if note.category and note.category != "Uncategorized":
        yield "category", note.category
    for name, value in note.metadata.items():
        yield name, in_words(value)
    for doubt in note.doubts:
        yield "doubt", f"may be out of date: {doubt}"
    yield "status", _status(note)
    for link in memory.links(note.id):
        yield "link", f"{link.type} → {_other(memory, link, link.target)}"
    for link in memory.backlinks(note.id):
        yield "linked by", f"{link.type} ← {_other(memory, link, link.source)}"
    for source in memory.sources([note.id])[note.id]:
        yield "source", f"{source.kind} {origin_of(source)}".strip()


def _validity(note: MemoryNote, local: tzinfo) -> str:
    ends = [("from", note.valid_from), ("to", note.valid_to)]
    return " ".join(f"{word} {when(moment, local)}" for word, moment in ends if moment is not None)


def _status(note: MemoryNote) -> str:
    parts = [str(note.status)] if note.status is not Status.ACTIVE else []
    if note.superseded_by:
        parts.append(f"by {short_id(note.superseded_by)}")
    parts += [str(note.layer).replace("_", "-"), f"importance {note.importance:.2f}", f"trust {note.trust:.2f}"]
    parts += ["pinned"] if note.pinned else []
    parts.append(f"version {note.version}")
    if note.analyst:
        # Of an episode it says who summed it up: of a chat's the rules do, since no model is asked about words twice.
        done = "summed up" if "episode" in note.metadata else "analysed"
        parts.append(f"{done} by {note.analyst}" if note.enrichment == "done" else f"analysis {note.enrichment}")
    filled: dict[str, str] = note.metadata.get(BY_RULES) or {}
    parts += [f"{field} by the rules: {reason}" for field, reason in filled.items()]
    if note.retrieval_count:
        parts.append(f"recalled {count(note.retrieval_count, 'time')}")
    return ", ".join(parts)


def _other(memory: AgenticMemorySystem, link: Link, id: str) -> str:
    note = memory.read(id)
    words = one_line(note.content, 60) if note is not None else "(not there)"
    reason = f": {short_ids(link.reason)}" if link.reason else ""
    return f"{short_id(id)} {words}{reason} ({link.made_by})"


def _tags(note: MemoryNote) -> str:
    return " ".join(f"#{tag}" for tag in note.tags)
