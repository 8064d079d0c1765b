"""Each command does what its help says, in plain text and in JSON."""

from __future__ import annotations

import json
import os
import stat
import sys
from typing import TYPE_CHECKING

import pytest
from typer.main import get_command

from amem.cli.app import app

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

# fmt: off
RECEIPT = {
    "id", "status", "enrichment", "analyst", "operation", "links", "evolved", "queued", "superseded", "superseded_by",
    "conflicts", "astray", "dropped",
    "error", "cost",
}
# fmt: on
HIT = {"id", "content", "score", "matched_by", "via", "sources", "context", "keywords", "tags", "timestamp", "category"}


# -- writing ---------------------------------------------------------------------------------------------------


def test_add_prints_the_receipt_as_json(cli: Cli) -> None:
    first = cli.json("add", "Ana moved from Porto to Lisbon in May 2026.", "--time", "2026-05-02")
    second = cli.json("add", "Ana works at the tile museum in Lisbon.")

    assert set(first) == RECEIPT
    assert (first["status"], first["enrichment"], first["analyst"]) == ("stored", "done", "offline")
    assert second["links"][0]["target"] == first["id"]
    assert "Ana" in second["links"][0]["reason"]


def test_add_in_a_pipe_prints_the_id_alone(cli: Cli) -> None:
    id = cli.ok("add", "Tea at five.").strip()
    assert cli.json("show", id)["content"] == "Tea at five."


def test_add_takes_the_fields_it_is_given(cli: Cli) -> None:
    options = ("--tag", "tea", "--tag", "habits", "--kind", "preference", "--category", "home", "--speaker", "Ana")
    more = ("--keyword", "five o'clock", "--importance", "0.9", "--meta", "cups=2", "--meta", "where=kitchen")
    id = cli.add("Tea at five.", *options, *more, "--time", "202605011700", "--context", "What Ana drinks.")

    note = cli.json("show", id)
    assert (note["tags"], note["kind"], note["category"]) == (["tea", "habits"], "preference", "home")
    assert (note["speaker"], note["keywords"], note["importance"]) == ("Ana", ["five o'clock"], 0.9)
    assert note["metadata"] == {"cups": 2, "where": "kitchen"}
    assert (note["timestamp"], note["at"]) == ("202605011700", "2026-05-01T17:00:00+00:00")
    assert note["context"] == "What Ana drinks."


def test_add_reads_standard_input_of_several_lines(cli: Cli) -> None:
    id = cli.json("add", "-", input="第一行\n第二行\n")["id"]
    assert cli.json("show", id)["content"] == "第一行\n第二行"


def test_the_same_text_again_is_the_same_note(cli: Cli) -> None:
    id = cli.add("Tea at five.")
    again = cli.json("add", "tea  at five.")
    assert (again["status"], again["id"]) == ("duplicate", id)


def test_edit_sets_fields_and_what_is_not_named_stays(cli: Cli) -> None:
    id = cli.add("Tea at five.", "--tag", "tea", "--meta", "cups=2")
    assert cli.json("edit", id[:8], "--add-tag", "habits", "--remove-tag", "TEA", "--meta", "milk=true") == {
        "changed": [id]
    }

    note = cli.json("show", id)
    assert (note["content"], note["tags"]) == ("Tea at five.", ["habits"])
    assert note["metadata"] == {"cups": 2, "milk": True}
    assert cli.json("edit", id, "--tag", "habits") == {"changed": []}


def editor(tmp_path: Path, code: str) -> str:
    script = tmp_path / "editor.py"
    script.write_text(f"import sys\npath = sys.argv[1]\ntext = open(path, encoding='utf-8').read()\n{code}\n")
    return f"{sys.executable} {script}"


WRITE = "open(path, 'w', encoding='utf-8').write({})"


def test_edit_adds_to_the_end_of_a_note(cli: Cli) -> None:
    id = cli.add("To pack: 护照。")
    cli.ok("edit", id, "--append", "And the tickets.")
    cli.ok("edit", id, "--append", "-", input="还有充电器。\n")
    assert cli.json("show", id)["content"] == "To pack: 护照。\nAnd the tickets.\n还有充电器。"
    assert "exclude each other" in cli.refused("edit", id, "--append", "x", "--content", "y", code=2)


def test_edit_opens_the_editor_on_the_text(cli: Cli, tmp_path: Path) -> None:
    id = cli.add("Tea at five.")
    command = editor(tmp_path, WRITE.format("text.replace('five', 'six，加糖') + '\\n'"))

    cli.ok("edit", id, EDITOR=command)

    assert cli.json("show", id)["content"] == "Tea at six，加糖."


def test_leaving_the_editor_without_a_change_changes_nothing(cli: Cli, tmp_path: Path) -> None:
    id = cli.add("Tea at five.")
    assert cli("edit", id, VISUAL=editor(tmp_path, "pass")).stderr == "nothing changed\n"
    assert cli.json("show", id)["version"] == 1


