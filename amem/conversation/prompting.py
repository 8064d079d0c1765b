"""From a message to the prompt for it: recall, core notes, whether memory supports an answer, and what fits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from amem.clock import zone
from amem.conversation.extractive import extract
from amem.conversation.lines import lines_for
from amem.conversation.personal import asks, asks_memory
from amem.conversation.recalling import Attribution, recall, recalled_text
from amem.conversation.reply import Recalled
from amem.conversation.window import SMALLEST_TURN, Past, Shares, Summary, fit
from amem.errors import InvalidInput
from amem.llm.offline.courtesies import is_courtesy
from amem.llm.offline.reading import read
from amem.llm.prompts import load_prompt
from amem.query import Query
from amem.rendering import text_of
from amem.retrieval.confidence import Support, best_support, share_held, supporting, telling, weights_of
from amem.retrieval.core_notes import core_text
from amem.retrieval.marks import as_recalled
from amem.retrieval.repeats import told_by_others
from amem.text.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from amem.clock import Clock
    from amem.conversation.lines import Lines
    from amem.conversation.ports import Memory
    from amem.conversation.window import Fitted
    from amem.message import Message
    from amem.note import MemoryNote
    from amem.retrieval import Hit
    from amem.storage import Session, Store
    from amem.storage.chats import Turn

#: Notes recalled for one message; about as many as fit into the default share of a prompt.
HITS = 20
#: Of a message so much is asked of recall: the embedder reads less, and the words of a book find everything.
_ASKED = 4_000
#: From this share of its telling words on, what was said earlier may hold what is asked.
_HELD = 0.5
#: Turns that may hold evidence for an answer; what was said before them is recalled, where it was learnt from.
_EVIDENCE = 200
#: Tokens that "said by you on 2026-05-13" adds to a core note.
_ATTRIBUTION_TOKENS = 12


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prompt, what was recalled for it, and how well that supports an answer.

    `hits` and their `notes` are what recall found. `in_memory` is as in `Reply`; `used` are the ids of the notes whose
    use counts; `prompt` names the system prompt and its version. `refused` says why there is no prompt: recall has
    nothing to do with that.
    """

    messages: tuple[Message, ...]
    recalled: tuple[Recalled, ...]
    notice: str
    in_memory: bool | None
    used: tuple[str, ...]
    prompt: str
    fitted: Fitted | None
    refused: InvalidInput | None = None
    hits: tuple[Hit, ...] = ()
    notes: Mapping[str, MemoryNote] = field(default_factory=dict)
    support: Support = Support.NONE


