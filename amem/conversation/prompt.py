"""From a message to the prompt for it: recall, core notes, support, and what fits."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from amem.analysts.rules.kind_and_context import is_courtesy
from amem.clock import Clock, zone
from amem.conflict.cues import take_back_in
from amem.conversation.context_window import SMALLEST_TURN, Fitted, Past, Shares, Summary, fit
from amem.conversation.extractive import extract
from amem.conversation.reply import Lines, Recalled, lines_for
from amem.errors import InvalidInput
from amem.language.asking import asks_to_remember
from amem.language.scripts import Patterns
from amem.language.terms import tokens
from amem.language.word_reading import read
from amem.llm.prompts import CHINESE, count_words, line, load_prompt
from amem.llm.prompts import note as shown_note
from amem.query import Query
from amem.rendering import doubt_of, text_within
from amem.retrieval.budget import as_recalled, core_text, redundant_summaries
from amem.retrieval.confidence import Support, best_support, share_held, supporting, telling, weights_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime, tzinfo

    from amem.conversation.ports import Memory
    from amem.note import MemoryNote, Message
    from amem.retrieval.hit import Hit
    from amem.storage.chats import Turn
    from amem.storage.store import Session, Store


# Is a message a question that only memory can answer: about the user's own affairs, or about what was said before?
#
# A rule, not a model, so that "that is not in memory" is said before anybody can make an answer up. It errs towards
# no: a question of general knowledge, or a request for help that happens to say "my", must not be told off.

_pattern = Patterns("conversation/prompt")
#: Longer messages bring their own material (a text to mend, a log to read).
_LONGEST = 200


def asks(text: str) -> bool:
    """Whether a message asks for something, be it a question or a request; any other one states something."""
    asked = text.strip()
    if asks_to_remember(asked):
        return False
    return any(
        each.search(asked)
        for each in (_pattern.question, _pattern.question_zh, _pattern.said_before, _pattern.request, _pattern.search)
    )


def asks_memory(text: str) -> bool:
    """Whether only memory could answer: a question about the user's own affairs, or about what was said before."""
    asked = text.strip()
    if len(asked) > _LONGEST or "\n" in asked or _pattern.just_now.search(asked):
        return False
    if not (_pattern.question.search(asked) or _pattern.question_zh.search(asked)):
        return False
    if _pattern.said_before.search(asked):
        return True
    return _pattern.own.search(asked) is not None and not _pattern.request.search(asked)


# Recalled notes on their way into a prompt: who said each and when, inert, between delimiters, as many as fit.

_WORDS = 200
_DOUBT_WORDS = 30
#: Delimiters and the empty line around them.
_FRAME = 24
#: Where in a file it stands: "log.txt:12".
_PLACE = re.compile(r":\d+$")


@dataclass(frozen=True, slots=True)
class Teller:
    """Where a note is from that nobody said: the name of an agent that noted it, or of a file."""

    agent: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Attribution:
    """The notes that hits are made of, as far as they are there still, and the words for who told each, and when, in
    the `language` of the question: "said by you on 2026-05-13".

    "You" is the person who chats, called `user` in notes; a note without a speaker is theirs, unless `told` has it:
    "noted by claude-code on 2026-05-13", "from recipes.md, 2026-05-13". `catalogs` has the catalog of each note that is
    in one, which is said last; `retold` are notes that only sum up what others say. Days are those of `zone`.
    """

    zone: tzinfo
    user: str
    language: str
    notes: dict[str, MemoryNote]
    told: dict[str, Teller]
    catalogs: dict[str, str]
    retold: set[str]

    def of(self, note: MemoryNote) -> str:
        """The words for one note, on one line."""
        name = self.catalogs.get(note.id)
        place = "" if name is None else f"，共享集 {name}" if self.language == CHINESE else f", catalog {name}"
        return self._teller(note) + place

    def _teller(self, note: MemoryNote) -> str:
        day = f"{note.at.astimezone(self.zone):%Y-%m-%d}" if note.at else ""
        chinese = self.language == CHINESE
        speaker, teller = line(note.speaker or "", 8), self.told.get(note.id)
        if not speaker and teller is not None and teller.file:
            file = line(teller.file, 8)
            return ("，" if chinese else ", ").join(filter(None, (f"出自 {file}" if chinese else f"from {file}", day)))
        if not speaker and teller is not None:
            who = line(teller.agent, 8) or ("智能体" if chinese else "an agent")
            said, told = "记", "noted by"
        else:
            own = note.speaker is None or note.speaker.casefold() == self.user.casefold()
            who = speaker if not own else "你" if chinese else "you"
            said, told = "说", "said by"
        if chinese:
            return f"{who}于 {day} {said}" if day else f"{who}{said}"
        return f"{told} {who} on {day}" if day else f"{told} {who}"


