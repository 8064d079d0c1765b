"""Random histories: undo and redo bring back what was before, or name each difference; undoing all leaves nothing."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import hypothesis
import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from visible_state import HERE, STANDING, SUMS, different, seen, told, unnamed, visible_state

from amem import AgenticMemorySystem
from amem.analysis import Rewrite
from amem.analysts.rules import OfflineAnalyst
from amem.errors import AmemError, InvalidInput, NothingToUndo
from amem.note import Status
from amem.query import Query
from amem.testing import FrozenClock, HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.analysis import Analysis, Draft, Evolution, Neighbour
    from amem.protocols import Vocabulary
    from amem.storage.undo import UndoReport

TEXTS = (
    *("I live in Rome.", "I moved to Berlin.", "I live in Lisbon now.", "I live in Rome. I have a cat named Momo."),
    *("My doctor is Dr. Chen.", "My doctor is Dr. Okafor now.", "Dr. Chen is my doctor.", "I see a dentist in Rome."),
    *(
        "I am allergic to shrimp.",
        "I am not allergic to shrimp any more.",
        "Dr. Chen prescribed a spray for my allergy.",
    ),
    *("I work at Siemens. I live in Porto. I have a dog named Rex.", "I started at Bosch.", "I quit my job at Bosch."),
    *("Forget that.", "Actually my cat is called Lulu.", "Buy green tea #shopping", "The heron stands in the pond."),
    *("The heron flies over the pond at dawn.", "lol ok", "What time is it?", "Deploys go out on Fridays."),
    *(
        "We moved the deploys to Mondays.",
        "The staging server runs Postgres 14.",
        "We upgraded staging to Postgres 16.",
    ),
    *(
        "我住在罗马。",
        "我搬到了柏林。",
        "我住在罗马，养了一只猫叫毛毛。",
        "我的医生是陈医生。",
        "我换了医生，现在是王医生。",
    ),
    *(
        "我现在住在里斯本。",
        "我现在住里斯本。",
        "我对虾过敏。",
        "我不再对虾过敏了。",
        "算了，当我没说。",
        "记得买绿茶 #购物",
    ),
)
WORDS = ("Rome", "heron", "doctor", "罗马")
TAGS = ("shopping", "birds", "购物", "home")
FIELDS: tuple[dict[str, Any], ...] = (
    *({"tags": ["birds", "home"]}, {"tags": []}, {"category": "Work"}, {"context": "by hand"}, {"importance": 0.9}),
    *({"valid_to": datetime(2027, 1, 1, tzinfo=UTC)}, {"valid_to": None}, {"speaker": "Ana"}, {"keywords": ["tea"]}),
)
PLACE = st.integers(0, 10_000)
TEXT = st.sampled_from(TEXTS)


class Evolving(OfflineAnalyst):
    """The rules; and every new note would rewrite what is nearest, surely or so that a person is asked."""

    def evolve(
        self, draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour], vocabulary: Vocabulary
    ) -> Evolution:
        found = super().evolve(draft, analysis, neighbours, vocabulary)
        if not neighbours:
            return found
        sure = 0.95 if len(draft.content) % 3 else 0.5
        rewrite = Rewrite(neighbours[0].handle, f"seen with {draft.content[:12]}", ("home",), "seen together", sure)
        return type(found)(links=found.links, rewrites=(rewrite,))


class Histories(RuleBasedStateMachine):
    """Whatever may be done to a collection, in any order; what each operation changed is remembered.

    What is undone last has to be as before, whatever was undone out of order before it, and nothing may be left when
    all is undone. With `out_of_order` each difference has to be named, too, when older work is undone.
    """

    out_of_order = False

    def __init__(self) -> None:
        super().__init__()
        self.clock = FrozenClock("2026-03-01T10:00")
        self.memory = AgenticMemorySystem(embedder=HashEmbedder(256), analyst=Evolving(), clock=self.clock)
        self.ids: list[str] = []
        #: By operation the state before it and after it; None where more than it happened at once.
        self.states: dict[int, tuple[Any, Any] | None] = {}
        #: What was done and not undone, in order: an undo of the last of it has to be exact.
        self.done: list[int] = []
        #: What was undone right before, in order, and nothing done since.
        self.undone: list[int] = []
        self.now: Any = visible_state(self.memory, self.clock, WORDS)
        self.pulse = self.memory.pulse()
        self.looks = 0
        self.story: list[str] = []

    def teardown(self) -> None:
        try:
            self.undo_everything()
        finally:
            self.memory.close()

    # -- operations --------------------------------------------------------------------------------------------

    @rule(
        text=TEXT, days=st.integers(0, 400), agent=st.booleans(), kind=st.sampled_from((None, "preference", "chitchat"))
    )
    def add(self, text: str, days: int, agent: bool, kind: str | None) -> None:
        memory = self.memory.acting_as("agent:bot") if agent else self.memory
        more = {} if kind is None else {"kind": kind}
        self.do("add", lambda: memory.add(text, time=datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=days), **more))

    @rule(text=TEXT)
    def say(self, text: str) -> None:
        self.do("say", lambda: self.memory.add(text, speaker="Ana"))

    @rule(texts=st.lists(TEXT, min_size=1, max_size=3))
    def remember(self, texts: list[str]) -> None:
        self.do("remember", lambda: self.memory.remember([{"role": "user", "content": text} for text in texts]))

    @rule(place=PLACE, text=TEXT)
    def edit(self, place: int, text: str) -> None:
        self.to(place, "edit", lambda id: self.memory.update(id, content=text))

    @rule(place=PLACE, fields=st.sampled_from(FIELDS), agent=st.booleans())
    def set_fields(self, place: int, fields: dict[str, Any], agent: bool) -> None:
        memory = self.memory.acting_as("agent:bot") if agent else self.memory
        self.to(place, f"set {fields}", lambda id: memory.update(id, **fields))

    @rule(place=PLACE)
    def delete(self, place: int) -> None:
        self.to(place, "delete", self.memory.delete)

    @rule(places=st.lists(PLACE, min_size=2, max_size=3))
    def delete_some(self, places: list[int]) -> None:
        self.to(places[0], "delete some", lambda id: self.memory.delete_notes([id, *map(self.id_at, places[1:])]))

    @rule(place=PLACE)
    def restore(self, place: int) -> None:
        self.to(place, "restore", self.memory.restore)

    @rule(place=PLACE, pinned=st.booleans())
    def pin(self, place: int, pinned: bool) -> None:
        self.to(place, "pin", lambda id: self.memory.pin(id, pinned))

    @rule(place=PLACE, other=PLACE, type=st.sampled_from(("related", "supports", "derived_from", "contradicts")))
    def link(self, place: int, other: int, type: str) -> None:
        self.to(place, f"link {type}", lambda id: self.memory.link(id, self.id_at(other), type, "by hand"))

    @rule(place=PLACE, which=PLACE)
    def unlink(self, place: int, which: int) -> None:
        def unlink(id: str) -> None:
            links = self.memory.links(id)
            if links:
                link = links[which % len(links)]
                self.memory.unlink(id, link.target, link.type)

        self.to(place, "unlink", unlink)

    @rule(place=PLACE, other=PLACE)
    def supersede(self, place: int, other: int) -> None:
        self.to(place, "supersede", lambda id: self.memory.supersede(id, self.id_at(other), "by hand"))

    @rule(place=PLACE, other=PLACE, which=st.integers(0, 2))
    def supersede_statement(self, place: int, other: int, which: int) -> None:
        self.to(
            place,
            "supersede statement",
            lambda id: self.memory.supersede(id, self.id_at(other), "by hand", statement=self.statement(id, which)),
        )

    @rule(place=PLACE, which=st.integers(-1, 2))
    def retract(self, place: int, which: int) -> None:
        self.to(place, "retract", lambda id: self.memory.retract(id, statement=self.statement(id, which)))

    @rule(place=PLACE, which=st.integers(-1, 2))
    def unsupersede(self, place: int, which: int) -> None:
        self.to(place, "unsupersede", lambda id: self.memory.unsupersede(id, statement=self.statement(id, which)))

    @rule(place=PLACE)
    def keep(self, place: int) -> None:
        self.to(place, "keep", self.memory.keep)

    @rule(place=PLACE)
    def keep_flagged(self, place: int) -> None:
        flags = self.memory.flags()
        if flags:
            self.do("keep flagged", lambda: self.memory.keep(flags[place % len(flags)].note))

    @rule(place=PLACE, version=st.integers(1, 4))
    def roll_back(self, place: int, version: int) -> None:
        self.to(place, "rollback", lambda id: self.memory.rollback(id, version))

    @rule(place=PLACE, accepted=st.booleans())
    def decide(self, place: int, accepted: bool) -> None:
        reviews = self.memory.reviews()
        if reviews:
            decide = self.memory.accept if accepted else self.memory.reject
            self.do(f"{'accept' if accepted else 'reject'}", lambda: decide(reviews[place % len(reviews)].id))

    @rule(old=st.sampled_from(TAGS), new=st.sampled_from(TAGS))
    def retag(self, old: str, new: str) -> None:
        self.do("retag", lambda: self.memory.rename_tag(old, new))

    @rule(cycle=st.sampled_from(("nightly", "weekly")), days=st.sampled_from((0, 1, 30, 90)))
    def maintain(self, cycle: str, days: int) -> None:
        self.clock.advance(days=days)
        self.do(f"maintain {cycle} after {days}", lambda: self.memory.maintain(cycle=cycle))

    @rule(name=st.sampled_from(("Rome", "heron", "医生")))
    def declare(self, name: str) -> None:
        self.do("declare", lambda: self.memory.declare_topic(name))

    @rule(name=st.sampled_from(("Rome", "heron", "医生")))
    def undeclare(self, name: str) -> None:
        self.do("undeclare", lambda: self.memory.remove_topic(name))

    # -- undo and redo -----------------------------------------------------------------------------------------

    @rule()
    def undo(self) -> None:
        self.reverse("undo", self.memory.undo)

    @rule()
    def undo_again(self) -> None:
        self.reverse("undo", self.memory.undo)

    @rule()
    def redo(self) -> None:
        self.reverse("redo", self.memory.redo)

    @rule(back=st.integers(0, 12), part=st.booleans())
    def undo_by_number(self, back: int, part: bool) -> None:
        """What was done a while ago, or a part of it."""
        left = [each for each in self.memory.log(limit=60) if not each.undone and each.action not in ("undo", "redo")]
        left = [each for each in left if (each.parent is not None) == part]
        if left:
            operation = left[back % len(left)].id
            self.reverse(f"undo {operation}", lambda: self.memory.undo(operation))

    @rule(back=st.integers(0, 4))
    def redo_by_number(self, back: int) -> None:
        left = [each for each in self.memory.log(limit=60) if each.action == "undo" and not each.undone]
        if left:
            operation = left[back % len(left)].id
            self.reverse(f"redo {operation}", lambda: self.memory.redo(operation))

    def undo_everything(self) -> None:
        while True:
            left = [each for each in self.memory.log(limit=100_000) if each.parent is None]
            left = [each.id for each in left if not each.undone and each.action not in ("undo", "redo")]
            if not left:
                break
            for id in left:
                if not self.memory.operations([id])[0].undone:
                    self.reverse(f"undo all {id}", lambda id=id: self.memory.undo(id))
        rest = {item: value for item, value in self.now.items() if value}
        assert not rest, f"left after undoing everything:\n{self.told()}\n{rest}"

    # -- how it is done ----------------------------------------------------------------------------------------

    def id_at(self, place: int) -> str:
        return self.ids[place % len(self.ids)] if self.ids else "none"

    def statement(self, id: str, which: int) -> str:
        note = self.memory.read(id)
        if note is None or which < 0:
            return ""
        parts = [part.strip() for part in note.content.replace("。", ".").replace("，", ".").split(".") if part.strip()]
        return parts[which % len(parts)]

    def to(self, place: int, what: str, work: Callable[[str], object]) -> None:
        """Do something to a note, deleted ones too."""
        if self.ids:
            id = self.id_at(place)
            self.do(f"{what} #{place % len(self.ids)}", lambda: work(id))

    def do(self, what: str, work: Callable[[], object]) -> None:
        self.clock.advance(minutes=1)
        last, before = self.memory.pulse()[1], self.now
        self.story.append(what)
        try:
            work()
        except AmemError as error:
            self.story[-1] += f": {error}"
            self.look()
            assert not different(before, self.now), f"it failed and changed something:\n{self.told()}"
            return
        made = self.memory.operations(range(last + 1, self.memory.pulse()[1] + 1))
        began = [each for each in made if each.parent is None]
        self.look()
        self.story[-1] += f" = {[each.id for each in began]}"
        for each in began:
            self.states[each.id] = (before, self.now) if len(began) == 1 else None
            self.done.append(each.id)
            self.undone.clear()
        if not began:
            assert not different(before, self.now), f"no operation changed something:\n{self.told()}"

    def look(self) -> None:
        pulse = self.memory.pulse()
        if pulse == self.pulse and self.looks % 10:
            self.looks += 1
            return  # nothing was written
        self.now, self.pulse = visible_state(self.memory, self.clock, WORDS), pulse
        known = set(self.ids)
        fresh = [item[1] for item in self.now if item[0] == "note" and item[2] == "content" and item[1] not in known]
        self.ids += sorted(fresh, key=lambda id: (self.now["note", id, "recorded_at"], self.now["note", id, "content"]))
        assert self.now["tags",] == _counted(self.now), "the tags are not those of the notes"
        if self.looks % 10 == 0:
            hits = self.memory.ask(Query(" ".join(WORDS), 1000, legs=("lexical",), touch=False))
            hidden = [hit.id for hit in hits if self.now.get(("note", hit.id, "status")) is not Status.ACTIVE]
            assert not hidden, f"a search finds what is not there: {hidden}"
        self.looks += 1

    def reverse(self, what: str, work: Callable[[], UndoReport]) -> None:
        self.clock.advance(minutes=1)
        before = self.now
        self.story.append(what)
        try:
            report = work()
        except (NothingToUndo, InvalidInput) as error:
            self.story[-1] += f": {error}"
            self.look()
            assert not different(before, self.now), f"it failed and changed something:\n{self.told()}"
            return
        self.look()
        self.story[-1] += f": {report.operation} reversed {report.undone}"
        held = self.states.get(report.undone)
        self.states[report.operation] = (before, self.now)
        if self.last_of_all(report.undone, report.operation):
            assert held is None or not different(held[0], self.now), self.complaint(before, held[0], report)
            assert held is None or not report.kept, f"{report}\n{self.told()}"
        elif held is not None and self.out_of_order:
            wanted = dict(before)
            for item in different(*held):
                gone = item[0] not in SUMS and item[-1] not in STANDING and not seen(item, held[1], HERE)
                if gone and seen(item, before, HERE) and self.now.get(item) == before.get(item):
                    continue  # it only went along with a note that is there again already
                wanted.pop(item, None)
                if item in held[0]:
                    wanted[item] = held[0][item]
            # What a note came to hold goes with it.
            wanted = {item: value for item, value in wanted.items() if item[0] in SUMS or seen(item, wanted)}
            left = unnamed(before, held, wanted, self.now, report)
            assert not left, f"{told(left, self.ids)}\n{report}\n{self.told()}"

    def last_of_all(self, operation: int, reversal: int) -> bool:
        """Whether nothing was done since what is reversed, so that all has to be as before; keeps account of it."""
        if self.done[-1:] == [operation]:
            self.done.pop()
            self.undone.append(reversal)
            return True
        if self.undone[-1:] == [operation]:
            self.undone.pop()
            self.done.append(self.memory.operations([operation])[0].undoes or 0)
            return True
        # What was before the others is no more what will be when they are undone.
        self.done.clear()
        self.undone.clear()
        return False

    def complaint(self, before: Any, wanted: Any, report: UndoReport) -> str:
        found = {item: (before.get(item), wanted.get(item), self.now.get(item)) for item in different(wanted, self.now)}
        return f"not what was before:\n{told(found, self.ids)}\n{report}\n{self.told()}"

    def told(self) -> str:
        return "\n".join(self.story)


def _counted(state: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item, value in state.items():
        if item[0] == "note" and item[2] == "tags":
            for tag in {tag.casefold() for tag in value}:
                counts[tag] = counts.get(tag, 0) + 1
    return counts


class OutOfOrder(Histories):
    out_of_order = True


def run(histories: int, steps: int, seed: int, machine: type[Histories] = Histories) -> None:
    """So many histories of so many steps, others for another seed."""
    how = settings(
        max_examples=histories,
        stateful_step_count=steps,
        derandomize=False,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(hypothesis.seed(seed)(machine), settings=how)


@pytest.fixture(autouse=True)
def as_settings_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proposals that wait for longer than a history takes."""
    monkeypatch.setenv("AMEM_REVIEW_DAYS", "36500")


@pytest.fixture(autouse=True)
def a_seed_is_a_history(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else some draws are constants of whatever modules are loaded, and a seed is another history in each process."""
    drawn = "hypothesis.internal.conjecture.providers.HypothesisProvider._maybe_draw_constant"
    monkeypatch.setattr(drawn, lambda *_, **__: None, raising=False)


#: How often as many histories are tried; a history of a hundred steps takes two seconds.
ROUNDS = int(os.environ.get("AMEM_ROUNDS", "1"))


@pytest.mark.thorough
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(8 * ROUNDS))
def test_undo_and_redo_of_the_last_step_are_exact_and_undoing_all_leaves_nothing(seed: int) -> None:
    run(4, 100, seed)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [99, *(pytest.param(100 + n, marks=pytest.mark.thorough) for n in range(4))])
def test_undo_of_older_work_names_each_difference(seed: int) -> None:
    run(2, 50, seed, OutOfOrder)
