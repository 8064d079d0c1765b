"""What a note rests on, asked of the whole system as links come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem import AsyncMemory, LinkType
from amem.errors import NoteNotFound

if TYPE_CHECKING:
    from conftest import Open

    from amem import AgenticMemorySystem


def chain(memory: AgenticMemorySystem) -> list[str]:
    """Three notes, each caused by the next."""
    ids = [
        memory.add(text).id for text in ("决定改用 SQLite。", "夜里没有人照看服务器。", "Tomas moved to Hamburg 🚚.")
    ]
    memory.link(ids[0], ids[1], LinkType.CAUSED_BY, reason="说明了原因")
    memory.link(ids[1], ids[2], LinkType.CAUSED_BY)
    return ids


def found(memory: AgenticMemorySystem, id: str) -> list[str]:
    return [each.id for each in memory.ancestors(id)]


def test_ancestors_follow_links_as_they_are_made_unlinked_and_undone(memory: AgenticMemorySystem) -> None:
    decision, cause, root = chain(memory)
    assert found(memory, decision) == [cause, root]
    memory.unlink(cause, root, LinkType.CAUSED_BY)
    assert found(memory, decision) == [cause]
    memory.undo()
    assert found(memory, decision) == [cause, root]


def test_a_deleted_cause_cuts_the_way_until_it_is_restored_and_a_purged_one_for_good(
    memory: AgenticMemorySystem,
) -> None:
    decision, cause, root = chain(memory)
    memory.delete(cause)
    assert found(memory, decision) == []
    memory.restore(cause)
    assert found(memory, decision) == [cause, root]
    memory.purge(cause)
    assert found(memory, decision) == []
    with pytest.raises(NoteNotFound):
        memory.ancestors(cause)


def test_a_superseded_cause_is_still_what_led_to_it_and_says_so(memory: AgenticMemorySystem) -> None:
    decision, cause, root = chain(memory)
    newer = memory.add("服务器现在由供应商照看。").id
    memory.supersede(cause, newer)
    first, second = memory.ancestors(decision)
    assert (first.id, first.superseded, second.id, second.superseded) == (cause, True, root, False)
    assert first.note is not None
    assert first.note.superseded_by == newer


def test_another_process_sees_a_link_at_once(open_memory: Open, memory: AgenticMemorySystem) -> None:
    one, other = memory.add("We decided.").id, memory.add("It rained.").id
    elsewhere = open_memory()
    assert elsewhere.ancestors(one) == []
    memory.link(one, other, LinkType.DERIVED_FROM)
    assert found(elsewhere, one) == [other]


async def test_asyncio_programs_ask_the_same(open_memory: Open) -> None:
    memory = open_memory()
    decision, cause, _ = chain(memory)
    async with AsyncMemory(system=memory) as waiting:
        assert [each.id for each in await waiting.ancestors(decision, depth=1)] == [cause]
        assert [each.hop for each in await waiting.ancestors(decision)] == [1, 2]
