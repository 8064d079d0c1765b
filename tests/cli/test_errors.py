"""Bad input gets one clear line and changes nothing."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from amem.cli.app import guarded
from amem.errors import StorageFull, StorageReadOnly
from amem.storage.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_note(cli: Cli, text: str) -> None:
    assert cli.refused("add", text) == "a note cannot be empty (give it some text)"
    assert not cli.home.exists()


def test_an_empty_note_from_standard_input(cli: Cli) -> None:
    assert cli.refused("add", "-", input="\n").startswith("a note cannot be empty")


def test_a_note_that_is_too_long(cli: Cli) -> None:
    line = cli.refused("add", "x" * 101, AMEM_MAX_NOTE_CHARS="100")
    assert line.startswith("the note has 101 characters; the limit is 100 (amem import splits long text")
    assert not cli.home.exists()


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--time", "soon"), "cannot read 'soon' as a time (use 2026-03-01"),
        (("--kind", "gossip"), "there is no kind 'gossip' (the kinds are episode, fact,"),
        (("--importance", "2"), "importance must be a number from 0 to 1, not 2.0"),
        (("--meta", "colour"), "cannot read 'colour' as metadata (write --meta key=value)"),
    ],
)
def test_a_field_that_cannot_be_used(cli: Cli, options: tuple[str, ...], line: str) -> None:
    assert cli.refused("add", "Tea at five.", *options).startswith(line)
    assert not cli.home.exists()


@pytest.mark.parametrize("command", ["show", "edit", "delete", "restore", "pin", "history", "link"])
def test_an_unknown_id(cli: Cli, command: str) -> None:
    cli.add("Tea at five.")
    before = cli.json("log")
    assert cli.refused(command, "zzzz") == "no note 'zzzz' (amem list shows the ids)"
    assert cli.json("log") == before


def test_one_unknown_id_among_several_changes_none(cli: Cli) -> None:
    id = cli.add("Tea at five.")
    cli.refused("delete", id, "zzzz")
    assert cli.json("show", id)["status"] == "active"


def test_an_ambiguous_prefix(cli: Cli) -> None:
    lines = '{"content": "Tea at five.", "id": "tea-1"}\n{"content": "No sugar.", "id": "tea-2"}\n'
    cli.ok("import", "-", input=lines)
    assert cli.refused("show", "tea") == "'tea' fits 2 notes: tea-1, tea-2 (give more characters)"


def test_a_deleted_id_says_how_to_bring_it_back(cli: Cli) -> None:
    id = cli.add("Tea at five.")
    cli.ok("delete", id)
    assert cli.refused("show", id).endswith("(it was deleted; amem restore brings it back)")


def test_a_file_that_is_not_there(cli: Cli, tmp_path: Path) -> None:
    line = cli.refused("import", str(tmp_path / "none.txt"))
    assert line == f"cannot read {tmp_path}/none.txt: No such file or directory (check the path and its permissions)"
    assert not cli.home.exists()


def test_a_file_that_is_not_utf8(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"fine\n\ncaf\xe9 au lait")
    line = cli.refused("import", str(tmp_path / "a.txt"))
    assert line == "a.txt is not UTF-8: byte 0xe9 at position 9 (convert it to UTF-8 first, for instance with iconv)"
    assert not cli.home.exists()


def test_standard_input_that_is_not_utf8(cli: Cli) -> None:
    assert cli.refused("add", "-", input=b"caf\xe9").startswith("standard input is not UTF-8: byte 0xe9 at position 3")
    assert cli.refused("import", "-", input=b"caf\xe9").startswith("stdin is not UTF-8: byte 0xe9 at position 3")


def test_an_argument_that_is_not_text(cli: Cli) -> None:
    assert cli.refused("add", "caf\udce9").startswith("content holds a NUL or half of a surrogate pair")


def test_malformed_lines_are_named_and_the_rest_is_imported(cli: Cli) -> None:
    result = cli("import", "-", input='{"content": "Tea at five."}\nnope\n{"content": ""}\n{"content": "No sugar."}\n')
    assert result.exit_code == 1
    assert result.stdout.startswith("imported 2 notes, skipped 2")
    assert "skipped line 2: not JSON" in result.stderr
    assert "skipped line 3: a note cannot be empty" in result.stderr
    assert len(cli.json("list")) == 2


def test_a_collection_that_is_not_there(cli: Cli) -> None:
    cli.add("Tea at five.")
    line = cli.refused("-c", "none", "list")
    assert line.startswith(f"there is no collection 'none' in {cli.home} (")


@pytest.mark.parametrize("name", ["../up", "a/b", ".hidden", ""])
def test_a_collection_name_that_leads_elsewhere(cli: Cli, name: str) -> None:
    assert "cannot name a collection" in cli.refused("--collection", name, "add", "Tea at five.")


def test_another_embedding_model(cli: Cli) -> None:
    cli.add("Tea at five.")
    line = cli.refused("search", "tea", AMEM_EMBED_MODEL="ollama/nomic-embed-text")
    assert "all-MiniLM-L6-v2" in line
    assert "nomic-embed-text" in line
    assert "amem reindex" in line


def test_a_model_server_that_does_not_answer_is_exit_3(cli: Cli) -> None:
    env = {"AMEM_EMBED_MODEL": "ollama/nomic-embed-text", "AMEM_OLLAMA_HOST": "http://127.0.0.1:9"}
    cli.add("Tea at five.")
    line = cli.refused("reindex", code=3, **env)
    assert "127.0.0.1:9" in line


def test_a_home_that_is_a_file(cli: Cli) -> None:
    cli.home.write_text("not a folder")
    assert cli.refused("add", "Tea at five.").startswith(f"cannot create {cli.home}/memories: Not a directory")


def test_a_collection_that_another_process_is_writing_to(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.add("Tea at five.")
    monkeypatch.setitem(Store.__init__.__kwdefaults__, "busy_seconds", 0.1)
    other = sqlite3.connect(cli.home / "memories" / "amem.db", isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        assert cli.refused("add", "No sugar.").endswith("another process is writing (try again in a moment)")
        assert len(cli.json("list")) == 1
    finally:
        other.close()


def test_a_collection_that_may_only_be_read(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    id = cli.add("Tea at five.")
    # As root, permissions forbid nothing: what the operating system says is put in its place.
    monkeypatch.setattr("amem.storage.database.os.access", lambda path, mode: False)
    assert "cannot be written to" in cli.refused("add", "No sugar.")
    assert "cannot be written to" in cli.refused("delete", id)
    assert [hit["id"] for hit in cli.json("search", "tea")] == [id]
    assert cli.json("show", id)["content"] == "Tea at five."


@pytest.mark.parametrize(
    "error", [StorageFull("no room in /x", hint="free some space"), StorageReadOnly("/x", hint="y")]
)
def test_storage_errors_are_one_line_with_a_hint(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise error

    assert guarded(fail, debug=False) == 1
    assert capsys.readouterr().err == f"error: {error} ({error.hint})\n"


def test_a_damaged_collection_says_so_and_doctor_names_it(cli: Cli) -> None:
    folder = cli.home / "memories"
    folder.mkdir(parents=True)
    (folder / "amem.db").write_bytes(b"this is no database " * 100)
    assert "is damaged" in cli.refused("list")
    result = cli("doctor")
    assert result.exit_code == 1
    assert "is damaged" in result.stdout
    assert "is damaged" in cli.json("collections")[0]["problem"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("frobnicate",), "no such command 'frobnicate' (amem --help says more)"),
        (("add",), "missing argument 'text' (amem add --help says more)"),
        (("-c", "add", "mcp", "--install"), "option '--install' requires an argument (amem mcp --help says more)"),
        (("tags", "merge", "--into"), "option '--into' requires an argument (amem tags merge --help says more)"),
        (("list", "--limit", "0"), "invalid value for '--limit' / '-n'"),
        (("show", "x", "--frob"), "no such option: --frob"),
        (("undo", "seven"), "invalid value for 'OP'"),
    ],
)
def test_wrong_usage_is_exit_2(cli: Cli, words: tuple[str, ...], line: str) -> None:
    assert cli.refused(*words, code=2).startswith(line)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("undo", "99"), "no operation 99 (amem log lists them)"),
        (("redo",), "there is nothing to redo"),
        (("review", "accept", "99"), "no review 99 (amem review lists what waits)"),
        (("tags", "rename", "none", "x"), "no note has the tag 'none' (amem tags lists them)"),
        (("log", "--since", "whenever"), "cannot read 'whenever' as a time (use 2026-03-01, 2026-03-01T09:30"),
        (("list", "--kind", "gossip"), "kinds: there is no kind 'gossip' (the kinds are"),
        (("list", "--order", "colour"), "cannot order by 'colour' (use one of time, recorded, importance, pinned)"),
        (("config", "colour"), "unknown setting 'colour' (amem config lists them all)"),
        (("import", "x", "--format", "docx"), "there is no format 'docx' (the formats are markdown, text, jsonl"),
        (("history", "ID", "--rollback", "7"), "note "),
        (("link", "ID", "ID"), "a note cannot be linked to itself"),
        (("link", "ID", "ID", "--type", "likes"), "there is no link type 'likes' (the types are related,"),
        (("copy", "memories"), "there is a collection 'memories' already"),
    ],
)
def test_what_cannot_be_done_says_what_can(cli: Cli, words: tuple[str, ...], line: str) -> None:
    id = cli.add("Tea at five.")
    assert cli.refused(*(id if word == "ID" else word for word in words)).startswith(line)


def test_a_setting_that_was_removed_is_accepted_in_the_file_with_what_replaces_it(cli: Cli) -> None:
    cli.home.mkdir()
    (cli.home / "config.toml").write_text("kind_weight = 0.5\n")
    done = cli("config", "get", "dense_weight")
    assert done.exit_code == 0
    assert "setting kind_weight was removed and does nothing: procedures are found by meaning and words" in done.stderr
    assert cli.refused("config", "set", "entity_weight", "1").startswith("setting entity_weight was removed: names")


def test_settings_that_cannot_be_used_are_named(cli: Cli) -> None:
    assert cli.refused("list", AMEM_BATCH_SIZE="0").startswith("setting batch_size: ")
    assert cli.refused("--env-file", "/none", "list").startswith("no env file at /none (")
    cli.home.mkdir()
    (cli.home / "config.toml").write_text('colour = "red"\n')
    assert cli.refused("list").startswith("unknown setting 'colour'")
    (cli.home / "config.toml").write_text("colour = \n")
    assert cli.refused("config").startswith(f"cannot read {cli.home}/config.toml")


def test_debug_adds_the_traceback(cli: Cli) -> None:
    result = cli("--debug", "show", "none")
    assert "Traceback" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("error: no notes yet")


def test_what_amem_did_not_foresee_is_one_line_too(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise RuntimeError("the sky\nfell")

    assert guarded(fail, debug=False) == 1
    assert capsys.readouterr().err == "error: unexpected RuntimeError: the sky fell (run it again with --debug)\n"


def test_control_characters_in_a_message_do_not_reach_the_terminal(cli: Cli) -> None:
    cli.add("Tea at five.")
    assert "\x1b" not in cli("show", "\x1b[31mred").stderr


def test_a_file_that_cannot_be_written_is_named_as_it_was_given(cli: Cli, tmp_path: Path) -> None:
    cli.add("Tea at five.")
    away = tmp_path / "away" / "notes"
    assert cli.refused("backup", str(away)) == (
        f"cannot write {away}: there is no folder {away.parent} (make it, or name another file)"
    )
    why = "No such file or directory (make its folder, or name another)"
    assert cli.refused("export", str(away)) == f"cannot use {away}: {why}"
    assert cli.refused("graph", "--html", str(away)) == f"cannot use {away}: {why}"
    assert cli("vault", "status", str(away)).stderr == ""


def test_a_file_that_is_no_backup_restores_nothing_and_is_named(cli: Cli, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("Tea at five, as every day of the week, and coffee at six. 下午五点喝茶。" * 40, encoding="utf-8")
    said = f"{words} is no backup of a collection (amem backup FILE writes them)"
    assert cli.refused("backup", str(words), "--restore") == said
    lacking = "(name a file that amem backup wrote)"
    assert cli.refused("backup", f"{tmp_path}/none", "--restore") == f"there is no file {tmp_path}/none {lacking}"


def test_what_a_command_could_not_do_names_the_note_the_person_or_the_number_that_is_wrong(cli: Cli) -> None:
    id = cli.add("Tea at five.")
    assert cli.refused("supersede", id, id).startswith(f"{id[:8]} cannot take its own place (name two notes")
    assert cli("log", "--actor", "nobody").stderr.startswith("nothing done by 'nobody' since yesterday")
    assert "it should be a whole number (amem undo --help says more)" in cli("undo", "last").stderr
    assert "it should be a number (amem work --help says more)" in cli("work", "--poll", "often").stderr


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--bogus", "no such option: --bogus (amem list --help says more)"),
        ("--limt", "no such option: --limt (Possible options: --limit) (amem list --help says more)"),
    ],
)
def test_only_an_option_that_may_have_been_meant_is_named(cli: Cli, typed: str, said: str) -> None:
    assert cli.refused("list", typed, code=2) == said


def test_a_time_to_come_is_said_with_the_note(cli: Cli) -> None:
    assert cli("add", "The lease ends.", "--time", "2130").stderr.splitlines()[0] == (
        "its time is still to come: 2130-01-01"
    )
    assert "still to come" not in cli("add", "The lease began.", "--time", "2020").stderr


def test_a_search_by_topic_says_that_there_is_none(cli: Cli) -> None:
    cli.add("Tea at five.")
    told = cli("search", "tea", "--group-by", "topic").stderr
    assert told.splitlines() == ["none of these is of a topic, so they are listed as without --group-by"]


def test_keeping_a_note_twice_is_one_step_of_the_log(cli: Cli) -> None:
    old, new = cli.add("The bridge is open."), cli.add("Rain is forecast for the bridge.")
    cli.ok("link", new, old, "--type", "contradicts")
    assert cli.json("keep", old)["kept"] == [old]
    before = cli.json("log")
    assert cli.json("keep", old)["kept"] == []
    assert cli.json("log") == before