def test_what_was_typed_is_kept_when_it_cannot_be_saved(cli: Cli, tmp_path: Path) -> None:
    id = cli.add("Tea at five.")
    command = editor(tmp_path, WRITE.format("'long ' * 100"))

    line = cli.refused("edit", id, EDITOR=command, AMEM_MAX_NOTE_CHARS="100")

    kept = line.rsplit("your text is in ", 1)[1].rstrip(")")
    with open(kept) as stream:
        assert stream.read() == "long " * 100
    os.unlink(kept)


def test_an_editor_that_fails_changes_nothing(cli: Cli, tmp_path: Path) -> None:
    id = cli.add("Tea at five.")
    assert "ended with code 3" in cli.refused("edit", id, EDITOR=editor(tmp_path, "sys.exit(3)"))
    assert "cannot start the editor" in cli.refused("edit", id, EDITOR="/no/such/editor")
    assert cli.json("show", id)["content"] == "Tea at five."


def test_delete_says_how_to_undo_and_undo_does(cli: Cli) -> None:
    id = cli.add("Tea at five.")
    result = cli("delete", id)
    assert result.stdout == f"deleted {id[:8]}\n"
    assert result.stderr == f"undo with: amem --home {cli.home} undo\n"
    assert cli.json("list") == []
    assert [note["id"] for note in cli.json("list", "--deleted")] == [id]

    assert cli.ok("undo") == "undone: deletion of “Tea at five.” (1 note restored)\n"
    assert [note["id"] for note in cli.json("list")] == [id]
    assert cli.ok("redo") == "redone: deletion of “Tea at five.” (1 note removed)\n"
    assert cli.ok("restore", id) == f"restored {id[:8]}\n"


