"""What is purged is gone: from every file of the home, from what was made of it, and for good."""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from _judging_model import judging_model

from amem import load_settings
from amem.analysis import Analysis, Evolution, ProposedLink, Rewrite
from amem.errors import InvalidInput
from amem.note import Fact, LinkType
from amem.storage.database import Database, explain
from amem.testing import FakeOllama, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.analysis import Draft, Neighbour

    Open = Callable[..., AgenticMemorySystem]

SECRET = "Wen is allergic to marzipanium, and her patient number is 77123."
SECRET_CHINESE = "林文对榴莲糖过敏，她的病历号是88342。"
CANARIES = ("marzipanium", "patient number is 77123", "77123", "榴莲糖", "病历号是88342", "88342")


def files_with(home: Path, canaries: Sequence[str] = CANARIES) -> dict[str, list[str]]:
    """By file of the home which of these words it holds, as UTF-8, UTF-16 or escaped in JSON."""
    found: dict[str, list[str]] = {}
    for path in home.rglob("*"):
        if path.is_file():
            held = path.read_bytes()
            for canary in canaries:
                escaped = json.dumps(canary).strip('"')
                ways = [canary.encode(way) for way in ("utf-8", "utf-16-le", "utf-16-be")] + [escaped.encode()]
                if any(way in held for way in ways):
                    found.setdefault(str(path.relative_to(home)), []).append(canary)
    return found


def gossip(draft: Draft, analysis: Analysis, shown: Sequence[Neighbour]) -> Evolution:
    """A model that quotes what it read in whatever it writes: contexts, tags, reasons, proposals."""
    told = " ".join(each.content for each in shown if "77123" in each.content or "88342" in each.content)
    said = f"{draft.content} {told}".strip()
    return Evolution(
        links=tuple(ProposedLink(each.handle, LinkType.RELATED, f"because {said}", 0.9) for each in shown[:3]),
        rewrites=tuple(
            Rewrite(each.handle, f"{each.context}; later: {said}", (*each.tags, said[:60]), f"as {said}", sure)
            for each, sure in zip(shown[:3], (0.99, 0.95, 0.5), strict=False)
        ),
    )


def analysed(draft: Draft) -> Analysis:
    words = tuple(draft.content.rstrip(".。").split()[-3:])
    return Analysis(keywords=words, context=f"On {draft.content}", tags=("health",), entities=("Wen",))


@pytest.fixture
def gossips(open_memory: Open) -> Open:
    def open_(**options: Any) -> AgenticMemorySystem:
        return open_memory(**{"analyst": ScriptedAnalyst(analyses=analysed, evolutions=gossip)} | options)

    return open_


@pytest.mark.parametrize("secret", [SECRET, SECRET_CHINESE])
def test_a_problem_of_maintenance_that_quotes_a_purged_note_is_forgotten(open_memory: Open, home: Path, secret: str):
    memory = open_memory()
    id = memory.add_note(secret)
    with memory.parts.store.write() as session:
        run = session.runs.start("nightly", 0, {"problems": [f"cannot merge “{secret}”", "no paper"]}, "me", seconds=60)
    memory.purge(id)
    with memory.parts.store.read() as session:
        assert session.runs.get(run.id).progress["problems"] == ["no paper"]
    memory.close()
    assert files_with(home) == {}