def tellers(session: Session, ids: Sequence[str]) -> dict[str, Teller]:
    """Where those of these notes are from that no message told and no person noted."""
    agents = session.notes.agents_of(ids)
    found: dict[str, Teller] = {}
    for id, sources in session.notes.sources_of(ids).items():
        if any(source.kind == "message" for source in sources):
            continue
        if id in agents:
            found[id] = Teller(agent=agents[id].partition(":")[2])
        elif files := [source.ref for source in sources if source.kind in ("file", "line") and source.ref]:
            found[id] = Teller(file=_PLACE.sub("", files[0].rsplit("/", 1)[-1]))
    return found


def attribution_of(memory: Memory, hits: Sequence[Hit], language: str) -> Attribution:
    """The notes of these hits, read where each is from, and the words for them."""
    settings, catalogs = memory.settings, {hit.id: hit.catalog for hit in hits if hit.is_catalog}
    found = Attribution(zone(settings.timezone), settings.user_name, language, {}, {}, catalogs, set())
    beside = {hit.id for hit in hits if hit.support is Support.NONE}
    for session, some in memory.reading(hits):
        held = session.notes.shown([hit.id for hit in some], history=False)
        found.notes.update(held)
        found.told.update(tellers(session, list(held)))
        found.retold.update(redundant_summaries(session, held, beside, supporting(hits)))
    return found


def recall(
    hits: Sequence[Hit], read: Attribution, *, most: int, supporting: Collection[str], already: Collection[str]
) -> list[Recalled]:
    """The hits, best first, with those marked `injected` that fit into `most` tokens together.

    A hit that is gone since it was `read` is left out. Those of `already` stand in the prompt as core notes and are not
    put there twice.
    """
    room = most - _FRAME
    found: list[Recalled] = []
    for hit in hits:
        held = read.notes.get(hit.id)
        if held is None:
            continue
        size = tokens(_line(len(found) + 1, held, read)) + 1
        fits = size <= room and hit.id not in already
        room -= size if fits else 0
        shown, why = fits or hit.id in already, hit.explanation.words()
        found.append(Recalled.of(held, score=hit.score, why=why, injected=shown, supports=hit.id in supporting))
    return found


def recalled_text(found: Sequence[Recalled], read: Attribution, skip: Collection[str]) -> str:
    """The injected notes between their delimiters, '' for none."""
    shown = [each for each in found if each.injected and each.note not in skip]
    if not shown:
        return ""
    lines = (_line(number, read.notes[each.note], read) for number, each in enumerate(shown, start=1))
    return as_recalled("\n".join(lines))


def attributed(note: MemoryNote, attribution: Attribution) -> str:
    """A note as a model reads it: what it is, who said it and when, and what it says."""
    doubt = doubt_of(note)
    head = f"{note.kind}, {attribution.of(note)}" + (f", {line(doubt, _DOUBT_WORDS)}" if doubt else "")
    return f"[{head}] {shown_note(text_within(note, _fits), _WORDS)}"


def _fits(text: str) -> bool:
    return count_words(text) <= _WORDS


def _line(number: int, note: MemoryNote, attribution: Attribution) -> str:
    # What follows a line break in a note is set in, so that it cannot pass for another note with a date of its own.
    return f"{number}. {attributed(note, attribution)}".replace("\n", "\n   ")


