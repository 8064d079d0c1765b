"""Users and agents who share one collection: random work of theirs, and nothing of one ever reaches another.

What each writes carries canaries, words that nobody else says. Whatever a user is told, and whatever a model is asked
in a user's name, is searched for the canaries and the note ids of others; so is what is stored of every note.
"""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING

import pytest
from _judging_model import judging_model

from amem import Filter
from amem.errors import AmemError
from amem.interop.exporting import exported
from amem.note import NOBODY, Scope, Status
from amem.query import UNDELETED, Query
from amem.testing import FakeOllama
from amem.tools import Toolbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from amem import AgenticMemorySystem
    from amem.scoped import ScopedMemory
    from amem.testing import FrozenClock

    Open = Callable[..., AgenticMemorySystem]

#: Two users, two agents of the first, a session of the second, and notes of nobody.
WRITERS = (
    Scope("alice", "", ""),
    Scope("bob", "", ""),
    Scope("alice", "planner", ""),
    Scope("alice", "critic", ""),
    Scope("bob", "", "monday"),
    NOBODY,
)
#: What a program may hand on to whom.
VIEWS = (
    Scope("alice"),
    Scope("bob"),
    Scope(agent_id="planner"),
    Scope("alice", "critic"),
    Scope(session_id="monday"),
    NOBODY,
)
#: `c` is a canary; without one, several say the same words.
SAYINGS = (
    "Wen is allergic to shrimp and {c}.",
    "Wen is allergic to shrimp.",
    "Wen's patient number is {c}.",
    "My dentist is Dr. {c}.",
    "Dr. {c} is my dentist.",
    "I live in Porto, close to {c}.",
    "I live in Porto.",
    "I moved to Lisbon with {c}.",
    "I no longer live in Porto, but in {c}.",
    "We decided to use {c} for the release.",
    "The server crashed because of {c}. #outage",
    "My manager is Pieter.",
    "Pieter is leaving, {c} takes over.",
    "My phone is a Pixel 6; its number is {c}.",
    "To release: 1. run the tests 2. tag {c} 3. push the tag",
    "Never mind what I said about the dentist.",
    "Forget that.",
    "我住在里斯本，邻居叫{c}。",
    "我对花生过敏。",
)
QUESTIONS = (
    "What is Wen allergic to?",
    "Who is my dentist?",
    "Where do I live?",
    "Why did the server crash?",
    "How do we release?",
    "Who is my manager?",
    "我住在哪里？",
    "What is Wen's patient number?",
)
CANARY = re.compile(r"qz(\d)x\d+qz", re.IGNORECASE)
BACKENDS = ("in memory", "exact", "chroma")