def test_after_a_purge_no_file_of_the_home_holds_the_text(gossips: Open, home: Path) -> None:
    memory = gossips()
    before = [memory.add_note(text) for text in ("Wen plays the cello.", "Wen sees Dr. Okafor.", "林文喜欢喝茶。")]
    secrets = [memory.add_note(SECRET), memory.add_note(SECRET_CHINESE)]
    after = [memory.add_note(text) for text in ("Wen moved to Lisbon.", "林文搬到了里斯本。", "Wen has a sister.")]
    memory.update(secrets[0], context=f"{SECRET} Really.", tags=["marzipanium"], facts=[Fact("Wen", "has", "77123")])
    memory.link(before[0], after[0], "supports", f"both go with: {SECRET}")
    memory.declare_topic("allergies", about="allergic 过敏")
    memory.supersede(before[1], secrets[0], reason="her patient number is 77123")
    memory.backup(home / "memories" / "amem.db.schema-3.bak")
    assert {"memories/amem.db-wal", "memories/amem.db.schema-3.bak"} <= files_with(home).keys()

    report = memory.purge(secrets)

    assert report is not None
    assert (report.owed, report.left) == ("", ())
    assert set(report.notes) == set(secrets)
    assert before[1] in report.stands_again
    for word in ("marzipanium", "77123", "榴莲糖"):
        assert [hit.id for hit in memory.search(word, k=9) if word in f"{hit.content} {hit.context} {hit.tags}"] == []
    told = json.dumps([[each.changes for each in memory.history(id)] for id in [*before, *after]], default=str)
    assert not any(canary in told for canary in CANARIES)
    assert {memory.read(id).content for id in before} == {
        "Wen plays the cello.",
        "Wen sees Dr. Okafor.",
        "林文喜欢喝茶。",
    }
    assert all(memory.read(id).context for id in [*before, *after])
    memory.close()
    assert files_with(home) == {}


def test_the_rules_own_contexts_lose_the_clause_of_a_purged_note_and_keep_the_others(open_memory: Open, minilm: Any):
    memory = open_memory(embedder=minilm, llm_backend="offline", analyst=None)
    first = memory.add_note("Project Halyard starts on 3 March with Ana as the lead.", time="2026-02-01")
    for text in (
        "Project Halyard moves to the Kestrel cloud, says Ana.",
        "Project Halyard costs 77123 euros, says Ana.",
    ):
        memory.add_note(text, time="2026-02-20")
    context = memory.read(first).context
    assert context.count("; later: ") == 2, context
    (second,) = [note.id for note in memory.list() if "Kestrel" in note.content]
    memory.purge(second)
    assert all(each.changes for each in memory.history(first) if each.action != "purge")
    with pytest.raises(InvalidInput) as refused:
        memory.undo()
    assert "amem undo 4 " in refused.value.hint, "the third note; nothing is left of what brought the second"
    left = memory.read(first).context
    assert "kestrel" not in left.casefold()
    assert "77123" in left
    assert left == context.replace(next(part for part in context.split("; ") if "Kestrel" in part) + "; ", "")


def test_what_another_note_says_in_its_own_words_stays_and_is_named(memory: AgenticMemorySystem):
    gone = memory.add_note("Wen is allergic to marzipanium.")
    other = memory.add_note("Ask Ana. Wen is allergic to marzipanium. That is all.")
    edited = memory.add_note("Wen likes tea.")
    memory.update(edited, context="Remember: Wen is allergic to marzipanium.")
    report = memory.purge(gone)
    assert report is not None
    assert {(each.note, each.where) for each in report.left} == {(other, "its text"), (edited, "its context")}
    assert memory.read(other).content.count("marzipanium") == 1
    assert memory.read(edited).context == "Remember: Wen is allergic to marzipanium."


def test_a_note_merged_from_a_purged_one_goes_and_its_other_part_stands_again(open_memory: Open, minilm: Any):
    memory = open_memory(embedder=minilm, llm_backend="offline", analyst=None)
    one, other = (memory.add_note(text) for text in ("My dentist is Dr. Alvarez.", "Dr. Alvarez is my dentist."))
    assert memory.maintain().consolidated == 2
    (merged,) = [note.id for note in memory.list() if "consolidated" in note.tags]
    report = memory.purge(one)
    assert report is not None
    assert (report.notes, report.stands_again) == ((one, merged), (other,))
    assert [note.id for note in memory.list()] == [other]

    again = memory.add_note("My dentist is Dr. Alvarez.")
    assert memory.maintain().consolidated == 2
    (merged,) = [note.id for note in memory.list() if "consolidated" in note.tags]
    report = memory.purge(merged)
    assert report is not None
    assert set(report.notes) == {merged, other, again}
    assert memory.list() == []


def test_a_purged_superseded_note_leaves_its_successor_as_it_is(memory: AgenticMemorySystem):
    old, new = memory.add_note("The code is 77123."), memory.add_note("The code is secret now.")
    memory.supersede(old, new, reason="no longer 77123")
    memory.purge(old)
    assert memory.read(new).status == "active"
    assert [link.type for link in memory.links(new)] == []
    assert "77123" not in json.dumps([[each.cause for each in memory.log(limit=1000)]])


