"""A folder and a collection, kept in step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Desk

    from amem import AgenticMemorySystem


def did(steps: list) -> list[tuple[str, str]]:
    return [(step.what, step.path) for step in steps]


def test_every_active_note_gets_a_file_that_shows_what_it_is(desk: Desk) -> None:
    lisbon = desk.memory.add(
        "Ana lives in Lisbon.", tags=["people", "old friends"], kind="fact", time="2026-02-01T09:30"
    )
    billing = desk.memory.add("# Billing\n\nRuns on PostgreSQL 15.", kind="config", valid_from="2026-01-01")
    desk.memory.link(lisbon.id, billing.id, "supports", "she looks after it")
    gone = desk.memory.add("Nobody needs this.")
    desk.memory.delete(gone.id)

    desk.settled()

    zone = "2026-02-01T09:30:00"
    files = desk.files()
    assert list(files) == ["Ana lives in Lisbon.md", "Billing.md"]
    assert files["Ana lives in Lisbon.md"] == (
        f"---\nid: {lisbon.id}\nkind: fact\ntags:\n  - people\n  - old-friends\ncreated: {zone}\nstatus: active\n---\n"
        "Ana lives in Lisbon.\n\n"
        "<!-- amem:links -->\n## Links\n\n- supports [[Billing]]: she looks after it\n<!-- /amem:links -->\n"
    )
    assert "valid_from: 2026-01-01\n" in files["Billing.md"]
    assert files["Billing.md"].endswith("---\n# Billing\n\nRuns on PostgreSQL 15.\n")


def test_what_was_changed_on_one_side_goes_to_the_other(desk: Desk) -> None:
    tea = desk.memory.add("Tea is at four.", tags=["day"])
    cake = desk.memory.add("Cake is at five.")
    desk.settled()

    desk.replace("Tea is at four.md", "at four", "at half past four")
    desk.replace("Tea is at four.md", "  - day", "  - day\n  - guests")
    desk.replace("Tea is at four.md", "kind: fact", "kind: decision")
    desk.memory.update(cake.id, content="Cake is at six.")
    report = desk.settled()

    note = desk.memory.read(tea.id)
    assert note is not None
    assert (note.content, note.tags, note.kind) == ("Tea is at half past four.", ["day", "guests"], "decision")
    assert "Cake is at six." in desk.files()["Cake is at five.md"]
    assert did(report.to_notes) == [("changed", "Tea is at four.md")]
    assert did(report.to_files) == [("updated", "Cake is at five.md")]


def test_a_new_file_becomes_a_note_and_keeps_its_bytes(desk: Desk) -> None:
    desk.sync()
    written = "\ufeff---\r\ncssclass: wide\r\nstatus: draft\r\n---\r\n\r\n\r\nSwim at noon.\r\n\r\n  indented  "
    desk.write("sport/Pool.md", written)
    desk.settled()

    text = desk.files()["sport/Pool.md"]
    assert desk.content("sport/Pool.md") == "Swim at noon.\n\n  indented  "
    assert text.startswith("\ufeff---\r\nid: ")
    assert text.endswith("---\r\n\r\n\r\nSwim at noon.\r\n\r\n  indented  ")
    assert "cssclass: wide\r\nstatus: draft\r\n" in text  # a status of the user's own stays his


def test_a_change_in_amem_leaves_the_line_ends_of_a_file_alone(desk: Desk) -> None:
    desk.write("Pool.md", "\ufeff---\r\ncssclass: wide\r\n---\r\n\r\nSwim at noon.\r\nBring soap.\r\n")
    desk.settled()
    desk.memory.update(desk.id_of("Pool.md"), content="Swim at one.\nBring soap.")
    desk.settled()
    text = desk.files()["Pool.md"]
    assert text.startswith("\ufeff---\r\n")
    assert text.endswith("---\r\n\r\nSwim at one.\r\nBring soap.\r\n")
    assert "cssclass: wide\r\n" in text


def test_a_daily_note_is_of_its_day(desk: Desk) -> None:
    desk.write("Journal/2026-01-15.md", "Planted an apple tree.\n")
    desk.settled()
    note = desk.memory.read(desk.id_of("Journal/2026-01-15.md"))
    assert note is not None
    assert note.at is not None
    assert f"{note.at:%Y-%m-%d}" == "2026-01-15"
    assert "created: 2026-01-15\n" in desk.files()["Journal/2026-01-15.md"]


def test_changes_to_different_lines_and_fields_are_merged(desk: Desk) -> None:
    trip = desk.memory.add("# Trip\n\nBy train.\n\nTwo nights.\n\nWith Ana.", tags=["travel"])
    desk.settled()
    desk.replace("Trip.md", "By train.", "By night train.")
    desk.replace("Trip.md", "  - travel", "  - travel\n  - train")
    desk.memory.update(
        trip.id, content="# Trip\n\nBy train.\n\nTwo nights.\n\nWith Ana and Bo.", tags=["travel", "friends"]
    )

    report = desk.settled()

    note = desk.memory.read(trip.id)
    assert note is not None
    assert note.content == "# Trip\n\nBy night train.\n\nTwo nights.\n\nWith Ana and Bo."
    assert set(note.tags) == {"travel", "train", "friends"}
    assert note.content in desk.files()["Trip.md"]
    assert did(report.to_notes) == [("merged", "Trip.md")]
    assert not report.conflicts


def test_a_conflict_keeps_both_texts_until_a_person_settles_it(desk: Desk) -> None:
    door = desk.memory.add("The door code is 1234.")
    desk.settled()
    desk.replace("The door code is 1234.md", "1234.", "1111.")
    desk.memory.update(door.id, content="The door code is 2222.")

    report = desk.settled()

    beside = "The door code is 1234 (conflict of amem 2026-03-01).md"
    assert did(report.conflicts) == [("conflict", "The door code is 1234.md")]
    assert report.waiting == [beside]
    assert "2222" in desk.files()["The door code is 1234.md"]
    assert "1111" in desk.files()[beside]
    assert desk.content("The door code is 1234.md") == "The door code is 2222."
    assert desk.sync().waiting == [beside]

    desk.replace("The door code is 1234.md", "2222", "1111")
    (desk.folder / beside).unlink()
    assert not desk.settled().waiting
    assert desk.content("The door code is 1234.md") == "The door code is 1111."


def test_deleting_goes_both_ways_unless_the_other_side_changed(desk: Desk) -> None:
    ids = {name: desk.memory.add(f"{name} is here.").id for name in ("One", "Two", "Three", "Four")}
    desk.settled()
    (desk.folder / "One is here.md").unlink()
    desk.memory.delete(ids["Two"])
    (desk.folder / "Three is here.md").unlink()
    desk.memory.update(ids["Three"], content="Three is there.")
    desk.replace("Four is here.md", "is here", "is everywhere")
    desk.memory.delete(ids["Four"])

    report = desk.settled()

    assert desk.memory.read(ids["One"]) is None
    assert did(report.to_files) == [("put back", "Three is here.md"), ("removed", "Two is here.md")]
    beside = "Four is here (conflict of amem 2026-03-01).md"
    assert list(desk.files()) == [beside, "Three is here.md"]
    assert "is everywhere" in desk.files()[beside]
    assert desk.memory.read(ids["Four"]) is None


def test_one_undo_takes_a_sync_back_and_the_next_brings_the_files_along(desk: Desk) -> None:
    one, two = desk.memory.add("First of all.").id, desk.memory.add("Second to none.").id
    desk.settled()
    before = desk.files()
    desk.replace("First of all.md", "all", "everything")
    (desk.folder / "Second to none.md").unlink()
    desk.write("Third.md", "See [[First of all]].\n")
    report = desk.settled()
    assert report.operation is not None

    undone = desk.memory.undo()
    assert undone.undone == report.operation
    desk.settled()
    assert desk.files() == before
    assert desk.memory.read(one).content == "First of all."  # type: ignore[union-attr]
    assert desk.memory.read(two) is not None
    assert "See [[First of all]]" in (desk.folder / ".trash/Third.md").read_text()

    desk.memory.redo()
    desk.settled()
    assert "First of everything" in desk.files()["First of all.md"]
    assert list(desk.files()) == ["First of all.md", "Third.md"]


def test_a_persons_own_file_is_kept_when_the_sync_that_took_it_in_is_undone(desk: Desk) -> None:
    desk.write("Own.md", "My own words on tea.\n")
    desk.settled()
    desk.memory.undo()

    (step,) = desk.settled().to_files
    kept = desk.folder / ".trash/Own.md"
    assert (step.what, step.path) == ("removed", "Own.md")
    assert ".trash/Own.md" in step.more
    assert kept.read_text().endswith("My own words on tea.\n")

    desk.write("Own.md", "Another file of that name.\n")
    desk.settled()
    desk.memory.undo()
    desk.settled()
    trashed = sorted(path.read_text() for path in kept.parent.iterdir())
    assert len(trashed) == 2
    assert any(text.endswith("Another file of that name.\n") for text in trashed)

    kept.rename(desk.folder / "Own.md")
    assert did(desk.settled().to_notes) == [("restored", "Own.md")]
    assert [note.content for note in desk.memory.list()] == ["My own words on tea."]


def test_a_renamed_file_stays_its_notes_file(desk: Desk) -> None:
    pool = desk.memory.add("The pool opens at six.")
    fees = desk.memory.add("Fees are due in May.")
    desk.memory.link(fees.id, pool.id, "supports")
    desk.settled()
    (desk.folder / "sport").mkdir()
    (desk.folder / "The pool opens at six.md").rename(desk.folder / "sport/Pool hours.md")

    report = desk.settled()

    assert did(report.to_notes) == [("renamed", "sport/Pool hours.md")]
    assert "- supports [[Pool hours]]" in desk.files()["Fees are due in May.md"]
    desk.memory.update(pool.id, content="The pool opens at seven.")
    desk.settled()
    assert "seven" in desk.files()["sport/Pool hours.md"]
    assert len(desk.files()) == 2


def test_wikilinks_are_links_of_the_user_and_go_with_the_text(desk: Desk) -> None:
    pool = desk.memory.add("The pool opens at six.").id
    desk.settled()
    desk.write("Plan.md", "Go to [[The pool opens at six|the pool]] and then [[Later]]. `[[not this]]`\n")
    desk.settled()
    plan = desk.id_of("Plan.md")
    assert [(link.target, str(link.type), link.made_by) for link in desk.memory.links(plan)] == [
        (pool, "related", "user")
    ]
    assert "amem:links" not in desk.files()["Plan.md"]  # the text says it already

    desk.write("Later.md", "Buy soap.\n")
    assert ("linked", "Plan.md") in did(desk.settled().to_notes)
    assert {link.target for link in desk.memory.links(plan)} == {pool, desk.id_of("Later.md")}

    desk.replace("Plan.md", "Go to [[The pool opens at six|the pool]] and then", "Stay, then")
    desk.settled()
    assert {link.target for link in desk.memory.links(plan)} == {desk.id_of("Later.md")}


def test_a_line_of_the_links_section_is_a_link(desk: Desk) -> None:
    one, two, three = (desk.memory.add(f"{name} of the three.").id for name in ("One", "Two", "Three"))
    desk.memory.link(one, two, "supports")
    desk.settled()
    desk.replace(
        "One of the three.md", "- supports [[Two of the three]]", "- caused_by [[Three of the three]]: it rained"
    )
    desk.settled()
    assert [(link.target, str(link.type), link.reason) for link in desk.memory.links(one)] == [
        (three, "caused_by", "it rained")
    ]


def test_a_folder_that_is_suddenly_empty_deletes_nothing(desk: Desk) -> None:
    desk.memory.add("Worth keeping.")
    desk.settled()
    desk.folder.rename(desk.folder.with_name("elsewhere"))
    with pytest.raises(InvalidInput, match="has none now"):
        desk.sync()
    desk.folder.mkdir()
    with pytest.raises(InvalidInput, match="has none now"):
        desk.sync()
    (desk.folder / "lost+found").mkdir()
    (desk.folder / "photo.jpg").write_bytes(b"a photo")
    with pytest.raises(InvalidInput, match="has none now"):
        desk.sync()
    assert not (desk.folder / ".amem").exists()
    assert desk.memory.count() == 1


@pytest.mark.parametrize("dry_run", [True, False])
def test_files_that_are_all_gone_delete_nothing_until_their_notes_are_deleted_by_hand(
    desk: Desk, dry_run: bool
) -> None:
    ids = [desk.memory.add(words).id for words in ("Worth keeping.", "值得留下。", "Kept as well.")]
    desk.settled()
    away = desk.folder.with_name("away")
    away.mkdir()
    paths = sorted(desk.folder.glob("*.md"))
    for path in paths:
        path.rename(away / path.name)
    with pytest.raises(InvalidInput, match="files of 3 notes") as refused:
        desk.sync(dry_run=dry_run)
    assert "bring the files back" in refused.value.hint
    assert "amem delete" in refused.value.hint
    assert desk.memory.count() == 3

    for path in paths[:1]:
        (away / path.name).rename(path)
    assert sorted(did(desk.sync(dry_run=True).to_notes)) == [("deleted", path.name) for path in paths[1:]]
    paths[0].unlink()
    for id in ids:
        desk.memory.delete(id)
    desk.settled()
    assert desk.memory.count() == 0


def test_the_only_file_may_be_deleted(desk: Desk) -> None:
    desk.memory.add("The one note.")
    desk.settled()
    (desk.folder / "The one note.md").unlink()
    assert did(desk.settled().to_notes) == [("deleted", "The one note.md")]


def test_the_folder_of_the_notes_themselves_is_refused(open_memory: Callable[..., AgenticMemorySystem]) -> None:
    memory = open_memory()
    assert memory.folder is not None
    for folder in (memory.folder, memory.folder.parent, memory.folder / "vault"):
        with pytest.raises(InvalidInput, match="the notes themselves"):
            memory.vault(folder).sync()


def test_a_dry_run_names_the_note_that_stands_again_when_the_file_of_its_successor_was_deleted(desk: Desk) -> None:
    berlin, oslo, paris = (desk.memory.add(f"The office is in {city}.").id for city in ("Berlin", "Oslo", "Paris"))
    for words in ("Tea at five.", "Soup at one."):
        desk.memory.add(words)
    desk.memory.supersede(berlin, oslo)
    desk.memory.supersede(oslo, paris)
    desk.settled()
    for name in ("The office is in Paris.md", "Tea at five.md"):
        (desk.folder / name).unlink()
    would, done = desk.sync(dry_run=True), desk.sync()
    assert did(would.to_files) == did(done.to_files) == [("written", "The office is in Oslo.md")]
    assert did(would.to_notes) == did(done.to_notes)
    assert desk.sync().is_quiet


def test_a_dry_run_says_what_would_be_done_and_does_nothing(desk: Desk) -> None:
    desk.memory.add("The pool opens at six.")
    desk.write("New.md", "Buy soap.\n")
    before = desk.files()
    report = desk.sync(dry_run=True)
    assert (did(report.to_notes), did(report.to_files)) == (
        [("added", "New.md")],
        [("written", "The pool opens at six.md")],
    )
    assert desk.files() == before
    assert not (desk.folder / ".amem").exists()
    assert desk.memory.count() == 1


@pytest.mark.parametrize("name", ["Ana", "小安"])
def test_a_link_to_an_alias_is_made_by_the_first_sync_and_stands_in_the_text_alone(desk: Desk, name: str) -> None:
    desk.write("Ana Sousa.md", f"---\naliases: [{name}]\n---\nShe lives in Lisbon.\n")
    desk.write("Diary.md", f"Met [[{name}]].\n")
    desk.settled()
    links = desk.memory.links(desk.id_of("Diary.md"))
    assert [(link.target, link.reason) for link in links] == [(desk.id_of("Ana Sousa.md"), f"[[{name}]]")]
    assert "amem:links" not in desk.files()["Diary.md"]


@pytest.mark.parametrize(
    ("told", "linking"),
    [
        ("The billing service sends invoices from Lisbon.", "Invoices of the billing service in Lisbon, see [[One]]."),
        ("财务部的发票由王敏在里斯本核对。", "王敏在里斯本核对财务部的发票，见[[One]]。"),
    ],
)
@pytest.mark.parametrize("first", ["One.md", "Two.md"])
def test_what_a_text_links_is_guessed_in_neither_direction(
    desk: Desk, open_memory: Callable[..., AgenticMemorySystem], first: str, told: str, linking: str
) -> None:
    texts = {"One.md": told, "Two.md": linking}
    desk.memory = open_memory(directory=None, analyst=None, llm_backend="offline")
    desk.write(first, texts[first])
    desk.settled()
    for name, text in texts.items():
        if name != first:
            desk.write(name, text)
    desk.settled()
    assert not any("amem:links" in text for text in desk.files().values())
    one, other = (desk.id_of(name) for name in texts)
    assert [(link.target, link.made_by) for link in desk.memory.links(other)] == [(one, "user")]
    assert desk.memory.links(one) == []
    desk.memory.undo()
    assert [desk.memory.links(each) for each in (one, other)] == [[], []]


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("[[Notes]]", "Reading/Notes.md"),
        ("[[Projects/Notes]]", "Projects/Notes.md"),
        ("[plan](../Projects/Notes.md)", "Projects/Notes.md"),
        ("[own](Notes.md)", "Reading/Notes.md"),
        ("[[笔记]]", "Reading/笔记.md"),
    ],
)
def test_of_two_files_of_one_name_a_link_means_the_one_beside_it_unless_it_names_a_folder(
    desk: Desk, link: str, target: str
) -> None:
    for folder in ("Projects", "Reading"):
        desk.write(f"{folder}/Notes.md", f"Notes on {folder}.\n")
        desk.write(f"{folder}/笔记.md", f"关于{folder}的笔记。\n")
    desk.write("Reading/List.md", f"See {link}.\n")
    desk.settled()
    assert [each.target for each in desk.memory.links(desk.id_of("Reading/List.md"))] == [desk.id_of(target)]


def test_a_new_file_is_from_the_date_that_its_front_matter_says(desk: Desk) -> None:
    desk.write("Read.md", "---\ndate: 2025-06-07\n---\nRead Middlemarch.\n")
    desk.write("Odd.md", "---\ndate: 2025-02-30\ntime: 2025-03-01\n---\nSwam.\n")
    desk.settled()
    for name, day in (("Read.md", "2025-06-07"), ("Odd.md", "2025-03-01")):
        assert f"\ncreated: {day}\n" in desk.files()[name]
        note = desk.memory.read(desk.id_of(name))
        assert note is not None
        assert note.at is not None
        assert f"{note.at:%Y-%m-%d}" == day


def test_tags_in_the_text_of_a_new_file_join_those_of_its_front_matter(desk: Desk) -> None:
    desk.write("Tea.md", "---\ntags: [daily]\n---\nTea with Ana. #tea #daily\n")
    desk.settled()
    note = desk.memory.read(desk.id_of("Tea.md"))
    assert note is not None
    assert note.tags == ["daily", "tea"]


def test_a_file_too_long_for_a_note_is_named_by_every_sync_which_has_nothing_else_to_do(desk: Desk) -> None:
    desk.write("Long.md", "word " * desk.memory.settings.max_note_chars)
    desk.write("Index.md", "See [[Long]].\n")
    desk.sync()
    report = desk.sync()
    assert report.is_quiet
    assert report.operation is None
    assert [step.path for step in report.problems] == ["Long.md"]
    assert "cut it into several files" in report.problems[0].more
    assert [step.path for step in desk.sync(dry_run=True).problems] == ["Long.md"]


def test_files_without_text_are_said_to_wait(desk: Desk) -> None:
    desk.write("Empty.md", "")
    desk.write("Front.md", "---\ntags: [x]\n---\n\n")
    assert desk.settled().empty == ["Empty.md", "Front.md"]
    assert desk.memory.count() == 0
    desk.write("Empty.md", "Words at last.\n")
    assert desk.settled().empty == ["Front.md"]
    assert desk.memory.count() == 1
