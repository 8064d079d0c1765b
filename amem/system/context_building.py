"""What is known, for somebody else's prompt: as much of it as fits, and no more."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from amem.language.tokens import tokens
from amem.note import EVERYONE
from amem.query import Filter, Query
from amem.system.recalling import Recalling

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.note import Scope
    from amem.retrieval.context import Context, Placing
    from amem.retrieval.core_notes import Core, CoreNotes
    from amem.retrieval.tiers import Judge, TierReader, Tiers


class Briefing(Recalling):
    """Makes text of notes for the prompt of one's own agent."""

    def context(
        self,
        query: str | Query,
        budget_tokens: int | None = None,
        *,
        order: str | None = None,
        core: bool = True,
        filter: Filter | None = None,
        minimum_score: float | None = None,
        tokenizer: str | Callable[[str], int] | None = None,
        touch: bool = True,
    ) -> Context:
        """What is known about a question within `budget_tokens` (None: setting ``context_tokens``), never more.

        Of the notes found those go in that add most for their tokens. `order` is time (oldest first) or relevance
        (None: setting ``context_order``); `core` says whether core notes stand before them. `tokenizer` names the
        model whose prompt it is for, or the folder of one, or is a function that counts; None means the model of the
        settings. Where its tokenizer is not on this machine an upper bound counts; the context says so. With `touch`
        the notes placed count as used. A Query brings its own filter, score and touch. Raises InvalidInput and
        EmbedderMismatch.
        """
        asked = self._asked(query, filter, minimum_score, touch)
        return self._placing.context(asked, budget_tokens, self._placing.counter(tokenizer), order=order, core=core)

    def core_notes(
        self,
        budget_tokens: int | None = None,
        *,
        filter: Filter | None = None,
        tokenizer: str | Callable[[str], int] | None = None,
    ) -> CoreNotes:
        """The notes that every prompt should hold, as one block within so many tokens (None: setting ``core_tokens``).

        What may do harm first (an allergy), shortened rather than left out; then constraints, preferences, decisions,
        and facts that are pinned or important, as far as they hold now, under ``[Background]``, or
        ``[背景知识]`` where most are in Chinese. Counts as no use. `filter` and `tokenizer` as in `context`.
        """
        within = (filter or Filter()).in_zone(self._zone)
        return self._placing.core(budget_tokens, within, self._placing.counter(tokenizer))

    def core_chosen(self, most: int, count: Callable[[str], int] = tokens, *, scope: Scope = EVERYONE) -> list[Core]:
        """The `scope`'s core notes for the prompt of a chat whose lines fit into `most` tokens by `count`."""
        from amem.retrieval.core_notes import core_notes

        with self._store.read() as session, session.within(scope):
            return core_notes(session, self._predicates(), most, within=Filter(whose=scope), count=count)

    def recall_tiers(
        self,
        query: str | Query,
        budget_tokens: int | None = None,
        *,
        order: str | None = None,
        ask_model: bool = False,
        filter: Filter | None = None,
        minimum_score: float | None = None,
        tokenizer: str | Callable[[str], int] | None = None,
        touch: bool = True,
    ) -> Tiers:
        """Read a large collection from the top until what was read suffices, at most `budget_tokens` of it.

        First a topic's page, then the topic's notes, then all notes, then what they came from, in its own words; the
        result says of each tier what was read, and why it did or did not suffice. That is told by rules, or with
        `ask_model` by the model of the settings (a call for each tier; the rules again where it fails). The other
        arguments and errors as in `context`.
        """
        asked = self._asked(query, filter, minimum_score, touch)
        judge, model = self._judge() if ask_model else (None, "")
        return self._tier_reader.read(
            asked, budget_tokens, self._placing.counter(tokenizer), order=order, judge=judge, model=model
        )

    def _judge(self) -> tuple[Judge, str]:
        from amem.llm.answering import Sufficer

        sufficer = Sufficer(self._models.chat(), self.settings.home / "prompts")
        return sufficer.judge, sufficer.name

    def _asked(self, query: str | Query, filter: Filter | None, minimum_score: float | None, touch: bool) -> Query:
        self._vectorizer.check()
        if not isinstance(query, Query):
            query = Query(query, 0, filter or Filter(), touch=touch, minimum_score=minimum_score)
        self._hear([query.text])
        return query.in_zone(self._zone)

    @cached_property
    def _tier_reader(self) -> TierReader:
        from amem.retrieval.tiers import TierReader

        return TierReader(self._recall, self._store, self._placing)

    @cached_property
    def _placing(self) -> Placing:
        from amem.retrieval.context import Placing

        return Placing(self._recall, self._store, self.settings, self._predicates)
