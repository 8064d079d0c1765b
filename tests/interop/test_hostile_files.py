"""Folders and places in which somebody has put links, pipes and devices."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amem.collection_folders import folder_of
from amem.errors import AmemError, InvalidInput
from amem.interop import decoding
from amem.interop.exporting import write_lines
from amem.interop.transcripts import conversations_in

if TYPE_CHECKING:
    from conftest import Import

    from amem.memory_system import AgenticMemorySystem

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="links, pipes and devices are POSIX's"),
    pytest.mark.timeout(60),
]
SECRET = "root:x:0:0 what nobody meant to hand over"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "tea.md").write_text("Green tea at 80 degrees.")
    return folder


def refused(report: object) -> dict[str, str]:
    return {each.where: each.why for each in report.problems()}  # type: ignore[attr-defined]


def test_a_link_out_of_the_folder_is_named_and_not_followed(
    memory: AgenticMemorySystem, bring_in: Import, vault: Path, tmp_path: Path
) -> None:
    (tmp_path / "passwd").write_text(SECRET)
    (vault / "pw.md").symlink_to(tmp_path / "passwd")
    (vault / "up.md").symlink_to("../passwd")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "far.md").write_text(SECRET)
    (vault / "folder").symlink_to(tmp_path / "other")

    report = bring_in(vault)
    assert set(refused(report)) == {"pw.md", "up.md"}
    assert "out of the folder" in refused(report)["pw.md"]
    assert [note.content for note in memory.list()] == ["# tea\n\nGreen tea at 80 degrees."]


def test_a_link_within_the_folder_is_read(memory: AgenticMemorySystem, bring_in: Import, vault: Path) -> None:
    (vault / "also.md").symlink_to("tea.md")
    assert bring_in(vault).refused == 0
    assert memory.count() >= 1


def test_a_pipe_and_a_device_are_refused_at_once_and_the_rest_is_read(
    memory: AgenticMemorySystem, bring_in: Import, vault: Path
) -> None:
    os.mkfifo(vault / "pipe.md")
    (vault / "zero.md").symlink_to("/dev/zero")
    report = bring_in(vault)
    assert set(refused(report)) == {"pipe.md", "zero.md"}
    assert report.imported == 1


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/null", "pipe"])
def test_what_is_no_file_is_refused_when_it_is_named(bring_in: Import, tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="not a regular file"):
        bring_in(tmp_path / name)


def test_a_huge_file_is_refused_and_not_read_whole(
    bring_in: Import, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "WHOLE", 1 << 20)
    with (vault / "huge.md").open("wb") as stream:
        stream.truncate(3 << 20)
    report = bring_in(vault)
    assert "larger than 1 MB" in refused(report)["huge.md"]
    assert report.imported == 1


def test_a_link_planted_where_an_export_is_begun_leads_nowhere(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / ".out.jsonl.part").symlink_to(victim)
    write_lines(tmp_path / "out.jsonl", ["{}"])
    assert victim.read_text() == "mine"
    assert (tmp_path / "out.jsonl").read_text() == "{}\n"
    assert (tmp_path / "out.jsonl").stat().st_mode & 0o777 == 0o600


def test_an_export_replaces_no_link_device_pipe_or_folder(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "link").symlink_to(victim)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "link", tmp_path / "dangling", tmp_path / "pipe", tmp_path, Path("/dev/null")):
        with pytest.raises(InvalidInput, match="not a regular file"):
            write_lines(path, ["{}"])
    assert victim.read_text() == "mine"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["dangling", "link", "pipe", "victim"]


@pytest.mark.parametrize("name", ["..", "a/b", "", ".hidden", "config.toml", "Prompts", "茶" * 80, "a" * 300, "x\x00"])
def test_a_name_that_could_lead_elsewhere_names_no_collection(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot name a collection"):
        folder_of(tmp_path, name)


def test_chinese_names_of_a_reasonable_length_are_collections(tmp_path: Path) -> None:
    assert folder_of(tmp_path, "我的笔记").name == "我的笔记"


def test_a_pipe_in_the_place_of_the_database_is_refused(tmp_path: Path) -> None:
    from amem.memory_system import AgenticMemorySystem

    (tmp_path / "home" / "default").mkdir(parents=True)
    os.mkfifo(tmp_path / "home" / "default" / "amem.db")
    with pytest.raises(AmemError, match="not a regular file"):
        AgenticMemorySystem(directory=tmp_path / "home", collection="default", llm_backend="offline")


def test_an_archive_that_would_unpack_to_fill_the_memory_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "bomb.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file, file.open("conversations.json", "w") as inside:
        for _ in range(80):
            inside.write(b" " * 2**20)
    with pytest.raises(InvalidInput, match="would unpack to"), conversations_in(archive):
        pass
