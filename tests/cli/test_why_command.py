"""``amem why``: one note in full, all answers side by side, the same search as ``amem search``."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from rich.console import Console
from sitting import Sitting

from amem.cli.render import Page, cell_width
from amem.cli.search import draw_comparison, draw_explanation
from amem.note import Kind, MemoryNote
from amem.retrieval.explanation import Explanation, KeptOut, LegShare, Lent, Prior, Via
from amem.retrieval.question import Intent, Period, Reading

if TYPE_CHECKING:
    from conftest import Cli

CONTENT = "We met on Monday. The invoices database moved from MySQL to PostgreSQL, 因为发票太多。 Then we had lunch."
NOTE = MemoryNote(CONTENT, id="note-1", kind=Kind.DECISION, tags=["db"], at=datetime(2026, 3, 1, 9, tzinfo=UTC))
READING = Reading(
    "Why did the invoices move last week?",
    (Intent.CAUSAL, Intent.TEMPORAL),
    "did the invoices move?",
    ("Why", "last week"),
    speaker="ana",
    period=Period("last week", datetime(2026, 2, 23, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)),
)
WORDS = LegShare("lexical", 2, 7.5, 0.4 * 0.6, ("invoices", "move"), 0.6, 0.4, (Lent("note-0", -1, ("week",)),))
MEANING = LegShare("dense", 1, 0.71, 0.4 * 0.5, (), 0.5, 0.4)
SILENT = LegShare("facts", None, 0.0, 0.0, (), 0.0, 0.2)
VIA = (Via("note-2", "supports", 1, "both are about the database"),)
WHY = Explanation(
    id="note-1",
    score=0.49,
    relevance=0.49,
    prior=Prior(1.0, 1.0, 0.95),
    legs=(MEANING, WORDS, SILENT),
    link_share=0.05,
    via=VIA,
    place=2,
    reading=READING,
    fusion="convex",
    notes=("not reranked: it took too long",),
    among=40,
    content=CONTENT,
)
OUT = Explanation(
    id="note-1",
    score=0.0,
    relevance=0.0,
    prior=Prior(1.0, 1.0, 0.95),
    legs=(LegShare("dense", None, 0.71, 0.0, (), 0.5, 0.4),),
    kept_out=KeptOut("superseded", "it was superseded by note-9", ("note-9",), ("statuses",)),
    content=CONTENT,
)


def drawn(width: int, *explanations: Explanation, others: dict[str, str] | None = None, catalog: str = "") -> list[str]:
    """What is printed: one explanation in full, or several side by side."""
    out = Console(file=io.StringIO(), width=width, highlight=False, force_terminal=False)
    if len(explanations) == 1:
        draw_explanation(Page(out), explanations[0], NOTE, UTC, others or {}, catalog)
    else:
        draw_comparison(Page(out), explanations, {"note-1": NOTE}, UTC, {"note-1": catalog} if catalog else {})
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().splitlines()


def words(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


@pytest.mark.parametrize("catalog", ["team", "团队"])
def test_a_terminal_shows_the_catalog_of_a_note(catalog: str) -> None:
    for explanations in ((WHY,), (WHY, WHY)):
        assert catalog not in words(drawn(80, *explanations))
        assert f" {catalog} " in words(drawn(80, *explanations, catalog=catalog))


def test_one_note_is_a_sum_of_what_each_leg_gave() -> None:
    lines = drawn(80, WHY, others={"note-0": "It was a long week. Nothing else."})
    told = words(lines)
    assert told.startswith("A question of cause and of time; looked for “did the invoices move?”, without “Why”")
    assert "preferring what ana said; of 2026-02-23 to 2026-03-01 (“last week”)." in told
    assert "note-1 2026-03-01 decision #db" in told
    assert "… The invoices database moved from MySQL to PostgreSQL, 因为发票太多。 …" in told
    assert "meaning 1st 0.50 × 0.40 = 0.200" in told
    assert "words 2nd 0.60 × 0.40 = 0.240" in told
    assert "the turn before: It was a long week." in told
    assert "facts · nothing" in told
    assert "linked from note-2 (supports: both are about the database)" in told
    assert "0.490 × freshness 1.000 = 0.490, 2nd of 40" in told
    assert told.endswith("Not reranked: it took too long.")


def test_a_note_that_was_kept_out_says_by_what_and_what_each_leg_thinks_of_it() -> None:
    told = words(drawn(80, OUT, others={"note-9": "The invoices are on SQLite now."}))
    assert "It was superseded by note-9. note-9: The invoices are on SQLite now." in told
    assert "meaning 0.50 × 0.40 = 0.200" in told
    assert "freshness" not in told


def test_side_by_side_each_row_adds_up_to_its_score() -> None:
    lines = drawn(80, WHY, WHY)
    (head,) = (place for place, line in enumerate(lines) if line.split()[:1] == ["score"])
    assert lines[head].split() == ["score", "words", "meaning", "links"]
    assert lines[head + 1].split() == ["2", "note-1", "0.490", "0.240", "0.200", "0.050"]
    told = words(lines)
    assert "“week” from the turn before." in told
    # What is remarked of all answers is remarked once.
    assert told.count("Not reranked: it took too long.") == 1


@pytest.mark.parametrize("width", [32, 40, 50, 64, 72, 100, 160])
def test_no_line_is_wider_than_the_terminal_and_no_row_loses_a_share(width: int) -> None:
    for shown in ((WHY,), (OUT,), (WHY, WHY)):
        lines = drawn(width, *shown, others={"note-0": "It was a long week. " * 9, "note-9": "后来的决定。" * 30})
        assert max(map(cell_width, lines)) <= width
    row = next(line.split() for line in drawn(width, WHY, WHY) if line.split()[:1] == ["2"])
    shares = [float(cell) for cell in row[1:] if cell.startswith("0.")]
    assert sum(shares[1:]) == pytest.approx(shares[0], abs=0.002)


def test_why_explains_the_search_that_the_same_options_make(demo: Cli) -> None:
    options = ("-k", "3", "--kind", "decision", "--no-links", "--min-score", "0.1", "--as-of", "2026-08-01")
    hits = demo.json("-c", "demo", "search", "why PostgreSQL?", "--no-touch", *options)
    why = demo.json("-c", "demo", "why", "why PostgreSQL?", *options)
    assert hits
    # The scores differ in a far digit, as all is forgotten a little between the two.
    assert [(hit["id"], hit["explanation"]["words"]) for hit in hits] == [(each["id"], each["words"]) for each in why]
    assert why[0].keys() == {"content", *hits[0]["explanation"]}
    (one,) = demo.json("-c", "demo", "why", "why PostgreSQL?", hits[0]["id"][:8], *options)
    assert (one["place"], one["kept_out"]) == (1, None)
    assert one["score"] == pytest.approx(hits[0]["score"])
    parts = sum(leg["share"] for leg in one["legs"]) + one["link_share"]
    assert parts == pytest.approx(one["score"], abs=1e-6)


def test_a_note_that_is_deleted_or_filtered_out_is_explained_too(cli: Cli) -> None:
    id = cli.add("Tea at five.", "--tag", "tea")
    (filtered,) = cli.json("why", "tea", id, "--tag", "food", "--user", "ana")
    assert filtered["kept_out"] == {
        "reason": "filtered",
        "detail": "it does not carry #food; it has no user_id, and ana was asked for",
        "by": [],
        "conditions": ["tags", "user_id"],
    }
    cli.ok("delete", id)
    (gone,) = cli.json("why", "tea", id)
    assert gone["kept_out"]["reason"] == "deleted"
    assert gone["content"] == "Tea at five."


def test_notes_are_filtered_by_whose_they_are_their_memory_and_standing(cli: Cli) -> None:
    mine = cli.add("Tea at five.", "--meta", "user_id=ana", "--meta", "session_id=7")
    theirs = cli.add("Tea at six.", "--meta", "user_id=bo", "--meta", "agent_id=planner")
    assert [note["id"] for note in cli.json("list", "--user", "ana", "--session", "7")] == [mine]
    assert [hit["id"] for hit in cli.json("search", "tea", "--agent-id", "planner", "--layer", "short_term")] == [
        theirs
    ]
    assert cli.json("search", "tea", "--layer", "long_term") == []
    cli.ok("delete", mine)
    assert [note["id"] for note in cli.json("list", "--status", "deleted")] == [mine]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--layer", "middle"), "layers: there is no layer 'middle' (the layers are short_term, long_term)"),
        (("--status", "gone"), "statuses: there is no status 'gone'"),
        (("--user", " "), "user_id must not be empty"),
        (("--min-cosine", "7"), "minimum_cosine must be a number from -1 to 1, not 7.0"),
        (("--min-cosine", "nan"), "minimum_cosine must be a number"),
        (("--min-score", "-1"), "minimum_score must be a number from 0 to 1, not -1.0"),
        (("--since", "2026-03-02", "--until", "2026-03-01"), "since (2026-03-02"),
    ],
)
def test_what_cannot_be_filtered_by_is_named(cli: Cli, words: tuple[str, ...], line: str) -> None:
    cli.add("Tea at five.")
    for command in (("search", "tea"), ("why", "tea")):
        assert cli.refused(*command, *words).startswith(line)


def test_in_a_terminal_the_answers_come_with_what_to_type_next(cli: Cli) -> None:
    cli.add("The invoices moved to PostgreSQL.")
    with Sitting("--home", str(cli.home), "why", "where did the invoices move?", env=cli.env, columns=60) as sitting:
        sitting.end()
        assert "The invoices moved to PostgreSQL." in sitting.screen
        assert "one of them in full:" in sitting.screen
        assert "\x1b[1;33minvoices" in sitting.raw


def test_in_a_terminal_a_search_shows_the_sentence_that_matched_and_marks_its_words(cli: Cli) -> None:
    rest = "It rained all day long, and nobody went out of the house at all, not even the dog. " * 4
    cli.add(f"# Journal\n\n{rest}\n\nThe invoices moved to PostgreSQL. {rest}")
    cli.add(f"今天{'没什么事' * 60}。\n\n芝麻换了处方粮。")
    for question, marked, plain in (
        ("where did the invoices move?", "\x1b[1;33minvoices", "Journal  … "),
        ("芝麻吃什么粮", "\x1b[1;33m芝麻", "换了处方粮。"),
    ):
        with Sitting("--home", str(cli.home), "search", question, "-k", "1", env=cli.env) as sitting:
            sitting.end()
            assert marked in sitting.raw
            assert plain in sitting.screen
    piped = cli.ok("search", "where did the invoices move?", "-k", "1")
    assert "\x1b" not in piped
    assert "# Journal It rained" in piped