def test_a_topic_page_is_written_again_without_a_purged_note(open_memory: Open, home: Path):
    memory = open_memory()
    texts = [f"The garden has {plant}." for plant in ("roses", "beans", "marzipanium")]
    ids = [memory.add_note(text) for text in texts]
    memory.declare_topic("garden")
    assert "marzipanium" in memory.topic("garden").text
    memory.purge(ids[2])
    page = memory.topic("garden")
    assert "marzipanium" not in page.text
    assert all(text.rstrip(".") in page.text for text in texts[:2])
    assert set(page.notes) == set(ids[:2])
    assert "marzipanium" not in json.dumps([each.changes for each in memory.history(page.topic.id)])
    memory.purge(ids[:2])
    assert memory.topic("garden").notes == {}
    memory.close()
    assert files_with(home) == {}


def test_several_purges_one_after_the_other_each_leave_nothing(open_memory: Open, home: Path):
    memory = open_memory()
    ids = [memory.add_note(f"Secret {word} of the house.") for word in ("77123", "marzipanium", "榴莲糖")]
    for id in ids:
        report = memory.purge(id)
        assert report is not None
        assert (report.notes, report.owed) == ((id,), "")
    assert memory.purge(ids) is None
    memory.close()
    assert files_with(home) == {}


def test_a_model_that_was_shown_a_note_before_its_purge_writes_nothing_of_it(open_memory: Open, home: Path):
    kept: list[Any] = []

    def slowly(draft: Draft, analysis: Analysis, shown: Sequence[Neighbour]) -> Evolution:
        if any("77123" in each.content for each in shown):
            assert kept[0].purge(kept[1]) is not None
        return gossip(draft, analysis, shown)

    memory = open_memory(analyst=ScriptedAnalyst(analyses=analysed, evolutions=slowly, local=False))
    other = memory.add_note("Wen plays the cello.")
    kept += [memory, memory.add_note(SECRET)]
    receipt = memory.add("Wen is allergic to nuts.")
    assert receipt.dropped == ("what evolves: a note that was shown is purged",)
    assert memory.read(other).context == "On Wen plays the cello."
    memory.close()
    assert files_with(home) == {}


def test_a_digest_of_a_purged_note_goes_and_what_it_summed_up_comes_back(open_memory: Open, home: Path, clock: Any):
    memory = open_memory(settings=load_settings(home, dense_base="exact", archive_own_notes=True))
    slight = {"kind": "episode", "importance": 0.2, "conversation_id": "market"}
    ids = [memory.add_note(f"We met number {n} there.", **slight) for n in ("one", "77123", "two", "six")]
    clock.advance(days=45)
    assert memory.maintain("weekly").compressed == len(ids)
    (digest,) = [note.id for note in memory.list() if "digest" in note.metadata]
    report = memory.purge(ids[1])
    assert report is not None
    assert report.notes == (ids[1], digest)
    assert set(report.stands_again) == {ids[0], ids[2], ids[3]} == {note.id for note in memory.list()}
    memory.close()
    assert files_with(home) == {}


def test_copies_and_other_files_of_the_home_that_still_hold_the_text_are_named(open_memory: Open, home: Path):
    memory = open_memory()
    gone, _ = memory.add_note(SECRET), memory.add_note("tea at five")
    memory.copy("second")
    (home / "exported.md").write_text(f"# All\n\n{SECRET}\n", encoding="utf-8")
    (home / "list.md").write_text("tea at five", encoding="utf-8")
    report = memory.purge(gone)
    assert report is not None
    assert {(each.note, each.where) for each in report.left} == {("", "exported.md"), ("", "second/amem.db")}
    memory.close()
    assert set(files_with(home)) == {"exported.md", "second/amem.db"}


