"""From a message to the prompt for it: recall, core notes, whether memory supports an answer, and what fits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from amem.clock import zone
from amem.conversation.lines import lines_for
from amem.conversation.personal import asks_memory
from amem.conversation.recalling import Attribution, recall, recalled_text
from amem.conversation.reply import Recalled
from amem.conversation.window import SMALLEST_TURN, Past, Shares, Summary, fit
from amem.errors import InvalidInput
from amem.llm.prompts import load_prompt
from amem.query import Query
from amem.retrieval.beside import beside_the_point, told_by_others
from amem.retrieval.core_notes import core_text
from amem.retrieval.marks import as_recalled
from amem.retrieval.support import Evidence, Support, evidence_of, judge, telling
from amem.text.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.clock import Clock
    from amem.conversation.lines import Lines
    from amem.conversation.ports import Memory
    from amem.conversation.window import Fitted
    from amem.message import Message
    from amem.note import MemoryNote
    from amem.retrieval import Hit
    from amem.retrieval.support import Judgement
    from amem.storage import Session, Store
    from amem.storage.chats import Turn

#: Notes recalled for one message; about as many as fit into the default share of a prompt.
HITS = 20
#: Of a message so much is asked of recall: the embedder reads less, and the words of a book find everything.
_ASKED = 4_000
#: Turns that may hold evidence for an answer; what was said before them is recalled, where it was learnt from.
_EVIDENCE = 200
#: Tokens that "said by you on 2026-05-13" adds to a core note.
_ATTRIBUTION_TOKENS = 12


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prompt, what was recalled for it, and what was found out. `in_memory` is as in `Reply`; `used` are the ids of
    the notes whose use counts; `prompt` names the system prompt and its version. `refused` says why there is no
    prompt: recall has nothing to do with that."""

    messages: tuple[Message, ...]
    recalled: tuple[Recalled, ...]
    notice: str
    in_memory: bool | None
    used: tuple[str, ...]
    prompt: str
    fitted: Fitted | None
    refused: InvalidInput | None = None


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
            verdict = self._judge(session, text, hits, core, past)
            older = session.chats.episodes(past[0].session, before=past[0].number) if past and past[0].number else []
            summaries = _summaries(session, past, older, self._settings.decay_rate)
            beside = beside_the_point(hits, verdict)
            twice = told_by_others(session, notes, beside, verdict.notes)
        unknown = verdict.support is Support.NO and asks_memory(text)
        # What has nothing to do with a question tempts small models to make it do.
        most = 0 if unknown else shares.recalled
        in_core = {note.id for note in core}
        found = recall(
            [hit for hit in hits if hit.id not in twice],
            notes,
            most=most,
            attribution=attribution,
            supporting=verdict.notes,
            already=in_core,
            beside=beside,
        )
        prepared = Prepared(
            messages=(),
            recalled=(*found, *_shown_core(core, found)),
            notice=said.not_in_memory if unknown else "",
            in_memory=_in_memory(verdict, text),
            used=tuple(each.note for each in found if each.injected and each.note not in in_core),
            prompt="",
            fitted=None,
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
            recalled=_above(recalled_text(found, notes, attribution, in_core), verdict, said, unknown),
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

    def _judge(
        self, session: Session, text: str, hits: Sequence[Hit], core: Sequence[MemoryNote], past: Sequence[Turn]
    ) -> Judgement:
        """Whether what was recalled, core notes, or what the user said earlier in this chat support an answer."""
        terms = telling(text[:_ASKED])
        evidence = [evidence_of(hit) for hit in hits]
        evidence += [Evidence(note.id, note.content) for note in core]
        # Not what was asked before: asking twice is no evidence. Nor answers, which rest on notes or on nothing.
        evidence += [
            Evidence(each.message_id("user"), each.question)
            for each in past[-_EVIDENCE:]
            if not asks_memory(each.question)
        ]
        return judge(text[:_ASKED], evidence, session.text.document_frequency(terms), session.notes.count())

    def _now(self, said: Lines) -> str:
        now: datetime = self._clock.now().astimezone(self._zone)
        return f"{now:%Y-%m-%d %H:%M}" if said.language else f"{now:%A %Y-%m-%d %H:%M}"


def _attributed_tokens(line: str) -> int:
    return tokens(line) + _ATTRIBUTION_TOKENS


def _in_memory(verdict: Judgement, text: str) -> bool | None:
    if verdict.support is Support.PERHAPS or not asks_memory(text):
        return None
    return verdict.support is Support.YES


def _above(recalled: str, verdict: Judgement, said: Lines, unknown: bool) -> str:
    """What stands above the question: recalled notes, and how to take them when they may not hold the answer."""
    if unknown:
        return said.do_not_fill
    if recalled and verdict.support is Support.PERHAPS:
        return f"{recalled}\n\n{said.may_not_know}"
    return recalled


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
            text=note.content,
            score=0.0,
            confidence=note.trust,
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
            confidence=0.0,
            why="Sums up an earlier part of this chat.",
            injected=True,
            supports=False,
            part="episode",
        )
        for each in summaries
        if each.note in fitted.summaries
    ]
