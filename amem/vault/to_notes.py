"""What files ask of notes, held against the last sync, and carried out as one operation, which one undo takes back."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from amem.errors import AmemError, InvalidInput
from amem.interop.front_matter import CREATED
from amem.interop.items import source_id
from amem.interop.wikilinks import is_of_text
from amem.language import hashtags
from amem.note import SCOPES, Link, LinkType, MemoryNote, Source, Status
from amem.storage.vaults import NEW, KnownFile
from amem.vault.look import Look, Seen
from amem.vault.names import folded, stem
from amem.vault.pages import Index, Led, Refs, canonical, is_generated, merge, said_by_file, said_by_note, tag_text
from amem.vault.state import NOTHING, PURGED, Edit, Notes, State, Step
from amem.vault.to_files import set_aside
from amem.writing.evolution import drop_guesses
from amem.writing.fields import clean_content
from amem.writing.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from amem.storage.store import Session
    from amem.vault.note_file import NoteFile


_ID_WRITTEN, _COPY = "its id is written into it", "a copy of another file: it gets an id of its own"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def fresh_notes(state: State, notes: Notes) -> dict[str, NewNote]:
    """New notes by id: the files of no note yet, which get an id, and those with an id that no note has.

    The id is written into a file together with all else that its note says, once there is a note.
    """
    look = state.look
    _refuse_unusable(state)
    created: dict[str, NewNote] = {}
    begun: list[tuple[KnownFile, str]] = []
    for seen in look.fresh:
        id = state.clock.new_id()
        look.seen[id] = seen
        created[id] = _new_note(state, id, seen, _COPY if seen.path in look.copies else _ID_WRITTEN)
        begun.append(_begun(id, seen))
    unknown = [id for id in look.seen if id not in notes.standing and id not in created]
    with state.store.read() as session:
        purged = session.vaults.purged(unknown)
    for id in unknown:
        seen = look.seen[id]
        if id not in purged:
            if id in state.known and state.known[id].is_new:
                created[id] = _new_note(state, id, seen, _ID_WRITTEN)
                begun.append(_begun(id, seen))
            else:
                created[id] = _new_note(state, id, seen, "its id is of no note here")
            continue
        del look.seen[id]
        if id in state.known and state.known[id].digest == seen.digest:
            state.destroy(seen.path, seen.stat, id, PURGED)
        else:
            state.problem(seen.path, "its note was purged: delete the file, or take the id out of it to keep it")
    _begin(state, begun)
    return created


def _refuse_unusable(state: State) -> None:
    """Leave files alone whose text no note may have, and new ones that cannot be written."""
    look, settings = state.look, state.memory.settings
    for seen in list(look.fresh):
        try:
            clean_content(seen.file.body, settings)
            state.folder.check_writable(seen.path)
        except InvalidInput as error:
            look.fresh.remove(seen)
            state.problem(seen.path, error)
    for id, seen in list(look.seen.items()):
        try:
            clean_content(seen.file.body, settings)
        except InvalidInput as error:
            state.fail(id, seen.path, error)


def _begin(state: State, files: Sequence[tuple[KnownFile, str]]) -> None:
    """Store which note is made from which file: until its id is in the file, nothing else says so."""
    if files and state.vault is not None and not state.dry:
        with state.store.write() as session:
            session.vaults.put(state.vault.id, files)


def _new_note(state: State, id: str, seen: Seen, why: str) -> NewNote:
    state.report.to_notes.append(Step("added", seen.path, id, why))
    file = seen.file
    name = stem(seen.path)
    fields: dict[str, Any] = {"id": id, "metadata": {"title": name}}
    said, remarks = said_by_file(file, None, NOTHING, state.zone)
    state.report.remarks += [Step("remark", seen.path, id, each) for each in remarks]
    fields |= {field: value for field, value in said.fields.items() if field != "created"}
    if said.tags:
        # Without tags in front matter, those in the text are found when the note is read.
        fields["tags"] = list(dict.fromkeys([*said.tags, *filter(None, map(tag_text, hashtags(file.body)))]))
    for owner in SCOPES:
        if value := file.value(owner):
            fields["metadata"][owner] = value
    if not _DAY.fullmatch(name) and folded(name) not in folded(file.body[:200]):
        fields["context"] = name  # what the file is called is the only place that says so
    day = _DAY.search(name)
    time: str | datetime | None = said.fields.get("created")
    others = [file.value(each) for each in CREATED] + ([day[0]] if day is not None else [])
    if time is None:
        time = next((each for each in others if each and canonical("created", each, state.zone)), None)
    if time is None:
        time = datetime.fromtimestamp(seen.stat.mtime_ns / 1e9, UTC)
    source = Source(source_id("vault", id), "file", None, seen.path, None, None, file.body)
    return NewNote(file.body, time, source, fields)


def edits_asked(state: State, notes: Notes, index: Index) -> dict[str, Edit]:
    """What the files that changed ask of their notes."""
    look = state.look
    edits: dict[str, Edit] = {}
    for id, seen in list(look.seen.items()):
        note = notes.read.get(id)
        if note is None:
            edits[id] = _first_links(state, id, seen, index)
            continue
        if is_generated(note) and note.status is Status.ACTIVE:
            _generated(state, look, id, seen)
            continue
        if note.status is not Status.ACTIVE and not _brought_back(state, look, id, seen, note):
            continue
        edits[id] = _merged(state, id, seen, note, notes.links.get(id, []), index)
    for id, refs in state.refs.items():
        if id in look.same and notes.is_active(id) and (late := _late(refs, index, look.same[id][0])):
            edits[id] = _late_edit(state, id, look, late)
    return edits


def _merged(state: State, id: str, seen: Seen, note: MemoryNote, links: Sequence[Led], index: Index) -> Edit:
    before, known = state.refs.get(id, NOTHING), state.known.get(id)
    base_file, base = state.base(id)
    refs = Refs.of_file(seen.file, before, index, seen.path)
    by_file, remarks = said_by_file(seen.file, base, refs, state.zone)
    by_note = said_by_note(note, links, refs, index, state.zone)
    if seen.file.links is None and base_file is not None and base_file.links is not None and not seen.file.says("id"):
        by_file = replace(by_file, links=base.links if base is not None else frozenset())
    state.report.remarks += [Step("remark", seen.path, id, each) for each in remarks]
    merged = merge(base, by_file, by_note)
    fields: dict[str, Any] = {}
    if merged.said.body != by_note.body:
        fields["content"] = merged.said.body
    if merged.said.tags != by_note.tags:
        own = {tag_text(tag): tag for tag in note.tags}
        fields["tags"] = [own.get(tag, tag) for tag in merged.said.tags]
    for name, value in merged.said.fields.items():
        if by_note.fields.get(name) != value:
            fields["timestamp" if name == "created" else name] = value
    for name in ("valid_from", "valid_to"):
        if name in by_note.fields and name not in merged.said.fields:
            fields[name] = None
    renamed = known is not None and known.path and not known.gone and known.path != seen.path
    if renamed and known is not None and stem(known.path) != stem(seen.path):
        old, name = stem(known.path), stem(seen.path)
        fields["metadata"] = {**note.metadata, "title": name}
        if note.context == old:
            fields["context"] = name
    held = {(type, target): (reason, maker) for target, type, reason, maker in links}
    # Made in the text: links to be made, and to be taken away where the text made them.
    is_new = known is not None and known.is_new
    text_changed = base is None or is_new or by_file.body != base.body
    make = (
        [(target, str(LinkType.RELATED), f"[[{name}]]") for name, target in _made(refs, before)] if text_changed else []
    )
    make = [each for each in make if not _is_own(held.get((each[1], each[0])))]
    unmade = {target for name, target in before.wiki.items() if target is not None and name not in refs.wiki}
    drop = [
        (target, str(LinkType.RELATED))
        for target in (sorted(unmade - refs.linked) if text_changed else ())
        if held.get((str(LinkType.RELATED), target), ("", ""))[0].startswith("[[")
    ]
    reasons = _reasons(seen.file)
    known_pairs = base.links if base is not None else frozenset()
    make += [
        (target, type, reasons.get((type, name), ""))
        for (type, name), target in refs.lines.items()
        if target is not None and (type, target) not in known_pairs and (type, target) not in held
    ]
    drop += [
        (target, type)
        for type, target in known_pairs - by_file.links
        if (type, target) in held and target not in refs.linked
    ]
    make = [each for each in make if each[0] != id]
    what = "renamed" if renamed and not (fields.keys() - {"metadata", "context"} or make or drop) else "changed"
    if what == "changed" and base is not None and by_note != base and by_file != base:
        what = "merged"
    return Edit(seen, fields, tuple(make), tuple(drop), what, merged.conflicts)


def _first_links(state: State, id: str, seen: Seen, index: Index) -> Edit:
    """The links of a file whose note is new."""
    refs = Refs.of_file(seen.file, NOTHING, index, seen.path)
    make = [(target, str(LinkType.RELATED), f"[[{name}]]") for name, target in _made(refs, NOTHING)]
    reasons = _reasons(seen.file)
    make += [(target, type, reasons[type, name]) for (type, name), target in refs.lines.items() if target is not None]
    return Edit(seen, {}, tuple(each for each in make if each[0] != id), what="added")


def _late_edit(state: State, id: str, look: Look, late: Refs) -> Edit:
    """Links of a file that nobody changed, to a name that means a note since."""
    path, stat = look.same[id]
    file, _ = state.base(id)
    assert file is not None
    reasons = _reasons(file)
    make = [(target, str(LinkType.RELATED), f"[[{name}]]") for name, target in late.wiki.items() if target]
    make += [(target, type, reasons[type, name]) for (type, name), target in late.lines.items() if target]
    found = tuple(each for each in make if each[0] != id)
    return Edit(Seen(path, stat, state.known[id].digest, file), {}, found, what="linked")


def _generated(state: State, look: Look, id: str, seen: Seen) -> None:
    """A page that amem writes: where it was edited it is left as it is, and said."""
    known = state.known.get(id)
    if known is not None and known.digest == seen.digest:
        return  # merely elsewhere
    look.blocked.add(id)
    del look.seen[id]
    state.problem(
        seen.path, "amem writes this page by itself: keep your words in a file of your own, and delete this one"
    )


def _brought_back(state: State, look: Look, id: str, seen: Seen, note: MemoryNote) -> bool:
    """Whether a file stands for a note that is to be active again; else it is dealt with."""
    known = state.known.get(id)
    if known is not None and not known.gone and known.digest == seen.digest:
        look.same[id] = seen.path, seen.stat  # as it was: it goes as its note went
        del look.seen[id]
        return False
    if known is not None and not known.gone:
        set_aside(state, id, seen, f"its note is {note.status} and the file was changed since")
        return False
    if note.status is Status.DELETED:
        state.report.to_notes.append(Step("restored", seen.path, id, "its file is back"))
        return True
    look.blocked.add(id)
    del look.seen[id]
    state.problem(
        seen.path, f"its note is {note.status}: delete the file, or bring the note back with amem restore {id[:8]}"
    )
    return False


def gone_notes(state: State, notes: Notes) -> list[str]:
    """Notes to be hidden, as their file was deleted and they are as they were then."""
    look = state.look
    gone: list[str] = []
    for id in look.missing:
        note = notes.read.get(id)
        if note is None or note.status is not Status.ACTIVE:
            continue
        _, base = state.base(id)
        if base is not None and not is_generated(note) and note.content.strip("\n") != base.body:
            state.report.to_files.append(Step("put back", state.known[id].path, id, "its note was changed since"))
            continue
        gone.append(id)
        state.report.to_notes.append(Step("deleted", state.known[id].path, id, "its file was deleted"))
    return gone


def _begun(id: str, seen: Seen) -> tuple[KnownFile, str]:
    """(a file whose note is being made, its text), to be remembered."""
    return KnownFile(id, seen.path, seen.digest, -1, NEW, "{}", False), seen.file.encoded.decode()


def _made(refs: Refs, before: Refs) -> list[tuple[str, str]]:
    """(name, note) of the links that the text makes and did not make before, each note once."""
    found: dict[str, str] = {}
    for name, target in refs.wiki.items():
        if target is not None and target not in before.linked:
            found.setdefault(target, name)
    return [(name, target) for target, name in found.items()]


def _late(refs: Refs, index: Index, path: str) -> Refs | None:
    """What names that led to nothing lead to now; None while they lead to nothing."""
    if not (refs.wiki or refs.lines):
        return None
    dangling = {name for name, id in refs.wiki.items() if id is None or id not in index}
    wiki = {name: found for name in dangling if (found := index.find(name, path)) is not None}
    lines = {key: found for key, id in refs.lines.items() if id is None and (found := index.find(key[1])) is not None}
    return Refs(lines, wiki) if wiki or lines else None


def _reasons(file: NoteFile) -> dict[tuple[str, str], str]:
    """Why its links are there, by (type, name)."""
    return {(line.type, line.name): line.reason for line in file.links or ()}


def _is_own(held: tuple[str, str] | None) -> bool:
    """Whether a link is there already that a person made."""
    return held is not None and held[1].split(":")[0] == "user"


# Carried out, in one operation.

ACTION = "sync"


def carry_out(state: State, created: Mapping[str, NewNote], edits: Mapping[str, Edit], gone: Sequence[str]) -> None:
    """Add, change, link and hide; what is refused is told, and its file left alone."""
    with _as_one(state, bool(created or gone or any(edit.asks for edit in edits.values()))):
        _add(state, created)
        _edit(state, edits)
        _delete(state, gone)


@contextmanager
def _as_one(state: State, wanted: bool) -> Iterator[None]:
    if not wanted or state.dry:
        yield
        return
    with state.store.write() as session:
        cause = f"sync with {state.folder.root.name}"
        operation = state.report.operation = session.begin(ACTION, state.memory.actor, cause)
    with state.store.within_operation(operation):
        yield


def _add(state: State, created: Mapping[str, NewNote]) -> None:
    if state.dry or not created:
        return
    refused: dict[str, AmemError] = {}
    ids = list(created)

    def on_refused(position: int, error: AmemError) -> None:
        refused[ids[position]] = error

    state.memory.add_notes(list(created.values()), cause="", action="add", on_refused=on_refused)
    for id, error in refused.items():
        state.fail(id, state.look.seen[id].path, error)
    if refused and state.vault is not None:
        with state.store.write() as session:
            session.vaults.forget(state.vault.id, [id for id in refused if id not in state.known])


def _edit(state: State, edits: Mapping[str, Edit]) -> None:
    report = state.report
    links: list[tuple[str, Edit]] = []
    back = {step.note for step in report.to_notes if step.what == "restored"}
    for id, edit in edits.items():
        if id in state.look.blocked:
            continue
        if edit.asks and edit.what != "added":
            report.to_notes.append(Step(edit.what, edit.seen.path, id, _named(edit)))
        if edit.conflicts:
            state.conflicts[id] = edit
        if state.dry:
            continue
        try:
            if id in back:
                state.memory.restore(id)
            if edit.fields:
                state.memory.update(id, **edit.fields)
        except AmemError as error:
            state.fail(id, edit.seen.path, error)
            continue
        links.append((id, edit))
    if any(edit.make or edit.drop for _, edit in links):
        with state.store.write() as session:
            _relink(state, session, links)


def _relink(state: State, session: Session, edits: Sequence[tuple[str, Edit]]) -> None:
    drop = [(id, target, LinkType(type)) for id, edit in edits for target, type in edit.drop]
    make = [(id, *each) for id, edit in edits for each in edit.make]
    actor = state.memory.actor
    held = session.notes.keys_of([id for id, *_ in make] + [each[1] for each in make])
    if drop:
        operation = session.begin("unlink", actor)
        for source, target, type in drop:
            session.links.remove(source, target, type, operation)
    if make:
        operation = session.begin("link", actor)
        for source, target, name, reason in make:
            if source not in held or target not in held or session.links.leads_across(source, target):
                continue
            # What a person links is theirs, whoever guessed it before.
            session.links.remove(source, target, LinkType(name), operation)
            if is_of_text(reason):
                drop_guesses(session, source, target, operation)
            link = Link(source, target, LinkType(name), reason, 1.0, actor, session.now)
            session.links.put(link, operation)


def _delete(state: State, gone: Sequence[str]) -> None:
    if state.dry:
        state.let_go = frozenset(gone)
    elif gone:
        state.memory.delete_notes(gone)


def _named(edit: Edit) -> str:
    names = ["text" if name == "content" else "name" if name == "metadata" else name for name in edit.fields]
    return ", ".join([*names, *(["links"] if edit.make or edit.drop else [])])
