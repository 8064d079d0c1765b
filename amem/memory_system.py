"""``AgenticMemorySystem``: what amem can do, put together of the classes in ``amem.system``.

What is handed the whole system stands here, all else in the class that it belongs to. No algorithm lives in either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.note import EVERYONE, MemoryNote, Scope
from amem.system.adding import Adding
from amem.system.browsing import Browsing
from amem.system.context_building import Briefing
from amem.system.editing import Editing
from amem.system.enriching import Enriching
from amem.system.fading_outlook import Fading
from amem.system.keeping import Keeping
from amem.system.knowing import Knowing
from amem.system.maintaining import Maintaining
from amem.system.opening import Opening
from amem.system.reading import Reading
from amem.system.recalling import Recalling
from amem.system.remembering import Remembering
from amem.system.truth_decisions import Settling
from amem.system.undoing import Undoing
from amem.writing.intake import open_scope

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from amem.conversation.assistant import Assistant
    from amem.conversation.questions import Answer
    from amem.conversation.reply import Learnt
    from amem.llm.answering import Answerer
    from amem.protocols import ChatModel
    from amem.scoped import ScopedMemory
    from amem.tools import Toolbox
    from amem.vault.sync import Vault

#: A-Mem's programs import MemoryNote from here.
__all__ = ["AgenticMemorySystem", "MemoryNote"]


class AgenticMemorySystem(
    Enriching,
    Adding,
    Remembering,
    Maintaining,
    Fading,
    Keeping,
    Editing,
    Browsing,
    Reading,
    Opening,
    Knowing,
    Briefing,
    Recalling,
    Settling,
    Undoing,
):
    """One collection of notes that analyse, link and evolve themselves, and can be found again.

    The first five arguments are A-Mem's; None leaves each to the settings. `directory` is the home that holds the
    collections: without one (and without `settings`) the collection lives in memory and ends with the object.
    `create=False` refuses to make a collection that is not there. `actor` is who the log says it was: ``user``
    (``user:<name>``) for a person, ``agent`` (``agent:<name>``) for a program. `clock`, `embedder`, `analyst` and
    `reranker` replace the real ones; `notify` hears one line when something takes its time or a choice is made.
    ``background=False`` leaves what ``wait=False`` puts off to other processes (``amem work``). ``read_only=True``
    opens a collection that is there and refuses every write to it; what is found is not counted as used either.

    What it can do, by class: `Adding`, `Enriching` and `Remembering` write; `Editing`, `Settling` and `Undoing`
    correct; `Reading`, `Browsing`, `Opening`, `Recalling`, `Briefing` and `Knowing` find; `Keeping` and `Maintaining`
    look after the collection; `Fading` tells what would be forgotten.

    Safe to use from many threads. Close it, or use it in a ``with`` statement.
    """

    def answer(self, question: str, k: int = 8, *, rerank: bool | None = None, scope: Scope = EVERYONE) -> Answer:
        """Answer one question from the best `k` notes, with numbered citations; when they hold no answer, say that.

        With `rerank` (None: as the setting ``llm_rerank`` says) the model first reads more of what was found and picks
        those, for one call more. Only notes of the `scope` are asked. That no model answers is said by the answer,
        which holds what was recalled in any case. Raises EmbedderMismatch.
        """
        from amem.conversation.questions import Asker
        from amem.llm.answering import Answerer, Orderer
        from amem.scoped import ScopedMemory

        prompts = self.settings.home / "prompts"

        def answerer() -> Answerer:
            return Answerer(self.chat_model(), prompts)

        def orderer() -> Orderer:
            return Orderer(self.chat_model(), prompts)

        wanted = self.settings.llm_rerank if rerank is None else rerank
        memory = self if scope == EVERYONE else ScopedMemory(self, scope)
        asker = Asker(memory, self._store, self._clock, answerer=answerer, orderer=orderer if wanted else None)
        return asker.ask(question, k)

    def assistant(
        self,
        *,
        chat: ChatModel | Callable[[], ChatModel] | None = None,
        session: str | None = None,
        incognito: bool = False,
        on_learnt: Callable[[Learnt], None] | None = None,
        scope: Scope = EVERYONE,
    ) -> Assistant:
        """A chat that recalls from this collection before it answers, and learns from what is said.

        `chat` answers (None: the model that the settings name, found when it is first needed). `session` goes on with
        an earlier chat, by its id or the beginning of one. While `incognito` nothing is stored, learnt or counted;
        `on_learnt` hears, from another thread, what came of a turn. Of a `scope` it recalls, learns and lists no more
        than is of it; a chat goes on in the one it was begun in. Raises SessionNotFound or AmbiguousId.
        """
        from amem.conversation.assistant import Assistant
        from amem.scoped import ScopedMemory

        if session is not None:
            with self._store.read() as read, read.within(scope):
                session = read.chats.resolve(session)
                scope = scope.and_(Scope(**read.chats.scope_of(session).ids))
        return Assistant(
            self if scope == EVERYONE else ScopedMemory(self, scope),
            self._store,
            self._clock,
            chat=chat or self.chat_model,
            learner=self._learner(),
            session=session,
            incognito=incognito,
            on_learnt=on_learnt,
            owner=self._owner,
            scope=scope,
        )

    def tools(
        self, *, user_id: str | None = None, agent_id: str | None = None, session_id: str | None = None
    ) -> Toolbox:
        """JSON-schema definitions for function-calling agents, and the dispatcher that carries their calls out.

        The ids confine the tools to the notes that were added under them, and are what they add notes under.
        """
        from amem.tools import Toolbox

        return Toolbox(self, user_id=user_id, agent_id=agent_id, session_id=session_id)

    def vault(self, folder: str | os.PathLike[str]) -> Vault:
        """A folder of Markdown files, such as an Obsidian vault, to be kept in step with the notes: see its `sync`."""
        from pathlib import Path

        from amem.vault.sync import Vault

        return Vault(self, self._store, self._clock, Path(folder))

    def scoped(
        self, *, user_id: str | None = None, agent_id: str | None = None, session_id: str | None = None
    ) -> ScopedMemory:
        """The part of this collection that was added under these ids, to hand on to whoever may see no more.

        Raises InvalidInput for an id that is empty, so that what is to be one's own never turns out to be everyone's.
        """
        from amem.scoped import ScopedMemory

        return ScopedMemory(self, open_scope(user_id=user_id, agent_id=agent_id, session_id=session_id))
