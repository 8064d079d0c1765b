"""Files, names and folders that are out to harm, or merely odd."""

from __future__ import annotations

import os
import unicodedata
from typing import TYPE_CHECKING

import pytest

from amem.errors import InvalidInput
from amem.vault.names import folded, safe_name

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Desk


def problems(desk: Desk) -> dict[str, str]:
    return {step.path: step.more for step in desk.sync().problems}


ODD = [
    "CON",
    "con.aux",
    "LPT1: printer",
    ".",
    "..",
    "../../etc/passwd",
    "/etc/passwd",
    r"C:\Windows\system32",
    "...hidden",
    "ends with dots...",
    "ends with a space ",
    "a <b> \"c\" |d| ?e? *f*",
    "[[wiki]] #tag ^block",
    "🎉 party 👨‍👩‍👧",
    "x" * 300,
    "汉" * 300,
    "\u202etxt.exe",
    "\x1b[31mred",
    "tab\there",
    "é" * 90,
    "Straße", "STRASSE",
    unicodedata.normalize("NFC", "café"), unicodedata.normalize("NFD", "café"), "CAFÉ",
    "Same name", "same name", "SAME NAME",
    "---",
    "<!-- amem:links -->",
    "```python",
]  # fmt: skip


def test_any_title_makes_a_name_that_every_file_system_takes(desk: Desk) -> None:
    desk.memory.add_notes([{"content": f"{title}\n\nnumber {n}"} for n, title in enumerate(ODD)])
    desk.settled()
    files = desk.files()
    assert len(files) == len(ODD)
    assert len({folded(path) for path in files}) == len(ODD)
    for path in files:
        name = path.removesuffix(".md")
        assert "/" not in path
        assert len(path.encode()) <= 220
        assert name == name.strip(" .")
        assert not set(name) & set('<>:"/\\|?*#^[]\x1b\t\u202e')
        assert name.split(".")[0].upper() not in {"CON", "AUX", "LPT1"}
    assert {path.name for path in desk.folder.parent.iterdir()} == {"vault"}


@pytest.mark.parametrize("title", ODD)
def test_a_safe_name_is_safe_again(title: str) -> None:
    assert safe_name(safe_name(title)) == safe_name(title)


@pytest.mark.parametrize("content", [
    "---\ntitle: not mine\n---\ntext",
    "text\n\n<!-- amem:links -->\n## Links\n\n- supports [[x]]\n<!-- /amem:links -->",
    "text <!-- amem:links --> text\n<!-- /amem:links -->",
    "\n\nblank lines around\n\n\n",
    "trailing spaces   \n\ttab\n\\backslash",
    "carriage\r\nreturns\rand all\n",
    "~~~\n[[code]]\n~~~",
    "\u2028 odd \x0c lines \x85",
    "--- \n",
])  # fmt: skip
def test_any_text_goes_to_a_file_and_back_to_the_letter(desk: Desk, content: str) -> None:
    id = desk.memory.add(content).id
    desk.settled()
    (name,) = desk.files()
    desk.replace(name, "status: active\n", "mine: 1\nstatus: active\n")
    desk.settled()
    note = desk.memory.read(id)
    assert note is not None
    assert note.content == content


@pytest.mark.parametrize(
    ("front", "why"),
    [
        ("---\nid: x\ntags: [a\n---\n", "its tags cannot be read"),
        ("---\ntags: a\n", "does not end"),
        ("---\nno colon here\n---\n", "line 2 of its front matter"),
        ("---\ntags: a\ntags: b\n---\n", "says tags twice"),
        ('---\nkind: "fact\n---\n', "its kind cannot be read"),
        ("---\ntags: {a: b}\n---\n", "its tags cannot be read"),
        ("---\ncreated: |\n  2026\n---\n", "its created cannot be read"),
        (f"---\nid: {'x' * 300}\n---\n", "its id"),
        ("---\nid: \x1b[31mred\n---\n", "its id"),
        ("---\n" + "a: b\n" * 20_000, "does not end"),
    ],
)
def test_broken_front_matter_is_named_with_its_file_and_nothing_is_read(desk: Desk, front: str, why: str) -> None:
    desk.sync()
    desk.write("Broken.md", f"{front}Text.\n")
    found = problems(desk)
    assert list(found) == ["Broken.md"]
    assert why in found["Broken.md"]
    assert desk.memory.count() == 0
    assert desk.files()["Broken.md"] == f"{front}Text.\n"