class Crowd:
    """Everyone at one collection, with a record of whose each note is, and of all that a model was asked."""

    def __init__(self, memory: AgenticMemorySystem, clock: FrozenClock, ollama: FakeOllama, seed: int) -> None:
        self.memory = memory
        self.clock = clock
        self.ollama = ollama
        self.chance = random.Random(seed)
        self.said = 0
        self.ids: dict[str, Scope] = {}
        self.asked = 0
        self.seen = 0

    def saying(self, writer: Scope) -> str:
        self.said += 1
        return self.chance.choice(SAYINGS).format(c=f"Qz{WRITERS.index(writer)}x{self.said}qz")

    def view(self, scope: Scope) -> ScopedMemory:
        from amem.scoped import ScopedMemory

        return ScopedMemory(self.memory, scope)

    # -- what is looked for ----------------------------------------------------------------------------------------

    def learn_ids(self) -> None:
        with self.memory.parts.store.read() as session:
            if session.counter != self.seen:
                self.seen = session.counter
                self.ids = session.notes.scopes_of(session.notes.ids(deleted=True))

    def foreign(self, told: str, scope: Scope, but: Sequence[str] = ()) -> list[str]:
        """Canaries and ids of others in a text. `but` are ids that whoever asked gave themselves."""
        for given in but:
            told = told.replace(given, "")
        found = [each[0] for each in CANARY.finditer(told) if not scope.covers(WRITERS[int(each[1])])]
        return found + [id for id, whose in self.ids.items() if not scope.covers(whose) and id[:8] in told]

    def check(self, told: object, scope: Scope, what: str, but: Sequence[str] = ()) -> None:
        """Hold what a caller with this scope was told, and what a model was asked meanwhile, against the rule."""
        self.learn_ids()
        text = told if isinstance(told, str) else repr(told)
        if hasattr(told, "to_dict"):
            text += json.dumps(told.to_dict(), ensure_ascii=False)
        assert not self.foreign(text, scope, but), f"{what} told {scope}: {self.foreign(text, scope, but)} in {text}"
        for prompt in self.prompts():
            assert not self.foreign(prompt, scope), f"{what} of {scope} asked a model: {prompt}"

    def prompts(self) -> Iterator[str]:
        """What a model was asked since the last look."""
        fresh, self.asked = self.ollama.requests[self.asked :], len(self.ollama.requests)
        return (json.dumps(request, ensure_ascii=False) for path, request in fresh if path.startswith("/api/"))

    def check_notes(self) -> None:
        """Hold every stored note, with all that hangs on it, against the scope that it is of."""
        self.learn_ids()
        for note in self.memory.list(Filter(statuses=tuple(Status)), limit=100_000):
            scope = self.ids[note.id]
            hanging = (self.memory.links(note.id), self.memory.backlinks(note.id), self.memory.flags(note.id))
            whole = (note, *hanging, self.memory.history(note.id), self.memory.sources([note.id]))
            assert not self.foreign(repr(whole), scope), f"{self.foreign(repr(whole), scope)} in {whole}"
        for review in self.memory.reviews():
            assert not self.foreign(repr(review), self.ids[review.note])

    # -- what they do ----------------------------------------------------------------------------------------------

    def act(self) -> None:
        """One random thing, by a writer or by somebody with a view."""
        self.clock.advance(minutes=self.chance.randrange(1, 400))
        do = self.chance.choices(
            (
                *(self.write, self.write_many, self.converse, self.chat, self.ask),
                *(self.look, self.change, self.take_back, self.pry),
            ),
            (30, 3, 7, 4, 20, 16, 12, 8, 9),
        )[0]
        do()

    def write(self) -> None:
        writer = self.chance.choice(WRITERS)
        if self.chance.random() < 0.2:
            given = {"content": self.saying(writer)}
            receipt: object = Toolbox(self.view(writer), names=("write",)).call("memory_write", given)
            # The tool waits for no model: what is asked in the background is asked in this writer's name.
            assert self.memory.wait(60)
        else:
            receipt = self.view(writer).add(self.saying(writer))
        self.check(receipt, writer, "add")

    def write_many(self) -> None:
        """Notes of several in one batch: each receipt is told to whoever wrote the note."""
        writers = [self.chance.choice(WRITERS) for _ in range(4)]
        items = [{"content": self.saying(each), **each.ids} for each in writers]
        receipts = self.memory.add_notes(items)
        prompts = list(self.prompts())
        for writer, receipt in zip(writers, receipts, strict=True):
            self.check(receipt, writer, "add_notes")
        self.of_one(prompts)

    def of_one(self, prompts: Sequence[str]) -> None:
        """A prompt may speak of the notes of one writer, whoever that is."""
        for prompt in prompts:
            assert len({each[1] for each in CANARY.finditer(prompt)}) <= 1, prompt

    def converse(self) -> None:
        writer = self.chance.choice(WRITERS)
        said = [{"role": "user", "content": self.saying(writer), "at": self.clock.now()} for _ in range(2)]
        answer = {"role": "assistant", "content": "I see.", "at": self.clock.now()}
        conversation = self.chance.choice((None, "standup", "chat-1"))
        messages = [said[0], answer, said[1]]
        report = self.view(writer).remember(messages, conversation=conversation)
        self.check(report, writer, "remember")
        for episode in report.episodes:
            self.check(self.memory.expand(episode), writer, "expand")

    def chat(self) -> None:
        """A few turns with the assistant, in a chat of before or a new one, and what can be seen of it."""
        writer = self.chance.choice(WRITERS)
        view = self.view(writer)
        with view.assistant(incognito=True) as reader:
            sessions = [each.id for each in reader.sessions()]
        self.check(sessions, writer, "the list of chats")
        going_on = self.chance.choice([None, *sessions])
        with view.assistant(session=going_on, incognito=self.chance.random() < 0.1) as chat:
            for _ in range(self.chance.randrange(1, 3)):
                said = self.chance.choice((self.saying(writer), self.chance.choice(QUESTIONS)))
                self.check(chat.say(said), writer, "a reply")
                assert chat.wait(60)
            by_hand: Callable[[], object] = self.chance.choice(
                (lambda: chat.remember(self.saying(writer)), lambda: chat.forget("dentist"), chat.undo, chat.why)
            )
            try:
                told: object = by_hand()
            except AmemError as error:
                told = f"{error} {error.hint}"
            self.check((told, chat.turns(), chat.last()), writer, "a chat")
            if chat.turns():
                self.check(chat.replay(), writer, "a replay")

    def ask(self) -> None:
        scope, question = self.chance.choice(VIEWS), self.chance.choice(QUESTIONS)
        view, exact = self.view(scope), Scope.of(scope.ids)
        k = self.chance.choice((1, 5, 30))
        told: Callable[[], object] = self.chance.choice(
            (
                lambda: view.search(question, k),
                lambda: view.search_agentic(question, k),
                lambda: view.ask(Query(question, k, expand=True)),
                lambda: self.memory.search(question, k, filter=Filter(**scope.ids)) if scope.ids else None,
                lambda: view.context(question, 400),
                lambda: view.context(question, 400).to_dict(),
                lambda: view.core_notes(),
                lambda: self.memory.declare_topic(self.chance.choice(("Wen", "release", "dentist")), scope=exact),
                lambda: view.answer(question),
                lambda: view.facts_asked(question),
                lambda: view.search_batch([question, QUESTIONS[0]], k),
                lambda: [view.explain(question, note.id) for note in view.list(limit=3)],
                lambda: view.find_related_memories(question, k),
                lambda: view.find_related_memories_raw(question, k),
                lambda: view.recall_tiers(question, 400),
                lambda: (
                    view.conflicts(self.saying(NOBODY).replace("Qz5", "Qx5"))
                    if scope == NOBODY
                    else view.conflicts("I moved to Rome. My dentist is Dr. Who.")
                ),
                lambda: self.memory.recall_tiers(question, 400, filter=view.within(None)),
                lambda: view.tools().call("memory_search", {"query": question, "k": k}),
                lambda: view.tools().call("memory_context", {"query": question}),
                lambda: Toolbox(view, names=("ask",)).call("memory_ask", {"question": question}),
                lambda: Toolbox(view, names=("facts",)).call("memory_facts", {"subject": "me", "ever": True}),
            )
        )
        self.check(told(), scope, f"the question {question!r}")

    def look(self) -> None:
        scope = self.chance.choice(VIEWS)
        view = self.view(scope)
        look: Callable[[], object] = self.chance.choice(
            (
                lambda: view.list(limit=200),
                lambda: view.tags(),
                lambda: view.subjects(),
                lambda: [view.facts(who) for who in ("me", "Wen", "Ana", "Pieter")],
                lambda: [view.timeline(who) for who in ("me", "Wen", "Ana", "Pieter")],
                lambda: view.topics(),
                lambda: [view.topic(topic.id) for topic in view.topics()],
                lambda: view.log(limit=500),
                lambda: Toolbox(view, names=("history",)).call("memory_history", {"limit": 200}),
                lambda: Toolbox(view, names=("facts",)).call("memory_facts", {}),
                lambda: Toolbox(view, names=("list",)).call("memory_list", {"limit": 200}),
                lambda: Toolbox(view, names=("tags",)).call("memory_tags", {}),
                lambda: view.reviews(),
                lambda: [view.history(note.id) for note in view.list()],
                lambda: [(view.links(note.id), view.backlinks(note.id)) for note in view.list()],
                lambda: list(exported(view, UNDELETED, versions=True)),
                lambda: (view.flags(), view.doubted(), view.conflicts_open(), view.supersessions()),
                lambda: (view.topic_map(), view.census(), view.days()),
                lambda: (view.census(Filter(kinds=("fact",))), view.census(starting="dentist")),
                lambda: [
                    (view.graph(note.id, 2), view.neighbourhood(note.id, 3), view.ancestors(note.id))
                    for note in view.list(limit=10)
                ],
                lambda: [(view.similar(note.id, 20), view.flags(note.id)) for note in view.list(limit=5)],
                lambda: [(view.succession(note.id), view.superseded_by(note.id)) for note in view.list()],
                lambda: [view.expand(note.id) for note in view.list()],
                lambda: (view.read_many(list(self.ids)), view.links_among(list(self.ids))),
                lambda: [view.tools().call("memory_read", {"id": note.id[:12]}) for note in view.list(limit=5)],
                lambda: [view.tools().call("memory_links", {"id": note.id}) for note in view.list(limit=5)],
            )
        )
        self.check(look(), scope, "a look")

    def change(self) -> None:
        scope = self.chance.choice(VIEWS)
        view = self.view(scope)
        notes = view.list(Filter(statuses=(Status.ACTIVE, Status.SUPERSEDED)), limit=200)
        if not notes:
            return
        note = self.chance.choice(notes)
        writer = self.ids.get(note.id, NOBODY)
        change: Callable[[], object] = self.chance.choice(
            (
                lambda: view.update(note.id, content=self.saying(writer)),
                lambda: view.tools().call("memory_update", {"id": note.id, "context": self.saying(writer)}),
                lambda: view.tools().call("memory_delete", {"id": note.id}),
                lambda: view.delete(note.id),
                lambda: view.delete_notes(filter=Filter(tags=tuple(note.tags[:1]), kinds=(note.kind,))),
                lambda: view.restore(note.id),
                lambda: self.memory.unsupersede(note.id),
                lambda: self.memory.retract(note.id),
                lambda: view.keep(note.id),
                lambda: view.purge([note.id, self.chance.choice(list(self.ids))]),
                lambda: view.rollback(note.id, 1),
                lambda: (view.pin(note.id), view.pin(note.id, False)),
                lambda: [view.accept(each.id) for each in view.reviews()[:1]],
                lambda: self.memory.link(note.id, self.chance.choice(list(self.ids))),
                lambda: self.memory.supersede(note.id, self.chance.choice(list(self.ids))),
            )
        )
        before = self.others(scope)
        try:
            told: object = change()
        except AmemError as error:
            told = f"{type(error).__name__}"  # by ids that whoever asked had to know
        self.check(told, scope, "a change")
        assert self.others(scope) == before, "a change reached notes of others"

    def take_back(self) -> None:
        scope = self.chance.choice(VIEWS)
        view = self.view(scope)
        back: Callable[[], object] = self.chance.choice(
            (view.undo, view.undo, view.redo, lambda: Toolbox(view, names=("undo",)).call("memory_undo", {}))
        )
        before = self.others(scope)
        try:
            told: object = back()
        except AmemError as error:
            told = f"{error} {error.hint}"
        self.check(told, scope, "an undo")
        assert self.others(scope) == before, "an undo reached notes of others"

    def others(self, scope: Scope) -> dict[str, tuple[int, str]]:
        every = self.memory.list(Filter(statuses=tuple(Status)), limit=100_000)
        return {each.id: (each.version, each.status) for each in every if not scope.holds(each.metadata)}

    def pry(self) -> None:
        """Ask for a note of others by its id, or by the beginning of one."""
        scope = self.chance.choice(VIEWS)
        view = self.view(scope)
        self.learn_ids()
        theirs = [id for id, whose in self.ids.items() if not scope.covers(whose)]
        if not theirs:
            return
        id = self.chance.choice(theirs)
        id = self.chance.choice((id, id[:7], id[:1]))
        prying = {"read": {}, "update": {"content": "mine now"}, "delete": {}, "links": {}, "history": {}}
        prying |= {"write": {"content": "mine now"}, "supersede": {}}
        name = self.chance.choice(list(prying))
        given = {"id": id} | prying[name]
        before = self.others(scope)
        told = json.dumps(Toolbox(view, names=(name,)).call(f"memory_{name}", given))
        self.check(told, scope, f"{name} of {id}", but=[id])
        pried: tuple[Callable[[], object], ...] = (
            lambda: view.read(id),
            lambda: view.history(id),
            lambda: view.links(id),
            lambda: view.sources([id]),
            lambda: view.restore(id),
            lambda: view.purge(id),
            lambda: view.resolve(id),
            lambda: view.topic(id),
            lambda: view.graph(id),
            lambda: view.neighbourhood(id, 2),
            lambda: view.ancestors(id),
            lambda: view.similar(id),
            lambda: view.flags(id),
            lambda: view.expand(id),
            lambda: view.keep(id),
            lambda: view.pin(id),
            lambda: view.unsupersede(id),
            lambda: view.delete_notes([id]),
            lambda: view.assistant(session=id),
            lambda: view.undo(self.chance.randrange(1, 200)) if len(id) > 7 else None,
        )
        for each in pried:
            try:
                answer: object = each()
            except AmemError as error:
                answer = f"{error} {error.hint}"
            self.check(answer, scope, f"prying for {id}", but=[id])
        assert self.others(scope) == before


