"""A user's own prompts and rules that cannot be used: the doctor, receipts and chats name them, and nothing crashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from _judging_model import judging_model

from amem import AgenticMemorySystem, load_settings
from amem.errors import InvalidInput
from amem.note import Enrichment
from amem.storage.chats import TurnState
from amem.testing import FakeOllama, HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BROKEN = {
    "analyze": ("Describe $note.", "it does not begin with front matter"),
    "evolve": ("---\nname: evolve\nversion: 9\nvariables: note\n---\n$note $handles", "variables differ: handles"),
    "extract": ("---\nname: extract\nversion: 9\nvariables: mood\n---\n$mood", "there is no value for mood"),
    "chat.zh": ("---\nname: chat\nversion: 9\nvariables: user\n---\n你好 $user", "its front matter calls it chat"),
    "analyse": ("---\nname: analyse\nversion: 9\nvariables: note\n---\n$note", "nobody asks for the prompt"),
}
SECTIONS = "---\nname: analyze_sections\nversion: 9\nvariables: note, tags\n---\n$note $tags"


@pytest.fixture
def memory(home: Path) -> Iterator[AgenticMemorySystem]:
    with FakeOllama(judging_model) as server:
        settings = load_settings(
            home, llm_backend="ollama", llm_model="llama3.2", ollama_host=server.host, timezone="UTC"
        )
        with AgenticMemorySystem(settings=settings, embedder=HashEmbedder()) as memory:
            yield memory


def write(home: Path, name: str, text: str) -> Path:
    path = home / "prompts" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def findings(memory: AgenticMemorySystem, about: str) -> list[tuple[str, str]]:
    return [(each.level, each.what) for each in memory.doctor() if each.about == about]


@pytest.mark.parametrize("name", BROKEN)
def test_the_doctor_names_a_prompt_that_cannot_be_used_and_why(
    memory: AgenticMemorySystem, home: Path, name: str
) -> None:
    assert findings(memory, "prompts") == []
    text, why = BROKEN[name]
    path = write(home, name, text)
    ((level, what),) = findings(memory, "prompts")
    assert level == "error"
    assert str(path) in what
    assert why in what


def test_the_doctor_names_prompts_that_are_used_in_place_of_amem_s(memory: AgenticMemorySystem, home: Path) -> None:
    write(home, "analyze_sections", SECTIONS)
    write(home, "retry", "---\nname: retry\nversion: 9\nvariables: prompt\n---\n$prompt 再试一次")
    assert findings(memory, "prompts") == [("ok", "your own analyze_sections.md, retry.md in place of amem's")]


def test_the_doctor_names_the_line_of_a_rule_file_that_cannot_be_read(memory: AgenticMemorySystem, home: Path) -> None:
    assert findings(memory, "rules") == []
    (home / "rules.md").write_text("never: [phone numbers of cats]\n", encoding="utf-8")
    ((level, what),) = findings(memory, "rules")
    assert level == "error"
    assert f"{home / 'rules.md'}, line 1" in what
    (home / "rules.md").write_bytes(b"\xff\xfe never: x")
    ((level, what),) = findings(memory, "rules")
    assert "cannot read the rule file" in what
    with pytest.raises(InvalidInput) as refused:
        memory.remember([{"role": "user", "content": "I live in Porto."}])
    assert "amem rules --edit" in refused.value.hint


@pytest.mark.parametrize("content", ["Ana lives in Lisbon.", "安娜住在里斯本。"])
def test_a_note_says_which_prompt_could_not_be_used_and_what_to_do(
    memory: AgenticMemorySystem, home: Path, content: str
) -> None:
    path = write(home, "analyze", BROKEN["analyze"][0])
    receipt = memory.add(content)
    assert receipt.enrichment is Enrichment.DEGRADED
    assert str(path) in (receipt.error or "")
    assert "compare it with the one that comes with amem" in (receipt.error or "")
    path.unlink()
    assert memory.enrich().done == 1


def test_a_conversation_says_so_too(memory: AgenticMemorySystem, home: Path) -> None:
    path = write(home, "extract", BROKEN["evolve"][0])
    report = memory.remember([{"role": "user", "content": "Ana lives in Lisbon and bakes bread."}])
    assert report.degraded
    assert str(path) in report.error
    assert "compare it" in report.error


@pytest.mark.parametrize(
    ("question", "prompt"),
    [("Where does Ana live?", "chat"), ("安娜住在哪里？", "chat.zh"), ("安娜住在哪里？", "chat")],
)
def test_a_chat_says_so_and_still_shows_what_was_recalled(
    memory: AgenticMemorySystem, home: Path, question: str, prompt: str
) -> None:
    memory.add_notes(["Ana lives in Lisbon.", "安娜住在里斯本。"])
    path = write(home, prompt, "Be nice.")
    with memory.assistant() as assistant:
        reply = assistant.say(question)
        assert reply.state is TurnState.UNANSWERED
        assert str(path) in reply.error
        assert "compare it" in reply.hint
        assert ("安娜住在里斯本。" if "安娜" in question else "Ana lives in Lisbon.") in [
            each.text for each in reply.recalled
        ]
        assert assistant.why() == reply.recalled
        path.unlink()
        assert assistant.say(question).state is TurnState.ANSWERED


def test_a_question_that_is_asked_once_says_so_with_what_was_found(memory: AgenticMemorySystem, home: Path) -> None:
    memory.add("Ana lives in Lisbon.")
    path = write(home, "answer", "Be nice.")
    answer = memory.answer("Where does Ana live?")
    assert str(path) in answer.error
    assert answer.hint
    assert [hit.content for hit in answer.hits] == ["Ana lives in Lisbon."]
