"""What files ask of notes, carried out as one operation, which one undo takes back."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from amem.errors import AmemError
from amem.note import Link, LinkType
from amem.vault.state import Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from amem.storage.store import Session
    from amem.vault.state import Edit, State
    from amem.writing.intake import NewNote

ACTION = "sync"


class ToNotes:
    """Changes the notes."""

    def __init__(self, state: State) -> None:
        self._state = state

    def carry_out(self, created: Mapping[str, NewNote], edits: Mapping[str, Edit], gone: Sequence[str]) -> None:
        """Add, change, link and hide; what is refused is told, and its file left alone."""
        with self._as_one(bool(created or gone or any(edit.asks for edit in edits.values()))):
            self._add(created)
            self._edit(edits)
            self._delete(gone)

    @contextmanager
    def _as_one(self, wanted: bool) -> Iterator[None]:
        if not wanted or self._state.dry:
            yield
            return
        with self._state.store.write() as session:
            cause = f"sync with {self._state.folder.root.name}"
            operation = self._state.report.operation = session.begin(ACTION, self._state.memory.actor, cause)
        with self._state.store.within_operation(operation):
            yield

    def _add(self, created: Mapping[str, NewNote]) -> None:
        if self._state.dry or not created:
            return
        refused: dict[str, AmemError] = {}
        ids = list(created)

        def on_refused(position: int, error: AmemError) -> None:
            refused[ids[position]] = error

        self._state.memory.add_notes(list(created.values()), cause="", action="add", on_refused=on_refused)
        for id, error in refused.items():
            self._state.fail(id, self._state.look.seen[id].path, error)
        if refused and self._state.vault is not None:
            with self._state.store.write() as session:
                session.vaults.forget(self._state.vault.id, [id for id in refused if id not in self._state.known])

    def _edit(self, edits: Mapping[str, Edit]) -> None:
        report = self._state.report
        links: list[tuple[str, Edit]] = []
        back = {step.note for step in report.to_notes if step.what == "restored"}
        for id, edit in edits.items():
            if id in self._state.look.blocked:
                continue
            if edit.asks and edit.what != "added":
                report.to_notes.append(Step(edit.what, edit.seen.path, id, _named(edit)))
            if edit.conflicts:
                self._state.conflicts[id] = edit
            if self._state.dry:
                continue
            try:
                if id in back:
                    self._state.memory.restore(id)
                if edit.fields:
                    self._state.memory.update(id, **edit.fields)
            except AmemError as error:
                self._state.fail(id, edit.seen.path, error)
                continue
            links.append((id, edit))
        if any(edit.make or edit.drop for _, edit in links):
            with self._state.store.write() as session:
                self._relink(session, links)

    def _relink(self, session: Session, edits: Sequence[tuple[str, Edit]]) -> None:
        drop = [(id, target, LinkType(type)) for id, edit in edits for target, type in edit.drop]
        make = [(id, *each) for id, edit in edits for each in edit.make]
        actor = self._state.memory.actor
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
                link = Link(source, target, LinkType(name), reason, 1.0, actor, session.now)
                session.links.put(link, operation)

    def _delete(self, gone: Sequence[str]) -> None:
        if self._state.dry:
            self._state.let_go = frozenset(gone)
        elif gone:
            self._state.memory.delete_notes(gone)


def _named(edit: Edit) -> str:
    names = ["text" if name == "content" else "name" if name == "metadata" else name for name in edit.fields]
    return ", ".join([*names, *(["links"] if edit.make or edit.drop else [])])
