"""Whatever both sides do between two syncs, nothing that was written is lost, and a second sync has nothing to do."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from amem.vault.note_file import read_note_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Desk

    from amem import AgenticMemorySystem

_TAGS = ("home", "work", "garden", "two words", "旅行")
_KINDS = ("fact", "decision", "question", "procedure")


class Hands:
    """A person with an editor, and agents with amem, who change things at random and remember all that they wrote."""

    def __init__(self, desk: Desk, seed: int) -> None:
        self.desk, self.random, self.written = desk, Random(seed), 0
        self.words: list[str] = []

    def word(self) -> str:
        self.written += 1
        self.words.append(f"word{self.written}x")
        return self.words[-1]

    def name(self) -> str:
        """A number that no name had: what a file is called is not what is held to be kept."""
        self.written += 1
        return str(self.written)

    def text(self, old: str) -> str:
        """The text with a line more, or a line for another."""
        lines = old.split("\n")
        place = self.random.randrange(len(lines) + 1)
        lines[place : place + self.random.choice((0, 0, 1))] = [self.word()]
        return "\n".join(lines)

    def paths(self, *, conflicts: bool = False) -> list[str]:
        """Files of notes, or of conflicts."""
        return [path for path, text in self.desk.files().items() if ("\nconflict_of: " in text) == conflicts]

    def notes(self) -> list[str]:
        return [note.id for note in self.desk.memory.list(limit=200, order="recorded")]

    # -- in the folder

    def edit_file(self, path: str) -> None:
        text = self.desk.files()[path]
        file = read_note_file(text.encode(), path)
        self.desk.write(path, file.with_body(self.text(file.body)).encoded)

    def retag_file(self, path: str) -> None:
        file = read_note_file(self.desk.files()[path].encode(), path)
        tags = self.random.sample(_TAGS, self.random.randrange(3))
        self.desk.write(path, file.with_front({"tags": tags, "kind": self.random.choice(_KINDS)}).encoded)

    def link_file(self, path: str) -> None:
        other = self.random.choice(self.paths())
        text = self.desk.files()[path]
        file = read_note_file(text.encode(), path)
        name = other.removesuffix(".md").rsplit("/", 1)[-1]
        self.desk.write(path, file.with_body(f"{file.body}\nsee [[{name}]] {self.word()}").encoded)

    def rename_file(self, path: str) -> None:
        folder = self.random.choice(("", "a/", "A b/"))
        target = self.desk.folder / f"{folder}{self.random.choice(('Name', 'name', 'Ñame', '名字'))} {self.name()}.md"
        target.parent.mkdir(exist_ok=True)
        (self.desk.folder / path).rename(target)

    def delete_file(self, path: str) -> None:
        if len(self.paths()) > 1:  # a folder without any file is refused
            (self.desk.folder / path).unlink()

    def copy_file(self, path: str) -> None:
        self.desk.write(f"Copy {self.name()}.md", self.desk.files()[path])

    def strip_file(self, path: str) -> None:
        """Leave the text alone, without front matter."""
        self.desk.write(path, read_note_file(self.desk.files()[path].encode(), path).body + "\n")

    def new_file(self) -> None:
        text = f"{self.word()}\n\nlines\n\n{self.word()}"
        ends = self.random.choice(("", "\n", "\n\n"))
        front = self.random.choice(("", "---\ntags: [home]\nmine: 1\n---\n"))
        self.desk.write(f"{self.random.choice(('New', 'CON', 'new'))} {self.written}.md", front + text + ends)

    def settle(self) -> None:
        """Take a conflict's words into the note's own file, and remove it."""
        for path in self.paths(conflicts=True):
            file = read_note_file(self.desk.files()[path].encode(), path)
            if self.random.random() < 0.5:
                self.desk.write(f"Settled {self.name()}.md", f"{file.body}\n")
                (self.desk.folder / path).unlink()

    # -- in amem

    def edit_note(self, id: str) -> None:
        note = self.desk.memory.read(id)
        assert note is not None
        self.desk.memory.update(id, content=self.text(note.content))

    def retag_note(self, id: str) -> None:
        tags = self.random.sample(_TAGS, self.random.randrange(3))
        self.desk.memory.update(id, tags=tags, kind=self.random.choice(_KINDS))

    def delete_note(self, id: str) -> None:
        self.desk.memory.delete(id)

    def link_note(self, id: str) -> None:
        other = self.random.choice(self.notes())
        if other != id and not any(link.target == other for link in self.desk.memory.links(id)):
            self.desk.memory.link(id, other, self.random.choice(("related", "supports", "caused_by")), "why not")

    def unlink_note(self, id: str) -> None:
        for link in self.desk.memory.links(id):
            self.desk.memory.unlink(id, link.target, str(link.type))

    def new_note(self) -> None:
        self.desk.memory.add(f"{self.word()}\n\nlines\n\n{self.word()}{self.random.choice(('', chr(10)))}")

    def undo(self) -> None:
        if self.random.random() < 0.3:
            self.desk.memory.undo()

    def turn(self) -> None:
        """A few things on each side, each file and each note at most once."""
        files: list[Callable[[str], None]] = [self.edit_file, self.edit_file, self.retag_file, self.link_file]
        files += [self.rename_file, self.delete_file, self.copy_file, self.strip_file]
        notes: list[Callable[[str], None]] = [self.edit_note, self.edit_note, self.retag_note, self.delete_note]
        notes += [self.link_note, self.unlink_note]
        paths, ids = self.paths(), self.notes()
        for path in self.random.sample(paths, min(len(paths), self.random.randrange(4))):
            self.random.choice(files)(path)
        for id in self.random.sample(ids, min(len(ids), self.random.randrange(4))):
            self.random.choice(notes)(id)
        if len(ids) < 8 or self.random.random() < 0.2:
            self.random.choice((self.new_file, self.new_note))()
        self.settle()
        self.undo()


def everything(desk: Desk, memory: AgenticMemorySystem, ids: set[str]) -> str:
    """All text there is anywhere: notes and all their versions, files, conflicts, the bin."""
    said = [path.read_text() + path.name for path in desk.folder.rglob("*") if path.is_file()]
    for id in ids:
        for version in memory.history(id):
            said += [str(part) for part in version.changes.values()]
    with memory.parts.store.read() as session:
        said += [note.content for note in session.notes.get_many(sorted(ids), history=False, deleted=True).values()]
    return "\n".join(said)


def agree(desk: Desk) -> None:
    """Each active note has one file that says its text, and there are no others."""
    bodies: dict[str, str] = {}
    for path, text in desk.files().items():
        file = read_note_file(text.encode(), path)
        if not file.says("conflict_of"):
            assert file.value("id") not in bodies, path
            bodies[file.value("id")] = file.body
    notes = {note.id: note.content.strip("\n") for note in desk.memory.list(limit=500)}
    assert bodies == notes


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_lost_in_five_hundred_rounds(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    if seed:  # what notes do to each other takes most of the time, and is played once
        monkeypatch.setenv("AMEM_NEIGHBOURS", "0")
        monkeypatch.setenv("AMEM_CONFLICT_NEIGHBOURS", "0")
    _play(request.getfixturevalue("desk"), seed, rounds=100)


def test_nothing_is_lost_in_a_few_rounds(desk: Desk) -> None:
    _play(desk, 5, rounds=12)


def _play(desk: Desk, seed: int, *, rounds: int) -> None:
    hands = Hands(desk, seed)
    hands.new_note()
    ever: set[str] = set()
    for number in range(rounds):
        hands.turn()
        report = desk.sync()
        assert not report.problems, (number, report.to_dict())
        again = desk.sync()
        assert again.is_quiet, (number, report.to_dict(), again.to_dict())
        agree(desk)
        with desk.memory.parts.store.read() as session:
            ever |= set(session.notes.ids(deleted=True))
    said = everything(desk, desk.memory, ever)
    lost = [word for word in hands.words if word not in said]
    assert not lost