class Prompting:
    """Prepares prompts from one collection. Writes nothing."""

    def __init__(self, memory: Memory, store: Store, clock: Clock) -> None:
        self._memory = memory
        self._store = store
        self._clock = clock
        self._settings = memory.settings
        self._zone = zone(memory.settings.timezone)

    @property
    def most_turns(self) -> int:
        """How many turns a prompt can hold, were they of a word each; what was before them stands in summaries."""
        return self._settings.llm_context // SMALLEST_TURN

    def prepare(self, text: str, past: Sequence[Turn]) -> Prepared:
        """The prompt for `text` after the turns of `past`, the last of the chat. Raises what recall raises."""
        settings, said = self._settings, lines_for(text)
        shares = Shares.of(settings.llm_context, core=settings.core_tokens, recalled=settings.recall_tokens)
        hits = self._memory.ask(Query(text[:_ASKED], HITS, expand=True, touch=False))
        cores = self._memory.core_chosen(shares.core, _attributed_tokens)
        core = [each.note for each in cores]
        attribution = Attribution(self._zone, settings.user_name, said.language)
        with self._store.read() as session:
            notes = session.notes.get_many([hit.id for hit in hits], history=False)
            support = self._support(session, text, hits, past)
            older = session.chats.episodes(past[0].session, before=past[0].number) if past and past[0].number else []
            summaries = _summaries(session, past, older, self._settings.decay_rate)
            beside = {hit.id for hit in hits if hit.support is Support.NONE}
            twice = told_by_others(session, notes, beside, supporting(hits))
        personal = asks_memory(text)
        unknown = personal and support is Support.NONE
        in_core = {note.id for note in core}
        found = recall(
            [hit for hit in hits if hit.id not in twice],
            notes,
            most=shares.recalled,
            attribution=attribution,
            supporting=supporting(hits),
            already=in_core,
        )
        prepared = Prepared(
            messages=(),
            recalled=(*found, *_shown_core(core, found)),
            notice=said.not_in_memory if unknown else "",
            in_memory={Support.STRONG: True, Support.NONE: False}.get(support) if personal else None,
            used=tuple(each.note for each in found if each.injected and each.note not in in_core | beside),
            prompt="",
            fitted=None,
            hits=tuple(hits),
            notes=notes,
            support=support,
        )
        try:
            prompt = load_prompt("chat", settings.home / "prompts", said.language)
            system = prompt.render(
                user=settings.user_name,
                now=self._now(said),
                core=as_recalled(core_text(cores, said.nothing, attribution.of)),
            )
        except InvalidInput as error:  # what was recalled is shown all the same
            return replace(prepared, used=(), refused=error)
        fitted = fit(
            window=settings.llm_context,
            answer=shares.answer,
            system=system.strip(),
            question=text,
            recalled=_above(recalled_text(found, notes, attribution, in_core), support, said, personal),
            past=_past(past, said),
            summaries=summaries,
            older=older,
            earlier=said.earlier,
        )
        return replace(
            prepared,
            messages=fitted.messages,
            recalled=(*prepared.recalled, *_shown_episodes(summaries, fitted)),
            prompt=prompt.label,
            fitted=fitted,
        )

    def extract(self, text: str, prepared: Prepared, *, learns: bool) -> str:
        """What is said to `text` where no model answers: what memory holds, or that a statement was heard.

        `learns` tells whether notes are made of what is said.
        """
        said = lines_for(text)
        if is_courtesy(read(text)) and not asks_memory(text):
            return said.idle
        if not asks(text):
            return said.noted if learns else said.not_noted
        return extract(self._memory, text[:_ASKED], prepared.hits, prepared.notes, prepared.support, cite=False).text

    def _support(self, session: Session, text: str, hits: Sequence[Hit], past: Sequence[Turn]) -> Support:
        """How well what was recalled supports an answer; what the user said earlier in this chat may hold one, too."""
        support = best_support(hits)
        if support is not Support.NONE:
            return support
        question = text[:_ASKED]
        weights = weights_of(question, session.text.document_frequency(telling(question)), session.notes.count())
        # Not what was asked before: asking twice is no evidence. Nor answers, which rest on notes or on nothing.
        said = (each.question for each in past[-_EVIDENCE:] if not asks_memory(each.question))
        return Support.WEAK if any(share_held(weights, each) >= _HELD for each in said) else Support.NONE

    def _now(self, said: Lines) -> str:
        now: datetime = self._clock.now().astimezone(self._zone)
        return f"{now:%Y-%m-%d %H:%M}" if said.language else f"{now:%A %Y-%m-%d %H:%M}"


def _attributed_tokens(line: str) -> int:
    return tokens(line) + _ATTRIBUTION_TOKENS


def _above(recalled: str, support: Support, said: Lines, personal: bool) -> str:
    """What stands above the question: recalled notes, and how well they support an answer.

    `personal` tells that only memory can answer; other messages may have nothing to do with the notes.
    """
    if not personal:
        told = said.strong if support is Support.STRONG else said.aside
    else:
        told = said.support(support) + (f" {said.none_told}" if support is Support.NONE else "")
    return f"{recalled}\n\n{told}" if recalled else told if personal else ""


def _past(turns: Sequence[Turn], said: Lines) -> list[Past]:
    """Turns as the model sees them; those whose words were purged are not there any more."""
    return [
        Past(each.number, each.question, each.answer.strip() or said.no_answer, each.episode)
        for each in turns
        if each.question
    ]


def _summaries(session: Session, past: Sequence[Turn], older: Sequence[str], decay_rate: float | None) -> list[Summary]:
    """The summaries of the chat's episodes, in its order."""
    ids = list(dict.fromkeys([*older, *(each.episode for each in past if each.episode)]))
    notes = session.notes.get_many(ids, history=False)
    keys = session.notes.keys_of(list(notes))
    standing = session.usage.standings(list(keys.values()))
    weights = dict(zip(standing.keys.tolist(), standing.strength(session.now, decay_rate).tolist(), strict=True))
    return [Summary(id, f"- {note.content}", weights[keys[id]], note.version) for id, note in notes.items()]


def _shown_core(core: Sequence[MemoryNote], found: Sequence[Recalled]) -> list[Recalled]:
    recalled = {each.note for each in found}
    return [
        Recalled(
            note=note.id,
            version=note.version,
            text=text_of(note),
            score=0.0,
            trust=note.trust,
            why="Stands in every prompt.",
            injected=True,
            supports=False,
            part="core",
            kind=note.kind,
            at=note.at,
        )
        for note in core
        if note.id not in recalled
    ]


def _shown_episodes(summaries: Sequence[Summary], fitted: Fitted) -> list[Recalled]:
    return [
        Recalled(
            note=each.note,
            version=each.version,
            text=each.text.removeprefix("- "),
            score=0.0,
            trust=0.0,
            why="Sums up an earlier part of this chat.",
            injected=True,
            supports=False,
            part="episode",
        )
        for each in summaries
        if each.note in fitted.summaries
    ]