def test_a_note_whose_file_is_broken_is_left_alone_until_it_is_mended(desk: Desk) -> None:
    id = desk.memory.add("The pool opens at six.", tags=["sport"]).id
    desk.settled()
    desk.replace("The pool opens at six.md", "  - sport", "  - sport\nhalf a li")
    desk.memory.update(id, content="The pool opens at seven.")
    broken = desk.files()
    assert "half a li" in problems(desk)["The pool opens at six.md"]
    assert desk.files() == broken

    desk.replace("The pool opens at six.md", "half a li", "half: a li")
    desk.settled()
    assert "seven" in desk.files()["The pool opens at six.md"]
    assert "half: a li\n" in desk.files()["The pool opens at six.md"]


def test_a_note_that_changed_while_its_file_was_broken_reaches_a_file_that_was_put_back(desk: Desk) -> None:
    id = desk.memory.add("The pool opens at six.").id
    desk.settled()
    good = (desk.folder / "The pool opens at six.md").read_bytes()
    desk.write("The pool opens at six.md", b"\xff\xfe\x00broken")
    desk.memory.update(id, content="The pool opens at seven.")
    assert problems(desk)
    assert problems(desk)
    desk.write("The pool opens at six.md", good)
    desk.settled()
    assert "seven" in desk.files()["The pool opens at six.md"]


def test_a_broken_file_that_was_renamed_deletes_no_note(desk: Desk) -> None:
    id = desk.memory.add("The pool opens at six.").id
    desk.settled()
    desk.replace("The pool opens at six.md", "status: active", "status active")
    (desk.folder / "The pool opens at six.md").rename(desk.folder / "Pool.md")
    assert list(problems(desk)) == ["Pool.md"]
    assert desk.memory.read(id) is not None


def test_what_is_no_text_file_is_named_and_nothing_waits_for_it(desk: Desk, tmp_path: Path) -> None:
    desk.sync()
    secret = tmp_path / "secret.md"
    secret.write_text("not for amem\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/more.md").write_text("nor this\n")
    (desk.folder / "link.md").symlink_to(secret)
    (desk.folder / "folder").symlink_to(tmp_path / "outside")
    os.mkfifo(desk.folder / "pipe.md")
    desk.write("utf16.md", "hello".encode("utf-16"))
    desk.write("latin.md", "caf\xe9".encode("latin-1"))
    desk.write("nul.md", b"a\x00b")
    desk.write("long.md", "word " * 10_000)
    with (desk.folder / "huge.md").open("wb") as file:
        file.truncate(65 << 20)
    desk.write("photo.png", b"\x89PNG")
    desk.write("empty.md", "\n\n")

    found = problems(desk)

    assert found["link.md"] == "it is a link that leads out of the folder"
    assert found["pipe.md"] == "it is not a regular file"
    assert "UTF-16" in found["utf16.md"]
    assert "not UTF-8" in found["latin.md"]
    assert "NUL" in found["nul.md"]
    assert "20,000" in found["long.md"]
    assert "64 MB" in found["huge.md"]
    assert found.keys() == {"link.md", "pipe.md", "utf16.md", "latin.md", "nul.md", "long.md", "huge.md"}
    assert desk.memory.count() == 0
    assert (desk.folder / "photo.png").read_bytes() == b"\x89PNG"


