"""Each public method of one user's view, asked for what is another's by every argument that can name it.

The methods are found by looking at the class: a new one is walked as well, and fails here until each argument that it
cannot do without has a value below.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest

from amem import AgenticMemorySystem, Filter
from amem.errors import AmemError
from amem.note import Scope, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from amem.protocols import Embedder
    from amem.scoped import ScopedMemory

ANA, BO = {"user_id": "ana"}, {"user_id": "bo"}
EVERY = Filter(statuses=tuple(Status))
#: What Bo alone says.
SECRET = "qz4711"


class Held:
    """What Bo has, in a collection that he shares with Ana."""

    def __init__(self, memory: AgenticMemorySystem) -> None:
        self.ana, self.bo = memory.scoped(**ANA), memory.scoped(**BO)
        self.ana.add("Tea at five.")
        bo = self.bo
        job = bo.add(f"I work at Google in Zurich; the vault code is {SECRET}. #vault", time="2026-01-01").id
        other = bo.add(f"I work at Orbit in Porto, says {SECRET}.", time="2026-02-01").id
        bo.add("My manager is Pieter.", time="2026-02-02")
        bo.link(job, other, "caused_by", SECRET)
        bo.declare_topic("vault", scope=Scope.of(BO))
        said = [{"role": "user", "content": f"My dentist is Dr. {SECRET}."}]
        conversation = bo.remember(said, conversation="chat-1").conversation
        with bo.assistant() as chat:
            chat.say(f"My locker code is {SECRET}.")
            assert chat.wait(60)
            session = chat.turns()[0].session
        self.ids = [note.id for note in bo.list(EVERY, limit=100)]
        operation = bo.log(limit=1)[0].id
        #: By the names of arguments. What names nothing is whatever a method takes.
        self.given: dict[str, Any] = {
            **dict.fromkeys(("id", "id_or_note", "note", "source", "old", "prefix"), job),
            **dict.fromkeys(("target", "new"), other),
            **dict.fromkeys(("query", "question", "text", "content"), "What is the vault code? I work at Google."),
            **{"ids": self.ids, "queries": ["vault code"], "subject": "me", "name": "vault", "session": session},
            **{"conversation": conversation, "operation": operation, "undone_by": operation, "review": 1},
            **{"filter": Filter(**BO), "scope": Scope.of(BO), **BO},
            **{"messages": [{"role": "user", "content": "Ah."}], "items": ["Mine now."]},
            **{"found": [], "hits": [], "version": 1, "older": 0, "newer": 1, "most": 500, "actor": "user"},
        }

    def state(self) -> str:
        notes = self.bo.list(EVERY, limit=100)
        return repr([(note, self.bo.history(note.id), self.bo.links(note.id)) for note in notes])

    def told_of(self, told: object, arguments: dict[str, Any]) -> bool:
        """Whether something tells of what is Bo's, but for what it was asked with."""
        text = f"{list(told) if inspect.isgenerator(told) else told!r}{getattr(told, 'to_dict', str)()}"
        for asked in arguments.values():
            for each in asked if isinstance(asked, list) else [asked]:
                text = text.replace(str(each), "")
        return SECRET in text or any(id in text for id in self.ids)


@pytest.fixture
def held(open_memory: Callable[..., AgenticMemorySystem], minilm: Embedder) -> Held:
    return Held(open_memory(analyst=None, llm_backend="offline", embedder=minilm))


def calls(view: ScopedMemory, given: dict[str, Any]) -> Iterator[tuple[str, Callable[..., object], dict[str, Any]]]:
    """Each public method with what it needs, and again with each further argument that can name something."""
    for name, method in inspect.getmembers(view, inspect.ismethod):
        if name.startswith("_"):
            continue
        taken = [each for each in inspect.signature(method).parameters.values() if each.kind is not each.VAR_KEYWORD]
        needed = {each.name: given[each.name] for each in taken if each.default is each.empty}
        yield name, method, needed
        for each in taken:
            if each.name in given and each.name not in needed:
                yield name, method, needed | {each.name: given[each.name]}


def test_no_method_of_a_view_tells_of_what_is_anothers_or_changes_it(held: Held) -> None:
    before, wrong, walked = held.state(), [], set()
    for name, method, arguments in calls(held.ana, held.given):
        try:
            told: object = method(**arguments)
        except AmemError as error:
            told = f"{error} {error.hint}"
        walked.add(name)
        if held.told_of(told, arguments):
            wrong.append(f"{name}{arguments} told {told!r}")
        if held.state() != before:
            wrong.append(f"{name}{arguments} changed what is Bo's")
            before = held.state()
    assert not wrong
    assert len(walked) > 70


def test_the_same_calls_of_their_owner_do_tell(held: Held) -> None:
    """Else the walk above would find nothing because there was nothing to find."""
    told = set()
    for name, method, arguments in calls(held.bo, held.given):
        if name in ("purge", "delete", "delete_notes", "undo", "maintain"):
            continue
        try:
            if held.told_of(method(**arguments), arguments):
                told.add(name)
        except AmemError:
            continue
    reading = (
        "ancestors ask backlinks context differences explain graph links list log read search similar sources wholes"
    )
    assert told >= set(reading.split())