@pytest.fixture
def crowd_at(
    open_memory: Open, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str, str, int], Crowd]]:
    """Opens a crowd's collection with one of the `BACKENDS` and an analyst (``ollama`` or ``offline``)."""
    with FakeOllama(judging_model) as ollama:

        def open_(backend: str, analyst: str, seed: int) -> Crowd:
            given = {
                "LLM_BACKEND": analyst,
                "LLM_MODEL": "llama3.2",
                "OLLAMA_HOST": ollama.host,
                "DENSE_BASE": "chroma" if backend == "chroma" else "exact",
                "TOPIC_SIZE": "3",
                "TIMEZONE": "UTC",
            }
            for name, value in given.items():
                monkeypatch.setenv(f"AMEM_{name}", value)
            where = {"directory": None} if backend == "in memory" else {}
            return Crowd(open_memory(analyst=None, **where), clock, ollama, seed)

        yield open_


def run(crowd: Crowd, operations: int) -> None:
    """So many random things, with maintenance in between."""
    for number in range(1, operations + 1):
        crowd.act()
        if number % 40 == 0:
            list(crowd.prompts())
            # Long enough for small talk to be summed up.
            crowd.clock.advance(days=60 if number % 80 == 0 else 1)
            crowd.memory.maintain(cycle="weekly" if number % 80 == 0 else "nightly")
            crowd.of_one(list(crowd.prompts()))
            for scope in VIEWS:
                view = crowd.view(scope)
                crowd.check([view.topic(topic.id) for topic in view.topics()], scope, "topics")
        if number % 20 == 0:
            crowd.check_notes()
    crowd.check_notes()


@pytest.mark.parametrize("analyst", ["offline", "ollama"])
@pytest.mark.parametrize("backend", ["in memory", "exact"])
def test_nothing_that_one_user_says_reaches_another(
    crowd_at: Callable[[str, str, int], Crowd], backend: str, analyst: str
) -> None:
    run(crowd_at(backend, analyst, 1), 40)


@pytest.mark.thorough
@pytest.mark.parametrize("analyst", ["offline", "ollama"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_thousand_random_things_that_users_and_agents_do_stay_apart(
    crowd_at: Callable[[str, str, int], Crowd], backend: str, analyst: str
) -> None:
    crowd = crowd_at(backend, analyst, 2)
    run(crowd, 167)
    # It was no idle crowd: notes met, and a model was asked.
    assert crowd.memory.count(Filter(statuses=(Status.SUPERSEDED,))) > 3
    assert sum(len(crowd.memory.links(id)) for id in crowd.ids) > 20
    assert (crowd.asked > 100) is (analyst == "ollama")