def test_delete_by_what_notes_have_in_common_is_previewed_confirmed_and_undone_as_one(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = [cli.add(text, "--tag", "shed", "--time", "2025-02-01") for text in ("The shed leaks.", "工具房漏水。")]
    new = cli.add("The shed is dry.", "--tag", "shed", "--time", "2026-03-01")
    asked = ("delete", "--tag", "shed", "--before", "2026-01-01")

    preview = cli(*asked, "--dry-run")
    assert sorted(line.split("\t")[0] for line in preview.stdout.splitlines()) == sorted(id[:8] for id in old)
    assert preview.stderr == "2 notes would be deleted; nothing was\n"
    assert sorted(cli.json(*asked, "--dry-run")["would_delete"]) == sorted(old)
    refused = cli(*asked)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "The shed leaks." in refused.stderr
    assert "nobody can be asked (give --yes)" in refused.stderr
    with monkeypatch.context() as patch:
        patch.setattr("amem.cli.command.at_terminal", lambda: True)
        assert "Delete 2 notes?" in cli(*asked, input="n\n").stderr
        assert len(cli.json("list", "--tag", "shed")) == 3
        assert cli(*asked, input="y\n").exit_code == 0
    assert [note["id"] for note in cli.json("list")] == [new]
    assert "2 notes restored" in cli.ok("undo")

    assert sorted(cli.json(*asked, "--yes")["deleted"]) == sorted(old)
    assert cli("delete", "--tag", "roof", "--yes").stderr == "no notes match these filters\n"
    for words in ((), (new, "--tag", "shed")):
        assert "by their ids, or by options such as --tag" in cli.refused("delete", *words, code=2)


def test_several_notes_named_by_their_ids_are_deleted_in_one_operation(cli: Cli) -> None:
    ids = [cli.add("Tea at five."), cli.add("五点喝茶。")]
    assert cli.json("delete", *ids) == {"deleted": ids}
    assert "2 notes restored" in cli.ok("undo")
    assert len(cli.json("list")) == 2


def test_an_undo_tells_what_is_gone_again_from_what_is_as_before(cli: Cli) -> None:
    from amem import AgenticMemorySystem, load_settings
    from amem.analysis import Analysis, Evolution, Rewrite
    from amem.testing import ScriptedAnalyst

    old = cli.add("Wen is allergic to shrimp.")
    settings = load_settings(cli.home, cache=cli.env["AMEM_CACHE"])
    rewrite = Evolution(rewrites=(Rewrite("n1", None, ("allergy",), "x", 0.95),))
    analyst = ScriptedAnalyst(Analysis(context="c"), [rewrite, *[Evolution()] * 9])
    with AgenticMemorySystem(settings=settings, analyst=analyst) as memory:
        assert [each.id for each in memory.add("Wen eats no shrimp, 温不吃虾。").evolved] == [old]

    added = "addition of “Wen eats no shrimp, 温不吃虾。”"
    assert cli.ok("undo") == f"undone: {added} (1 note removed; tags restored)\n"
    assert cli.json("log")[0]["summary"] == f"undid {added} (1 note removed; tags restored)"
    assert cli.ok("redo") == f"redone: {added} (1 note restored; tags changed again)\n"


def test_undoing_an_import_counts_its_notes(cli: Cli) -> None:
    cli.ok("import", "-", "--format", "jsonl", input='{"content": "Wen paints boats."}\n{"content": "温画船。"}\n')

    notes = "2 notes: “Wen paints boats.”, “温画船。”"
    assert cli.ok("undo") == f"undone: import of {notes} (2 notes removed)\n"
    assert cli.ok("redo") == f"redone: import of {notes} (2 notes restored)\n"
    assert [each["summary"].split()[0] for each in cli.json("log")] == ["redid", "undid", "wrote"]


def test_a_card_is_written_for_people(cli: Cli) -> None:
    about = {"participants": ["Ana", "温"], "messages": 2, "whole": True}
    line = {"content": "Wen paints boats, 温画船。", "metadata": {"episode": about}}
    cli.ok("import", "-", "--format", "jsonl", input=json.dumps(line))
    (note,) = cli.json("list")
    assert "episode: participants: Ana, 温; messages: 2; whole: yes\n" in cli.ok("show", note["id"])


def test_a_source_in_a_chat_names_the_chat_once() -> None:
    from amem.cli.render import origin_of
    from amem.note import Source

    chat = "3f2b1c9e-1111-4222-8333-444455556666"
    message = Source("s", "message", chat, f"{chat}:2:user", "Ana", None, "I paint boats.", 2)
    assert origin_of(message) == "3f2b1c9e 2:user, Ana"


def test_purge_destroys_for_good(cli: Cli) -> None:
    id = cli.add("Tea at five.")
    result = cli("purge", id)
    assert result.exit_code == 1
    assert result.stderr.endswith("error: purging 1 note cannot be undone (give --yes if you mean it)\n")
    assert cli.json("purge", id, "--yes") == {
        "purged": [id],
        "operation": 2,
        "rewritten": [],
        "stands_again": [],
        "removed": {"versions": 1},
        "left": [],
        "owed": "",
    }
    assert cli.json("list", "--deleted") == []
    cli.refused("show", id)
    cli.refused("restore", id)
    refused = cli("undo")
    assert refused.exit_code == 1
    assert "operation 2 (purge) cannot be undone; nothing was taken back" in refused.stderr


def test_purge_destroys_what_notes_have_in_common_with_those_that_were_deleted(cli: Cli) -> None:
    kept = cli.add("The kettle is green.")
    first, second = cli.add("Ana paints boats.", "--tag", "ana"), cli.add("安娜画船。", "--tag", "ana")
    cli.ok("delete", first)
    assert [note["id"] for note in cli.json("list", "--deleted", "--tag", "ANA")] == [first]
    refused = cli("purge", "--tag", "ana", "--all")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "Ana paints boats." in refused.stderr
    assert "purging 2 notes cannot be undone (give --yes if you mean it)" in refused.stderr
    assert sorted(cli.json("purge", "--tag", "ana", "--all", "--yes")["purged"]) == sorted([first, second])
    assert [note["id"] for note in cli.json("list", "--all")] == [kept]
    assert "no notes match these filters" in cli.refused("purge", "--tag", "ana", "--yes")
    assert "by their ids, or by options such as --tag" in cli.refused("purge", "--yes", code=2)


def test_the_log_names_a_purged_note_by_its_id_and_the_others_as_rewritten(cli: Cli) -> None:
    kept, gone = cli.add("The bike lock code is 4711."), cli.add("The bike lock code was 4711 last year.")
    cli.add("Grandma's birthday is on 12 May.")
    rewritten = cli.json("purge", gone, "--yes")["rewritten"]

    purged, *_ = [each for each in cli.json("log") if each["action"] == "purge"]

    said = f"purged: 1 destroyed for good ({gone[:8]})"
    assert purged["summary"].startswith(said)
    assert kept not in rewritten
    assert "bike" not in purged["summary"]
    assert ("rewritten without it" in purged["summary"]) == bool(purged["changed"])
    assert cli.json("show", kept)["content"] == "The bike lock code is 4711."
    assert said in cli.ok("log")


def test_a_purge_names_what_stays_and_fails_while_files_hold_the_text(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    from amem.errors import StorageFull
    from amem.storage.store import Store

    gone, kept = cli.add("Tea at five with Wen."), cli.add("Ask. Tea at five with Wen. Or not.")

    def full(_: Store) -> None:
        raise StorageFull("the disk is full", hint="free some space")

    with monkeypatch.context() as short:
        short.setattr(Store, "shrink", full)
        result = cli("purge", gone, "--yes")
    assert result.exit_code == 1
    assert result.stdout == f"purged {gone[:8]}\n"
    assert f"stays: {kept[:8]} says the same in its own words (its text)" in result.stderr
    assert "files still hold their text: the disk is full" in result.stderr
    assert "finish it with: " in result.stderr
    assert [each["level"] for each in cli.json("doctor") if each["about"] == "purge"] == ["warning"]
    cli.json("maintain")
    assert [each for each in cli.json("doctor") if each["about"] == "purge"] == []


def test_pin_and_unpin(cli: Cli) -> None:
    id = cli.add("Tea at five.")
    cli.ok("pin", id)
    assert cli.json("show", id)["pinned"] is True
    cli.ok("pin", id, "--off")
    assert cli.json("show", id)["pinned"] is False


def test_links_are_made_shown_and_taken_away(cli: Cli) -> None:
    tea, milk = cli.add("Tea at five."), cli.add("The milk is in the blue fridge upstairs.")
    made = cli.json("link", tea, milk, "--type", "supports", "--reason", "goes with it")
    assert (made["source"], made["target"], made["type"], made["reason"]) == (tea, milk, "supports", "goes with it")
    assert (made["made_by"], made["confidence"]) == ("user", 1.0)

    assert cli.json("link", milk)["links_in"] == [made]
    assert f"→\tsupports\t{milk[:8]}" in cli.ok("link", tea)
    assert made in cli.json("show", tea)["links_out"]

    again = ("link", tea, milk, "--type", "supports")
    assert cli.refused(*again) == (
        f"{tea[:8]} is linked to {milk[:8]} as supports already (another --reason changes why)"
    )
    cli.ok(*again, "--reason", "冰箱在楼上")
    assert [each["reason"] for each in cli.json("link", tea)["links_out"]] == ["冰箱在楼上"]
    ends = "“Tea at five.” → “The milk is in the blue fridge upstairs.”"
    assert cli.ok("undo") == f"undone: link {ends} (reason restored)\n"
    assert cli.json("link", tea)["links_out"] == [made]

    assert cli.ok(*again, "--remove") == f"unlinked {tea[:8]} supports {milk[:8]}\n"
    assert cli.json("link", tea)["links_out"] == []
    assert cli.ok("undo") == f"undone: removal of the link {ends} (1 link restored)\n"
    cli.ok(*again, "--remove")
    assert "has no link supports" in cli.refused("link", tea, milk, "--type", "supports", "--remove")


# -- finding ---------------------------------------------------------------------------------------------------


def test_search_prints_hits_with_their_reasons_and_sources(demo: Cli) -> None:
    hits = demo.json("-c", "demo", "search", "How do I retrain Dawnchorus?", "-k", "10")

    assert len(hits) == 10
    assert all(set(hit) >= HIT for hit in hits)
    assert hits[0]["content"].startswith("How to retrain Dawnchorus")
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    assert set(hits[0]["sources"][0]) == {"conversation", "ref", "speaker", "at"}
    assert hits[0]["sources"][0]["ref"] == "year.jsonl:38"


def test_search_in_a_pipe_is_a_line_for_each_hit(demo: Cli) -> None:
    lines = demo.ok("-c", "demo", "search", "芝麻", "吃什么", "-k", "3").splitlines()
    assert len(lines) == 3
    assert all(len(line.split("\t")) == 6 for line in lines)


def test_filters_leave_out_what_does_not_pass(demo: Cli) -> None:
    def found(*words: str) -> list[dict[str, object]]:
        return list(demo.json("-c", "demo", "search", "Dawnchorus", "-k", "50", *words))

    assert {hit["kind"] for hit in found("--kind", "procedure")} == {"procedure"}
    assert all("birds" in hit["tags"] for hit in found("--tag", "birds"))
    assert all(str(hit["timestamp"]) >= "2026-06" for hit in found("--since", "2026-06-01"))
    assert all(str(hit["timestamp"]) < "2026-06" for hit in found("--until", "2026-06-01"))
    assert not any(hit["is_neighbor"] for hit in found("--no-links"))
    assert found("--tag", "no-such-tag") == []
    assert {note["kind"] for note in demo.json("-c", "demo", "list", "--kind", "decision")} == {"decision"}


def test_list_pages_and_orders(demo: Cli) -> None:
    first, second = (demo.json("-c", "demo", "list", "--all", "-n", "40", "--offset", start) for start in ("0", "40"))
    assert len(first) + len(second) == len({note["id"] for note in first + second}) == 63
    times = [note["at"] for note in first + second]
    assert times == sorted(times, reverse=True)
    weights = [note["importance"] for note in demo.json("-c", "demo", "list", "--order", "importance")]
    assert weights == sorted(weights, reverse=True)


def test_why_explains_one_note_or_every_hit(demo: Cli) -> None:
    every = demo.json("-c", "demo", "why", "Who is Inês?", "-k", "4")
    assert [each["place"] for each in every] == [1, 2, 3, 4]
    assert all(each["words"] and each["legs"] and each["content"] for each in every)

    outsider = demo.json("-c", "demo", "list", "--tag", "coffee")[0]["id"]
    (one,) = demo.json("-c", "demo", "why", "芝麻的体重", outsider[:8])
    assert one["id"] == outsider
    assert one["kept_out"] is None or one["kept_out"]["detail"]


def test_searching_counts_as_use_unless_told_otherwise(cli: Cli) -> None:
    id = cli.add("Tea at five.")
    cli.ok("search", "tea", "--no-touch")
    cli.ok("why", "tea")
    assert cli.json("show", id)["retrieval_count"] == 0
    cli.ok("search", "tea")
    assert cli.json("show", id)["retrieval_count"] == 1


def test_show_in_a_pipe_is_plain_text(cli: Cli) -> None:
    id = cli.add("Tea at five.", "--tag", "tea")
    lines = cli.ok("show", id).splitlines()
    assert f"id: {id}" in lines
    assert "tags: tea" in lines
    assert "Tea at five." in lines
    assert [note["id"] for note in cli.json("show", id, id[:6])] == [id]


# -- trust -----------------------------------------------------------------------------------------------------


def test_a_search_is_not_padded_with_notes_that_have_nothing_to_do_with_it(cli: Cli) -> None:
    tiles = cli.add("Ana paints blue tiles.")
    cli.add("The night train to Lviv leaves at ten.")
    every = cli.json("search", "tiles", "--min-score", "0")
    assert [each["score"] < 0.005 for each in every] == [False, True]
    assert [each["id"] for each in cli.json("search", "tiles")] == [tiles]
    assert [each["id"] for each in cli.json("why", "tiles")] == [tiles]
    assert "0.000" not in cli.ok("search", "tiles")


def test_answers_are_spread_over_days_on_request(cli: Cli) -> None:
    for day, text in (
        ("03", "We painted the boat blue."),
        ("03", "The boat has a new anchor."),
        ("07", "The boat leaks."),
    ):
        cli.ok("add", text, "--time", f"2026-01-{day}")
    assert [each["group"]["title"] for each in cli.json("search", "boat", "--group-by", "session")] in (
        ["2026-01-03", "2026-01-03", "2026-01-07"],
        ["2026-01-07", "2026-01-03", "2026-01-03"],
    )
    rows = [line.split("\t") for line in cli.ok("search", "boat", "--group-by", "session").splitlines()]
    assert sorted(row[-1] for row in rows) == ["2026-01-03", "2026-01-03", "2026-01-07"]
    assert all("group" not in each for each in cli.json("search", "boat"))
    assert "the groupings are session, topic" in cli.refused("search", "boat", "--group-by", "week")


def test_the_log_tells_what_was_written_linked_and_rewritten(cli: Cli) -> None:
    first = cli.add("Ana moved from Porto to Lisbon in May 2026.")
    second = cli.add("Ana works at the tile museum in Lisbon.")
    cli.ok("delete", second)
    cli.ok("undo")

    log = cli.json("log")

    assert [each["action"] for each in log] == ["undo", "delete", "add", "add"]
    assert [each["undone"] for each in log] == [False, True, False, False]
    assert log[2]["created"] == [second]
    (child,) = log[2]["children"]
    assert (child["parent"], child["actor"], child["links"]) == (log[2]["id"], "offline", 1)
    assert log[3]["summary"] == "wrote “Ana moved from Porto to Lisbon in May 2…”"
    assert log[3]["created"] == [first]
    assert cli.json("log", "--since", "2100-01-01") == []
    assert [each["id"] for each in cli.json("log", "--limit", "1")] == [log[0]["id"]]
    assert cli.json("log", "--actor", "nobody") == []


def test_the_log_names_the_notes_that_a_second_import_hid_changed_and_brought_back(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    texts = {"boat": "The boat is moored at pier seven.", "bread": "Feed the starter.", "茶": "下午五点喝茶。"}
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    cli.ok("import", str(folder))
    (folder / "boat.md").unlink()
    (folder / "茶.md").write_text("下午六点喝茶。", encoding="utf-8")
    cli.ok("import", str(folder))
    assert cli.json("log")[0]["summary"] == f"hid “boat”; updated “茶” (import of {folder})"
    (folder / "boat.md").write_text(texts["boat"], encoding="utf-8")
    cli.ok("import", str(folder))
    assert cli.json("log")[0]["summary"] == f"brought back “boat” (import of {folder})"


def test_the_log_calls_a_note_that_was_edited_since_by_what_it_was_written_with(cli: Cli) -> None:
    id = cli.add("Dana plays the cello.")
    cli.ok("edit", id, "--content", "Dana plays the viola.")

    told = cli.ok("log").splitlines()

    assert any("wrote “Dana plays the cello.”" in line for line in told)
    assert any("edited “Dana plays the viola.”" in line for line in told)


def test_a_backup_counts_the_notes_that_a_restored_one_has(cli: Cli, tmp_path: Path) -> None:
    cli.add("Tea at five.")
    cli.ok("delete", cli.add("Coffee at ten."), "--yes")

    made = cli.json("backup", str(tmp_path / "b.amem"))

    assert made["notes"] == 1
    assert cli.json("backup", "--restore", str(tmp_path / "b.amem"), "--force")["notes"] == 1


def test_the_log_in_a_pipe_is_a_line_for_each_operation(cli: Cli) -> None:
    cli.add("Tea at five.")
    ((number, parent, _, actor, did, state, summary),) = (line.split("\t") for line in cli.ok("log").splitlines())
    assert (number, parent, actor, did, state, summary) == ("1", "", "user", "wrote", "", "wrote “Tea at five.”")


def test_the_log_folds_what_an_import_set_off_and_counts_it(cli: Cli) -> None:
    lines = "".join(f'{{"content": "The roof of shed {number} leaks at bay {number}."}}\n' for number in range(9))
    cli.ok("import", "-", "--format", "jsonl", input=lines)
    folded, every = cli("log"), cli("log", "--all")
    steps = len(every.stdout.splitlines()) - 1
    assert steps > 3
    assert folded.stdout.splitlines() == every.stdout.splitlines()[:4]
    assert f"{steps - 3} further steps left out (--all shows them)" in folded.stderr
    assert "left out" not in every.stderr
    assert len(cli.json("log")[0]["children"]) == steps
    rows = [line.split("\t") for line in every.stdout.splitlines()]
    assert {row[4] for row in rows if row[6].startswith("linked") and "rewrote" not in row[6]} == {"linked"}


def test_what_holds_no_word_finds_nothing_and_is_told_when_it_is_kept(cli: Cli) -> None:
    cli.add("Tea at five.")
    cli.add("五点喝茶。")
    for question in ("*", "()", "？？？"):
        result = cli("search", question)
        assert result.stdout == ""
        assert result.stderr.startswith("nothing found, as the question holds no word; ")
    assert "it holds no word by which it would be found" in cli("add", "?").stderr
    assert "no word" not in cli("add", "茶").stderr


def test_on_a_screen_the_log_says_first_what_was_undone(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.add(f"The shed leaks{' and leaks' * 30}.")
    cli.ok("undo")
    monkeypatch.setattr("amem.cli.history.on_terminal", lambda: True)
    monkeypatch.setattr("amem.cli.render.on_terminal", lambda: True)
    assert "(undone) wrote “The shed leaks" in cli.ok("log")


def test_an_operation_is_undone_by_its_number(cli: Cli) -> None:
    first, second = cli.add("Tea at five."), cli.add("The blue fridge is upstairs.")
    report = cli.json("undo", "1")
    assert report["undone"] == 1
    assert {each["note"] for each in report["reverted"]} == {first}
    assert [note["id"] for note in cli.json("list")] == [second]
    assert "undone already" in cli.refused("undo", "1")


def test_what_undo_leaves_alone_is_said(cli: Cli) -> None:
    id = cli.add("Tea at five.")
    cli.ok("edit", id, "--tag", "tea")
    cli.ok("edit", id, "--tag", "habits")
    result = cli("undo", "2")
    assert "left alone: tags of “Tea at five.”, changed since by operation 3" in result.stderr
    assert cli.json("show", id)["tags"] == ["habits"]


def test_history_and_rollback(cli: Cli) -> None:
    id = cli.add("Tea at five.")
    cli.ok("edit", id, "--content", "Coffee with Tom at six.")
    versions = cli.json("history", id)
    assert [each["action"] for each in versions] == ["add", "update", "enrich"]
    assert versions[1]["changes"]["content"] == {"before": "Tea at five.", "after": "Coffee with Tom at six."}
    assert versions[1]["actor"] == "user"

    cli.ok("history", id, "--rollback", "1")
    assert cli.json("show", id)["content"] == "Tea at five."
    assert len(cli.ok("history", id).splitlines()) == 4


def test_history_in_a_pipe_says_in_words_what_each_version_changed_and_why(cli: Cli) -> None:
    id = cli.add("Ana lives in Porto.")
    cli.ok("edit", id, "--content", "Ana lives in Lisbon.", "--tag", "home", "--tag", "家")
    cli.ok("undo")
    other = cli.add("Ana lives in Faro since 2030.")
    cli.ok("supersede", id, other)
    lines = [line.split("\t") for line in cli.ok("history", id).splitlines()]

    assert [(number, actor, did) for number, _, actor, did, *_ in lines][:2] == [
        ("1", "user", "wrote"),
        ("2", "user", "edited"),
    ]
    assert lines[0][4:] == ["", ""]
    assert "content: “Porto” became “Lisbon”" in lines[1][4]
    assert "added “home”, “家”" in lines[1][4]
    (undone,) = (line for line in lines if line[3] == "undid")
    assert "content: “Lisbon” became “Porto”" in undone[4]
    assert undone[5].startswith("edited: changed content, tags (operation 2)")
    (superseded,) = (line for line in lines if line[3] == "superseded")
    assert "status: “active” became “superseded”" in superseded[4]
    assert not {"add", "update", "evolve", "enrich", "supersede"} & {line[3] for line in lines}


def test_at_a_terminal_history_names_the_notes_that_a_cause_means(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amem.cli.command.on_terminal", lambda: True)
    id = cli.add("Tea at five.")
    cli.ok("edit", id, "--content", "Tea at six.")
    cli.ok("undo")
    shown = cli.ok("history", id)
    assert "      - Tea at five.\n      + Tea at six.\n" in shown
    assert "    edited: changed content" in shown
    assert "(operation 2)" in shown


def test_another_text_is_analysed_again_so_that_the_old_one_no_longer_answers(cli: Cli) -> None:
    id = cli.add("Rosa keeps her bike in the cellar.")
    cli.ok("edit", id, "--content", "Tom bought a red kettle for tea.")
    note = cli.json("show", id)
    assert "cellar" not in [*note["keywords"], *note["tags"]]
    assert "kettle" in " ".join(note["keywords"])
    assert [hit["matched_by"] for hit in cli.json("search", "cellar")] == [["dense"]]
    cli.ok("undo")
    assert "cellar" in cli.json("show", id)["keywords"]


@pytest.fixture
def waiting(cli: Cli) -> Cli:
    """A collection in which a rewrite of a note waits for a person's decision."""
    first = cli.add("Ana moved from Porto to Lisbon in May 2026.")
    cli.ok("edit", first, "--context", "Where Ana lives.")
    cli.add("Ana works at the tile museum in Lisbon.")
    assert len(cli.json("review")) == 1
    return cli


def test_reviews_are_listed_accepted_and_rejected(waiting: Cli) -> None:
    (review,) = waiting.json("review", "list")
    assert review["state"] == "open"
    assert review["changes"]["context"]["before"] == "Where Ana lives."
    assert str(review["id"]) in waiting.ok("review")

    waiting.ok("review", "accept", str(review["id"]))
    assert waiting.json("show", review["note"])["context"] == review["changes"]["context"]["after"]
    assert waiting.json("review") == []
    waiting.ok("undo")
    assert waiting.json("review", "reject", str(review["id"])) == {"rejected": [review["id"]]}
    assert waiting.json("show", review["note"])["context"] == "Where Ana lives."


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("a\n", "accepted 1, rejected 0, left 0"),
        ("r\n", "accepted 0, rejected 1, left 0"),
        ("what\ns\n", "accepted 0, rejected 0, left 1"),
        ("A\n", "accepted 1, rejected 0, left 0"),
        ("q\n", "accepted 0, rejected 0, left 1"),
    ],
)
def test_reviews_can_be_gone_through_one_by_one(waiting: Cli, typed: str, said: str) -> None:
    assert waiting.ok("review", "--interactive", input=typed).splitlines()[-1] == said


# -- in and out ------------------------------------------------------------------------------------------------


def test_import_reports_and_export_reads_back(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Porto.md").write_text("The city by the Douro where Ana was born.")
    (folder / "Ana.md").write_text("Ana bakes. Born in [[Porto]].")
    report = cli.json("import", str(folder))
    assert (report["imported"], report["duplicates"], report["skipped"], report["problems"]) == (2, 0, 0, [])
    assert cli.ok("import", str(folder)) == "files: 2 unchanged\n"

    path = tmp_path / "export.jsonl"
    assert cli.json("export", str(path)) == {"exported": 2, "path": str(path)}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "is there already" in cli.refused("export", str(path))
    cli.ok("export", str(path), "--force")
    written = [json.loads(line)["id"] for line in path.read_text().splitlines()]
    assert [json.loads(line)["id"] for line in cli.ok("export").splitlines()] == written

    assert cli.json("-c", "other", "import", str(path))["imported"] == 2
    assert {note["id"] for note in cli.json("-c", "other", "list")} == {note["id"] for note in cli.json("list")}
    assert all("versions" in json.loads(line) for line in cli.ok("export", "--versions").splitlines())


def test_import_reads_standard_input_in_the_named_format(cli: Cli) -> None:
    report = cli.json("import", "-", "--format", "text", input='{"content": "looks like JSON"}\n\nTea at five.\n')
    assert report["imported"] == 2
    assert {note["content"] for note in cli.json("list")} == {'{"content": "looks like JSON"}', "Tea at five."}


def test_text_that_is_too_long_for_a_note_is_split_by_import(cli: Cli) -> None:
    report = cli.json("import", "-", input="A sentence about tea. " * 20, AMEM_MAX_NOTE_CHARS="100")
    assert report["imported"] >= 4
    assert all(len(note["content"]) <= 100 for note in cli.json("list"))


# -- looking after ---------------------------------------------------------------------------------------------


def test_tags_are_listed_renamed_and_merged(cli: Cli) -> None:
    first, second = cli.add("Tea at five.", "--tag", "tea"), cli.add("茶在五点。", "--tag", "茶", "--tag", "chai")
    assert cli.json("tags") == cli.json("tags", "list")
    assert {each["tag"]: each["notes"] for each in cli.json("tags")}.items() >= {"tea": 1, "茶": 1}.items()

    assert cli.json("tags", "rename", "tea", "drinks") == {"from": ["tea"], "to": "drinks", "notes": 1}
    assert cli.json("tags", "merge", "茶", "chai", "--into", "drinks")["to"] == "drinks"
    assert cli.json("show", first)["tags"] == cli.json("show", second)["tags"] == ["drinks"]


def test_copy_and_collections(cli: Cli) -> None:
    id = cli.add("Tea at five.")
    assert cli.ok("copy", "backup").strip() == str(cli.home / "backup")
    cli.ok("delete", id)
    assert [(each["name"], each["notes"]) for each in cli.json("collections")] == [("backup", 1), ("memories", 0)]
    assert cli.json("-c", "backup", "show", id)["content"] == "Tea at five."


def test_a_backup_is_made_and_restored_with_the_commands_that_are_told(cli: Cli, tmp_path: Path) -> None:
    id = cli.add("Tea at five.")
    file = tmp_path / "kept.db"
    assert cli.ok("backup", str(file)).strip() == str(file)
    assert cli.refused("backup", str(file)) == f"{file} is there already (--force replaces it)"
    assert cli.json("backup", str(file), "--force")["notes"] == 1
    cli.ok("delete", id)

    taken = cli("backup", "--restore", str(file))
    assert taken.exit_code == 1
    assert "give --force: " in taken.stderr
    assert "=True" not in taken.stderr
    restored = cli.json("backup", "--restore", "--force", str(file))

    assert cli.json("show", id)["content"] == "Tea at five."
    (before,) = restored["kept"]
    assert {each["name"]: each["notes"] for each in cli.json("collections")} == {"memories": 1, before: 0}
    cli.ok("-c", "third", "backup", "--restore", str(file))
    assert cli.json("-c", "third", "show", id)["content"] == "Tea at five."


def test_doctor_enrich_and_reindex(cli: Cli) -> None:
    cli.add("Tea at five.")
    found = cli.json("doctor")
    assert {each["level"] for each in found} == {"ok"}
    assert [each["what"] for each in found if each["about"] == "index"] == ["1 vector; a search compares them all"]
    assert cli.json("enrich") == {"done": 0, "failed": 0, "remaining": 0, "errors": []}
    assert cli.json("reindex") == {"notes": 1, "model": "all-MiniLM-L6-v2"}
    assert len(cli.json("search", "tea")) == 1
    assert cli.ok("doctor", "--repair").splitlines()[0].startswith("ok\tdatabase\t")


def test_config_tells_where_each_value_came_from_and_no_secret(cli: Cli, tmp_path: Path) -> None:
    cli.home.mkdir()
    (cli.home / "config.toml").write_text("neighbours = 7\nbatch_size = 8\n")
    (cli.home / ".env").write_text("AMEM_BATCH_SIZE=16\nAMEM_API_KEY=sk-secret\n")
    settings = {each["name"]: (each["value"], each["from"]) for each in cli.json("config", AMEM_RRF_K="50")}

    assert settings["home"] == (str(cli.home), "argument")
    assert settings["rrf_k"] == (50.0, "environment")
    assert settings["batch_size"] == (16, str(cli.home / ".env"))
    assert settings["neighbours"] == (7, str(cli.home / "config.toml"))
    assert settings["candidates"] == (80, "default")
    assert settings["api_key"] == ("********", str(cli.home / ".env"))
    assert "sk-secret" not in cli.ok("config")

    other = tmp_path / "other.env"
    other.write_text("AMEM_BATCH_SIZE=32\n")
    assert cli.json("--env-file", str(other), "config", "batch_size") == [
        {"name": "batch_size", "value": 32, "from": str(other)}
    ]


def test_path_and_setup(cli: Cli) -> None:
    assert cli.ok("path", "-c", "work") == f"{cli.home / 'work'}\n"
    ready = cli.json("setup")
    assert ready["embedding"]["ready"] is True
    assert ready["analyst"] == "offline"
    assert cli.json("path") == {"home": str(cli.home), "collection": "memories", "path": str(cli.home / "memories")}


# -- global options --------------------------------------------------------------------------------------------


def test_global_options_may_stand_after_the_command(cli: Cli) -> None:
    cli.ok("add", "Tea at five.", "-c", "work")
    assert len(cli.json("list", "--collection=work")) == 1
    assert cli.refused("-c", "memories", "list").startswith("there is no collection")


def test_after_two_dashes_words_are_words(cli: Cli) -> None:
    id = cli.ok("add", "--", "-c is an option").strip()
    assert cli.json("show", id)["content"] == "-c is an option"


def test_version_and_help(cli: Cli) -> None:
    from amem import __version__

    assert cli.ok("--version") == f"amem {__version__}\n"
    for words in ((), ("--help",), ("-h",)):
        assert "A memory that agents write and people can read" in cli.ok(*words)
    for command in ("add", "search", "review", "tags", "import"):
        assert "--json" in cli.ok(command, "--help")


def test_help_names_every_option_in_full_in_a_terminal_of_80_columns(cli: Cli) -> None:
    for command in get_command(app).list_commands(None):
        assert "…" not in cli.ok(command, "--help", COLUMNS="80"), command
    cli.add("Tea at five.")
    assert cli.json("search", "tea", "--minimum-confidence=1") == cli.json("search", "tea", "--min-confidence", "1")


def test_the_log_calls_a_note_by_its_title_without_marks(cli: Cli):
    note = cli.add("# Kestrel Freight\n\n## Contacts\n\n- Ana answers the phone.")
    cli.ok("edit", note, "--add-tag", "freight")
    said = cli.ok("log")
    assert "“Kestrel Freight”" in said
    assert "##" not in said
    assert "# Kestrel Freight ## Contacts" in cli.ok("list")