def test_nothing_is_written_through_a_folder_that_leads_elsewhere(desk: Desk, tmp_path: Path) -> None:
    id = desk.memory.add("The pool opens at six.").id
    desk.settled()
    (desk.folder / "sport").mkdir()
    (desk.folder / "The pool opens at six.md").rename(desk.folder / "sport/Pool.md")
    desk.settled()
    (desk.folder / "sport").rename(tmp_path / "sport")
    (desk.folder / "sport").symlink_to(tmp_path / "sport")
    before = (tmp_path / "sport/Pool.md").read_bytes()
    desk.memory.update(id, content="The pool opens at seven.")
    report = desk.sync()
    assert "leads out of the folder" in report.problems[0].more
    assert (tmp_path / "sport/Pool.md").read_bytes() == before


def test_names_that_differ_in_case_or_accents_only_are_told_apart(desk: Desk) -> None:
    desk.sync()
    names = ["Café.md", unicodedata.normalize("NFD", "Café.md"), "café.md"]
    for number, name in enumerate(names):
        desk.write(name, f"text {number}\n")
    desk.settled()
    assert sorted(desk.files()) == sorted(names)
    for number, name in enumerate(names):
        assert desk.content(name) == f"text {number}"
    desk.memory.add("Café")
    desk.settled()
    assert "Café 2.md" in desk.files()


def test_a_name_that_came_back_in_another_spelling_is_the_same_file(desk: Desk) -> None:
    id = desk.memory.add("Café opens").id
    desk.settled()
    (desk.folder / "Café opens.md").rename(desk.folder / unicodedata.normalize("NFD", "Café opens.md"))
    assert desk.sync().is_quiet
    assert desk.memory.read(id) is not None


def test_a_file_that_changes_during_a_sync_is_left_to_the_next(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    id = desk.memory.add("The pool opens at six.").id
    desk.settled()
    desk.memory.update(id, tags=["sport"])
    path = desk.folder / "The pool opens at six.md"

    from amem.vault import to_files

    rendered = to_files.rendered

    def meanwhile(*words: object) -> object:
        path.write_text(path.read_text().replace("six", "nine"))
        return rendered(*words)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(to_files, "rendered", meanwhile)
        assert "during the sync" in desk.sync().problems[0].more
    assert "nine" in path.read_text()
    desk.settled()
    note = desk.memory.read(id)
    assert note is not None
    assert (note.content, note.tags) == ("The pool opens at nine.", ["sport"])


def test_a_purged_notes_file_goes_with_the_next_sync_and_its_words_are_nowhere(desk: Desk) -> None:
    kept, gone = desk.memory.add("Kept as it is.").id, desk.memory.add("Shameful secret.").id
    desk.memory.link(kept, gone, "supports")
    edited = desk.memory.add("Another secret.").id
    desk.settled()
    desk.replace("Another secret.md", "Another", "Yet another")
    desk.memory.purge([gone, edited])
    with desk.memory.parts.store.read() as session:
        rows = session.rows("SELECT path, text, refs FROM vault_files")
    assert not any("secret" in str(row).casefold() for row in rows)

    report = desk.sync()

    assert list(desk.files()) == ["Another secret.md", "Kept as it is.md"]
    assert "amem:links" not in desk.files()["Kept as it is.md"]
    assert [(step.path, "purged" in step.more) for step in report.problems] == [("Another secret.md", True)]
    assert not list(desk.folder.rglob(".trash/*"))
    (desk.folder / "Another secret.md").unlink()
    assert not desk.settled().problems


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_file_in_place_of_the_folder_is_refused_in_words(desk: Desk, dry_run: bool) -> None:
    desk.folder.write_text("not a folder")
    with pytest.raises(InvalidInput, match="is not a folder"):
        desk.sync(dry_run=dry_run)
    with pytest.raises(InvalidInput, match="is not a folder"):
        desk.memory.vault(desk.folder).export()
    assert desk.folder.read_text() == "not a folder"