# From a message to the prompt for it: recall, core notes, whether memory supports an answer, and what fits.

#: Notes recalled for one message; about as many as fit into the default share of a prompt.
HITS = 20
#: Of a message so much is asked of recall: the embedder reads less, and the words of a book find everything.
_ASKED = 4_000
#: From this share of its telling words on, what was said earlier may hold what is asked.
_HELD = 0.5
#: Turns that may hold evidence for an answer; what was said before them is recalled, where it was learnt from.
_EVIDENCE = 200
#: Tokens that "noted by claude-code on 2026-05-13" adds to a core note.
_ATTRIBUTION_TOKENS = 16


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
        read = attribution_of(self._memory, hits, said.language)
        with self._store.read() as session:
            read.told.update(tellers(session, [note.id for note in core if note.id not in read.notes]))
            support = self._support(session, text, hits, past)
            older = session.chats.episodes(past[0].session, before=past[0].number) if past and past[0].number else []
            summaries = _summaries(session, past, older)
        beside = {hit.id for hit in hits if hit.support is Support.NONE}
        personal = asks_memory(text)
        unknown = personal and support is Support.NONE
        in_core = {note.id for note in core}
        found = recall(
            [hit for hit in hits if hit.id not in read.retold],
            read,
            most=shares.recalled,
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
            notes=read.notes,
            support=support,
        )
        try:
            prompt = load_prompt("chat", settings.home / "prompts", said.language)
            system = prompt.render(
                user=settings.user_name,
                now=self._now(said),
                core=as_recalled(core_text(cores, said.nothing, read.of)),
            )
        except InvalidInput as error:  # what was recalled is shown all the same
            return replace(prepared, used=(), refused=error)
        fitted = fit(
            window=settings.llm_context,
            answer=shares.answer,
            system=system.strip(),
            question=text,
            recalled=_above(recalled_text(found, read, in_core), support, said, personal),
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

    def extract(self, text: str, prepared: Prepared, *, learns: bool, cut: bool = False) -> str:
        """What is said to `text` where no model answers: what memory holds, or that a statement was heard.

        `learns` tells whether notes are made of what is said, `cut` whether secrets were taken out of it before.
        """
        said = lines_for(text)
        if learns and (takes := take_back_in(text)) is not None:
            return said.taken_back.format(takes.about) if takes.about else said.taken_back_last
        if is_courtesy(read(text)) and not asks_memory(text):
            return said.idle
        if not asks(text):
            return said.not_noted if not learns else said.cut if cut else said.noted
        found, now = prepared, self._clock.now()
        return extract(self._memory, text[:_ASKED], found.hits, found.notes, found.support, now, cite=False).text

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


def _summaries(session: Session, past: Sequence[Turn], older: Sequence[str]) -> list[Summary]:
    """The summaries of the chat's episodes, in its order."""
    ids = list(dict.fromkeys([*older, *(each.episode for each in past if each.episode)]))
    notes = session.notes.get_many(ids, history=False)
    keys = session.notes.keys_of(list(notes))
    standing = session.usage.standings(list(keys.values()))
    weights = dict(zip(standing.keys.tolist(), standing.strength(session.now).tolist(), strict=True))
    return [Summary(id, f"- {note.content}", weights[keys[id]], note.version) for id, note in notes.items()]


def _shown_core(core: Sequence[MemoryNote], found: Sequence[Recalled]) -> list[Recalled]:
    recalled = {each.note for each in found}
    shown = [note for note in core if note.id not in recalled]
    return [Recalled.of(note, why="Stands in every prompt.", part="core") for note in shown]


def _shown_episodes(summaries: Sequence[Summary], fitted: Fitted) -> list[Recalled]:
    shown = [each for each in summaries if each.note in fitted.summaries]
    why = "Sums up an earlier part of this chat."
    return [Recalled(each.note, each.version, each.text.removeprefix("- "), why=why, part="episode") for each in shown]
