"""``amem diff``, ``merge`` and ``collections``: what they tell a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Cli


def test_conflicts_that_wait_are_told_until_they_are_decided(cli: Cli) -> None:
    id = cli.add("The tea is in the box.")
    cli.ok("fork", "draft")
    cli.ok("edit", id, "--content", "The tea is in the tin.")
    cli.ok("-c", "draft", "edit", id, "--content", "The tea is in the jar.")

    merged = cli("merge", "draft")
    first, line = merged.stdout.splitlines()
    assert first == "nothing but 1 conflict"
    assert "content: The tea is in the tin. | The tea is in the jar." in line
    assert "facts" not in line
    for words in (("merge", "draft", "--strategy", "theirs"), ("merge", "draft", "--dry-run"), ("diff", "draft")):
        assert "1 conflict of a merge waits for you" in cli(*words).stderr
    cli.ok("review", "accept", "1")
    assert "waits" not in cli("diff", "draft").stderr


def test_a_dry_run_names_the_notes_and_a_merge_what_both_sides_added(cli: Cli) -> None:
    cli.add("The heron stands in the pond.")
    cli.ok("fork", "draft")
    cli.add("茶在柜子里。")
    cli.ok("-c", "draft", "add", "茶在柜子里。")
    cli.ok("-c", "draft", "add", "Deploys go out on Fridays.")
    tried = cli("merge", "draft", "--dry-run")
    assert "added" in tried.stdout
    assert "Deploys go out on Fridays." in tried.stdout
    for told in (tried, cli("merge", "draft")):
        (line,) = [line for line in told.stderr.splitlines() if "both sides added it" in line]
        assert "茶在柜子里。" in line


def test_what_is_done_with_a_collection_is_said(cli: Cli) -> None:
    cli.add("Tea at five.")
    cli.ok("fork", "draft")
    assert "draft is called d2 now" in cli("collections", "rename", "draft", "d2").stderr
    archived = cli("collections", "archive", "d2")
    assert archived.stdout.strip() == str(cli.home / ".archive" / "d2")
    assert f"amem --home {cli.home} collections unarchive d2" in archived.stderr
    assert cli.refused("-c", "d2", "list").startswith("the collection 'd2' is archived (amem collections unarchive d2")
    assert cli.refused("diff", "d2").startswith("the collection 'd2' is archived")
    assert "in the list again" in cli("collections", "unarchive", "d2").stderr
    cli.ok("collections", "rename", "memories", "diary")
    assert {each["name"]: each["origin"] for each in cli.json("collections")} == {"d2": "diary", "diary": None}
    assert "purged: d2" in cli("collections", "purge", "d2", "--yes").stderr


def test_the_only_collection_archived_is_said_to_be_archived(cli: Cli) -> None:
    cli.add("Tea at five.")
    cli.ok("collections", "archive", "memories")
    assert cli.refused("list").startswith("the collection 'memories' is archived")