def test_no_undo_or_redo_brings_purged_text_back(gossips: Open, home: Path) -> None:
    memory = gossips()
    for text in ("Wen plays the cello.", "Wen sees Dr. Okafor."):
        memory.add_note(text)
    secret = memory.add_note(SECRET)
    after = [memory.add_note(text) for text in ("Wen moved to Lisbon.", "Wen has a sister.")]
    for review in memory.reviews():
        memory.accept(review.id)
    memory.supersede(after[0], secret, reason=SECRET)
    memory.delete(after[1])
    memory.undo()
    memory.purge(secret)
    operations = [
        each for each in memory.log(limit=1000) if each.parent is None and each.action not in ("undo", "purge")
    ]
    for operation in operations:
        with suppress(InvalidInput):  # the deletion was undone already
            memory.undo(operation.id)
    for _ in operations[:4]:
        memory.redo()
    memory.close()
    assert files_with(home) == {}


@pytest.mark.thorough
def test_a_purge_takes_what_a_model_over_the_wire_made_of_a_note(open_memory: Open, home: Path, minilm: Any) -> None:
    with FakeOllama(judging_model) as ollama:
        settings = load_settings(home, llm_backend="ollama", llm_model="llama3.2", ollama_host=ollama.host)
        memory = open_memory(settings=settings, embedder=minilm, analyst=None)
        kept = [memory.add_note(text) for text in ("Wen's allergy is to nuts.", "Wen's doctor is Dr. Okafor.")]
        gone = memory.add_note(SECRET)
        memory.add_note("Wen's allergy got worse in spring.")
        held = "".join(path.read_bytes().decode("utf-8", "replace") for path in home.rglob("amem.db*"))
        assert held.count("marzipanium") > 5
        report = memory.purge(gone)
        assert report is not None
        assert report.owed == ""
        assert all(memory.read(id) is not None for id in kept)
        memory.close()
    assert files_with(home) == {}


class TestOwed:
    """A purge that could not rewrite the files is finished later, and says so."""

    @pytest.fixture
    def full(self, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
        """While it holds True, a disk has no room for a second file."""
        room: list[bool] = [True]
        shrink = Database.shrink

        def without_room(database: Database) -> None:
            if room[0]:
                connection = database.connect()
                try:
                    pages = connection.execute("PRAGMA page_count").fetchone()[0]
                    connection.execute(f"PRAGMA max_page_count = {pages}")
                    connection.execute("CREATE TABLE room AS SELECT randomblob(9000000)")
                except sqlite3.Error as error:
                    raise explain(error, database.path) from error
                finally:
                    connection.close()
            shrink(database)

        monkeypatch.setattr(Database, "shrink", without_room)
        return room

    @pytest.mark.parametrize("finish", ["maintain", "doctor", "purge"])
    def test_a_short_disk_leaves_a_cleaning_owed_that_is_finished_later(
        self, open_memory: Open, home: Path, full: list[bool], finish: str
    ):
        memory = open_memory()
        gone, other = memory.add_note(SECRET), memory.add_note("tea at five")
        report = memory.purge(gone)
        assert report is not None
        assert "full" in report.owed
        assert memory.read(gone) is None
        memory.close()
        memory = open_memory()
        (finding,) = [each for each in memory.doctor() if each.about == "purge"]
        assert finding.level == "warning"
        assert [each.level for each in memory.doctor(repair=True) if each.about == "purge"] == ["error"]
        assert any("purged text" in each for each in memory.maintain().problems)
        full[0] = False
        if finish == "maintain":
            assert memory.maintain().problems == ()
        elif finish == "doctor":
            assert [each.level for each in memory.doctor(repair=True) if each.about == "purge"] == ["ok"]
        else:
            assert memory.purge(other) is not None
        assert [each for each in memory.doctor() if each.about == "purge"] == []
        memory.close()
        assert files_with(home) == {}

    def test_a_reader_in_another_process_keeps_the_log_and_the_purge_says_so(self, open_memory: Open, home: Path):
        memory = open_memory()
        gone = memory.add_note(SECRET)
        memory.parts.store.database.busy_seconds = 0.2
        reader = sqlite3.connect(home / "memories" / "amem.db")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM notes").fetchone()
        report = memory.purge(gone)
        assert report is not None
        assert "another process is reading" in report.owed
        reader.close()
        assert memory.finish_purges() == ""
        memory.close()
        assert files_with(home) == {}
