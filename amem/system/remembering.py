"""Conversations: what was said, stored and learnt from."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from amem.errors import AmemError
from amem.system.maintaining import Maintaining
from amem.writing.intake import named_scope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.conversation.ingest import RememberReport
    from amem.message import Message

_log = logging.getLogger("amem")


class Remembering(Maintaining):
    """Takes conversations in as they were, makes notes of what they state, and finds the words behind a note."""

    def remember(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        conversation: str | None = None,
        earlier: Sequence[Message | Mapping[str, Any]] = (),
        wait: bool | None = True,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
    ) -> RememberReport:
        """Store what was said, episode by episode, and learn from it; all of it is undone as one operation.

        A message is a Message or a mapping with ``role`` and ``content`` (``at``, ``speaker`` and ``id`` where they
        are known); those remembered before are left out. `conversation` names it, so that it can be continued;
        `earlier` messages give context and are not stored. The ids say whose words these are: what is stored and learnt
        is kept under them, and the conversation of that name is theirs alone (see `amem.note.Scope`). With
        ``wait=False`` learning is left to the background (see `wait`), with None only what a model would have to be
        waited for. Raises InvalidInput naming a message that cannot be used; nothing is stored then.
        """
        report = self._learner().remember(
            messages,
            conversation=conversation,
            scope=named_scope(user_id=user_id, agent_id=agent_id, session_id=session_id),
            actor=self.actor,
            wait=self._analyst().local if wait is None else wait,
            earlier=earlier,
            cancelled=self._called_off,
        )
        if report.waiting and self._background:
            self._worker.wake()
        self._keep_up(report.learnt)
        try:
            self._refresh_topics([receipt.id for receipt in report.learnt], report.operation)
        except AmemError as error:  # what was said is stored and learnt; maintenance makes up for it
            _log.warning("declared topics have not taken in what was learnt yet: %s", error)
        return report

    def expand(self, note: str) -> list[Message]:
        """The messages that a note was made from, word for word and in their order. Raises NoteNotFound."""
        return self._learner().expand(note)
