"""What a person linked in a file is theirs: it resolves, takes the place of guesses, and no machine takes it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem.analysis import Evolution, ProposedLink, Rewrite
from amem.memory_system import AgenticMemorySystem
from amem.note import LinkType
from amem.query import Filter
from amem.testing import HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from conftest import Import

    from amem.analysis import Analysis, Draft, Neighbour
    from amem.settings import Settings


def guesses(draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour]) -> Evolution:
    """Links to every neighbour, in two ways, and another context for each."""
    links = [
        ProposedLink(each.handle, type, f"a guess that it {type}", 1.0)
        for each in neighbours
        for type in (LinkType.RELATED, LinkType.SUPPORTS)
    ]
    rewrites = [
        Rewrite(each.handle, f"Seen beside {draft.content[:20]}", each.tags, "a guess", 1.0) for each in neighbours
    ]
    return Evolution(tuple(links), tuple(rewrites))


@pytest.fixture
def memory(settings: Settings) -> Iterator[AgenticMemorySystem]:
    analyst = ScriptedAnalyst(evolutions=guesses)
    with AgenticMemorySystem(settings=settings, embedder=HashEmbedder(64), analyst=analyst) as memory:
        yield memory


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Porto.md").write_text("---\naliases: [Oporto, 波尔图]\n---\nThe city by the Douro where the boats are.")
    (folder / "Boats.md").write_text("The boats of the city by the Douro, see [[Porto]].")
    return folder


def ids(memory: AgenticMemorySystem) -> dict[str, str]:
    return {note.metadata["title"]: note.id for note in memory.list(limit=1000) if note.metadata["file"]["part"] == 1}


def between(memory: AgenticMemorySystem, one: str, other: str) -> set[tuple[str, str, str]]:
    """(type, reason, maker) of every link between the files of these titles, in either direction."""
    ends = {ids(memory)[one], ids(memory)[other]}
    return {
        (str(link.type), link.reason, link.made_by)
        for end in ends
        for link in memory.links(end)
        if {link.source, link.target} == ends
    }


THEIRS = {("related", "[[Porto]]", "user")}


def test_a_link_of_a_file_takes_the_place_of_what_was_guessed_of_the_two_notes(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    memory.add("Boats of another city by the Douro.", metadata={"title": "Gaia", "file": {"part": 1}})
    bring_in(folder)

    assert between(memory, "Boats", "Porto") == THEIRS
    assert {maker for _, _, maker in between(memory, "Boats", "Gaia")} == {"scripted"}


def test_a_guess_that_was_there_before_goes_when_the_file_links_and_undo_brings_it_back(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    (folder / "Boats.md").write_text("The boats of the city by the Douro.")
    bring_in(folder)
    guessed = between(memory, "Boats", "Porto")
    assert {maker for _, _, maker in guessed} == {"scripted"}
    (folder / "Boats.md").write_text("The boats of the city by the Douro, see [[Porto]].")

    bring_in(folder)

    assert between(memory, "Boats", "Porto") == THEIRS
    memory.undo()
    assert between(memory, "Boats", "Porto") == guessed


def test_no_analyst_evolution_or_maintenance_replaces_relabels_or_removes_it(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    bring_in(folder)

    memory.update(ids(memory)["Boats"], content="The boats of the city by the Douro are wooden, see [[Porto]].")
    memory.add("More boats of the city by the Douro.", metadata={"title": "More", "file": {"part": 1}})
    memory.update(ids(memory)["Porto"], context="The second city of Portugal, by the Douro.")
    memory.enrich()
    memory.consolidate_memories()
    memory.maintain()

    assert between(memory, "Boats", "Porto") == THEIRS


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[[Porto]]", "[[Porto]]"),
        ("[[porto|the city]]", "[[porto]]"),
        ("[[Oporto]]", "[[Oporto]]"),
        ("[[波尔图|那座城市]]", "[[波尔图]]"),
        ("![[Porto]]", "![[Porto]]"),
        ("[[Porto#History]]", "[[Porto#History]]"),
        ("![[Porto#^a1b2]]", "![[Porto#^a1b2]]"),
        ("[the city](Porto.md)", "link to Porto.md"),
    ],
)
def test_every_way_to_link_a_note_resolves(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path, text: str, reason: str
) -> None:
    (folder / "Boats.md").write_text(f"The boats of the city by the Douro, see {text}.")

    bring_in(folder)

    assert between(memory, "Boats", "Porto") == {("related", reason, "user")}


@pytest.mark.parametrize("alone", [False, True], ids=["with the folder", "by itself"])
def test_a_link_whose_target_is_imported_later_resolves_then(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path, alone: bool
) -> None:
    porto = (folder / "Porto.md").read_text()
    (folder / "Porto.md").unlink()
    bring_in(folder)
    (folder / "Porto.md").write_text(porto)

    bring_in(folder / "Porto.md" if alone else folder)

    assert between(memory, "Boats", "Porto") == THEIRS


def test_a_file_imported_by_itself_links_what_was_imported_before_by_any_of_its_names(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    (folder / "Boats.md").write_text("The boats of the city by the Douro, see [[波尔图]].")
    bring_in(folder / "Porto.md")

    bring_in(folder / "Boats.md")

    assert between(memory, "Boats", "Porto") == {("related", "[[波尔图]]", "user")}


def test_a_link_finds_the_latest_note_that_has_its_title_and_came_from_no_file(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    memory.add("A river.", metadata={"title": "Douro"}, time="2026-01-01")
    memory.add("The river of Porto.", metadata={"title": "Douro"}, time="2026-03-01")
    memory.add("What the river was.", metadata={"title": "Douro"}, time="2026-02-01")
    (folder / "Boats.md").write_text("The boats lie in the [[Douro]] and [[nowhere]].")

    bring_in(folder)

    boats = next(note for note in memory.list() if note.metadata["title"] == "Boats")
    found = {link.reason: link.target for link in memory.links(boats.id) if link.made_by == "user"}
    assert {reason: memory.read(id).content for reason, id in found.items()} == {"[[Douro]]": "The river of Porto."}


def test_a_link_that_the_file_no_longer_has_goes_and_one_made_by_hand_stays(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    (folder / "Gaia.md").write_text("The other bank.")
    bring_in(folder)
    memory.link(ids(memory)["Boats"], ids(memory)["Gaia"], "caused_by", "said so")
    (folder / "Boats.md").write_text("The boats of the city.")

    bring_in(folder)

    assert not between(memory, "Boats", "Porto") & THEIRS
    assert ("caused_by", "said so", "user") in between(memory, "Boats", "Gaia")


def test_a_link_to_a_heading_leads_to_the_piece_under_it(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    sections = [f"## {name}\n\n" + f"{name} is on the hill above the river. " * 30 for name in ("Ribeira", "Foz", "Sé")]
    (folder / "Porto.md").write_text("\n\n".join(sections) + "\n\nBack to [[#Foz]].")
    (folder / "Boats.md").write_text("The boats are at [[Porto#Foz]].")

    bring_in(folder)

    (foz,) = [note.id for note in memory.list() if note.metadata["file"]["heading"] == "Foz"]
    (last,) = [note.id for note in memory.list() if note.metadata["file"]["heading"] == "Sé"]
    assert ("[[Porto#Foz]]", "user") in {
        (link.reason, link.made_by) for link in memory.links(ids(memory)["Boats"]) if link.target == foz
    }
    assert "[[#Foz]]" in {link.reason for link in memory.links(last) if link.target == foz}
    assert memory.count(Filter(part_of=ids(memory)["Porto"])) == 2


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("[[Notes]]", "关于 Reading/Notes.md"),
        ("[[Projects/Notes]]", "关于 Projects/Notes.md"),
        ("[plan](../Projects/Notes.md)", "关于 Projects/Notes.md"),
        ("[own](Notes.md)", "关于 Reading/Notes.md"),
    ],
)
def test_of_two_files_of_one_name_a_link_means_the_one_beside_it_unless_it_names_a_folder(
    memory: AgenticMemorySystem, bring_in: Import, tmp_path: Path, link: str, target: str
) -> None:
    for name in ("Projects/Notes.md", "Reading/Notes.md"):
        path = tmp_path / "vault" / name
        path.parent.mkdir(parents=True)
        path.write_text(f"关于 {name}", encoding="utf-8")
    (tmp_path / "vault" / "Reading" / "List.md").write_text(f"See {link}.")
    bring_in(tmp_path / "vault")
    (source,) = (note.id for note in memory.list() if "See " in note.content)
    linked = {link.target for link in memory.links(source) if link.made_by.startswith("user")}
    contents = {note.id: note.content for note in memory.list()}
    assert [contents[each].splitlines()[-1] for each in linked] == [target]
