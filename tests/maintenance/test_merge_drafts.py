"""A model words the notes that rules merge: over the wire, held against the parts, and only a proposal in doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from amem.maintenance.merge_drafts import DRAFTED_BY, MOST_CALLS, unfaithful
from amem.note import MemoryNote, Status
from amem.settings import load_settings
from amem.storage.jobs import MERGING
from amem.testing import FakeOllama, Fault

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.maintenance.phase import MaintenanceReport
    from amem.protocols import Embedder
    from tests.conftest import Open

HOURS = ("The office closes at 6 pm on Fridays", "On Fridays the office closes at 6 pm")
TEA = ("我喜欢喝龙井茶", "我爱喝龙井茶")
SEATS = ("I like window seats on trains", "I really like window seats on trains")
BITTEN = ("The cat bit the dog", "The cat really bit the dog")
DENTIST = ("My dentist is Dr. Alvarez", "My dentist is Dr. Alvarez, who is kind")


def draft(text: str, quote: str, **fields: str) -> dict[str, str]:
    given = {"quote": quote, "reason": "one thing", "verdict": "same", "confidence": "sure", "merged": text}
    return given | fields


@pytest.fixture
def run(open_memory: Open, home: Path, minilm: Embedder) -> Callable[..., tuple[Any, ...]]:
    """Store notes by the rules, then maintain with a model that answers as told; returns memory, report and prompts."""

    def run(texts: tuple[str, ...], answers: Any) -> tuple[AgenticMemorySystem, MaintenanceReport, list[str]]:
        with open_memory(embedder=minilm, llm_backend="offline", analyst=None) as writing:
            for text in texts:
                writing.add_note(text)
        with FakeOllama(answers) as ollama:
            settings = load_settings(
                home, llm_backend="ollama", llm_model="llama3.2", ollama_host=ollama.host, llm_retries=0
            )
            memory = open_memory(settings=settings, embedder=minilm, analyst=None)
            report = memory.maintain()
            prompts = [str(request) for path, request in ollama.requests if path in ("/api/chat", "/api/generate")]
        return memory, report, prompts

    return run


def merged_note(memory: AgenticMemorySystem) -> MemoryNote:
    (note,) = [each for each in memory.list() if "consolidated" in each.tags]
    return note


def why(report: MaintenanceReport, what: str = "merged") -> set[str]:
    return {reason.why for reason in report.reasons if reason.what == what}


@pytest.mark.parametrize(
    ("texts", "text", "quote"),
    [(HOURS, "The office closes on Fridays at 6 pm.", "the office closes"), (TEA, "我喜欢喝龙井茶。", "龙井茶")],
)
def test_a_good_draft_is_the_merged_text_and_one_undo_restores_both(run: Any, texts: Any, text: str, quote: str):
    memory, report, prompts = run(texts, draft(text, quote))
    assert report.consolidated == 2
    note = merged_note(memory)
    assert note.content == text
    assert note.metadata[DRAFTED_BY].startswith("ollama/llama3.2 (merge")
    assert why(report) == {"says the same as 1 other note; text drafted by ollama/llama3.2"}
    assert len(prompts) == 1
    assert all(part in prompts[0] for part in texts)
    with memory.parts.store.read() as session:
        (cost,) = [each for each in session.costs.report() if each.purpose == MERGING]
    assert (cost.times, cost.calls) == (1, 1)
    assert cost.tokens_in > 0
    assert memory.undo(report.operation).kept == ()
    assert {each.content for each in memory.list()} == set(texts)
    assert {each.status for each in memory.list()} == {Status.ACTIVE}


@pytest.mark.parametrize(
    ("texts", "answer", "because"),
    [
        (HOURS, draft("The office closes at 7 pm on Fridays", "the office closes"), "changes a time"),
        (HOURS, draft("The office never closes at 6 pm on Fridays", "the office closes"), "changes what is denied"),
        (HOURS, draft("The office and the pool close at 6 pm on Fridays", "the office closes"), "adds 'pool'"),
        (HOURS, draft("办公室周五下午六点关门", "the office closes"), "in another language"),
        (HOURS, draft("", "the office closes"), "is empty"),
        (HOURS, draft("The office closes at 6 pm on Fridays", "the pool closes"), "not sure"),
        (HOURS, draft("", "the office closes", verdict="different"), "they differ: one thing"),
        (HOURS, "I would rather chat.", "outside its schema"),
        (TEA, draft("我不喜欢喝龙井茶", "龙井茶"), "changes what is denied"),
        (TEA, draft("我喜欢喝乌龙茶", "龙井茶"), "its draft adds '乌'"),
        (SEATS, draft("I like trains on window seats", "window seats"), "states that user likes trains"),
        (BITTEN, draft("The dog bit the cat", "bit the"), "does not say what they do"),
        (TEA, draft("龙井茶喜欢喝我", "龙井茶"), "does not say what they do"),
        (TEA, [Fault.ERROR], "could not answer with llama3.2"),
    ],
)
def test_a_draft_that_lies_and_a_model_that_fails_leave_the_text_of_the_rules(
    run: Any, texts: Any, answer: Any, because
):
    memory, report, _ = run(texts, answer)
    assert report.consolidated == 2
    note = merged_note(memory)
    assert note.content in texts
    assert DRAFTED_BY not in note.metadata
    (reason,) = why(report)
    assert reason.startswith("says the same as 1 other note; text by the rules: ")
    assert because in reason
    memory.undo(report.operation)
    assert {each.content for each in memory.list()} == set(texts)


def test_in_doubt_a_sure_draft_goes_with_the_proposal_and_waits_for_a_person(run: Any):
    text = "My dentist Dr. Alvarez is kind"
    memory, report, _ = run(DENTIST, draft(text, "Dr. Alvarez"))
    assert (report.consolidated, report.merges_proposed) == (0, 1)
    (item,) = memory.reviews()
    assert f"the model: one thing; its draft for both: {text}" in item.reason
    assert {each.content for each in memory.list()} == set(DENTIST)
    assert "with a draft" in next(iter(why(report, "review")))


def test_a_model_that_is_sure_of_a_difference_withdraws_the_proposal(run: Any):
    memory, report, _ = run(DENTIST, draft("", "who is kind", verdict="different", reason="one praises"))
    assert (report.consolidated, report.merges_proposed, memory.reviews()) == (0, 0, [])
    (reason,) = why(report, "apart")
    assert reason.endswith("they differ, says the model: one praises")


@pytest.mark.parametrize("answer", [draft("", "no such words", verdict="different"), [Fault.ERROR]])
def test_a_difference_without_a_quote_and_a_model_that_is_down_leave_the_proposal(run: Any, answer: Any):
    memory, report, _ = run(DENTIST, answer)
    assert report.merges_proposed == 1
    (item,) = memory.reviews()
    assert "the model" not in item.reason
    assert "no draft: " in next(iter(why(report, "review")))


def test_a_run_asks_so_many_times_and_no_more(run: Any):
    places = ("Lisbon", "Porto", "Faro", "Braga", "Evora", "Coimbra", "Aveiro", "Viseu", "Leiria", "Sintra")
    texts = [text.replace("office", f"{place} office") for place in places for text in HOURS]
    _, report, prompts = run(tuple(texts), draft("", "office closes"))
    assert report.consolidated == 2 * len(places)
    assert len(prompts) == MOST_CALLS
    assert sum(f"at most {MOST_CALLS} times" in reason.why for reason in report.reasons) == 2 * (
        len(places) - MOST_CALLS
    )


@pytest.mark.parametrize(
    ("text", "parts", "wrong"),
    [
        ("Bea manages Ana", ("Ana manages Bea", "Ana really manages Bea"), "the order of names"),
        ("His dentist is kind", ("Her dentist is kind", "Her dentist is really kind"), "whose"),
        ("My dentist is kind", ("My dentist is kind", "My dentist is kind and young"), "loses"),
        ("小李管小张", ("小张管小李", "小张管小李的"), "the order of names"),
        ("我不吃鱼，喝酒", ("我吃鱼，不喝酒", "我吃鱼，不喝酒的"), "what is denied"),
    ],
)
def test_a_text_is_held_against_the_names_words_and_denials_of_its_parts(text: str, parts: Any, wrong: str):
    names = [name for name in ("Ana", "Bea", "小李", "小张") if name in parts[0]]
    found = unfaithful(text, [MemoryNote(part, entities=names) for part in parts])
    assert wrong in found
