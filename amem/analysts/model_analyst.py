"""An analyst that asks a language model: about new notes, batches, and what one note is to another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amem.analysis import Described, Evolution, Judgement, PairVerdict
from amem.analysts.extraction import extract
from amem.errors import BadModelAnswer
from amem.llm import prompts as showing
from amem.llm.answering import UNQUOTED, ground_analysis, ground_evolution, quote_in
from amem.llm.answers import QUOTE, REASON, Proposals, confidence_in, read_analysis, read_evolution
from amem.llm.ladder import MOST_AGAIN, Ladder, Question, analysis_lines, evolution_lines
from amem.llm.model_text import Dropped, Handles, clean, quoted, spelled, verdict_named
from amem.llm.prompts import CHINESE, language_of
from amem.llm.schemas import analysis_schema, batch_schema, evolution_schema, judge_schema
from amem.llm.topic_writing import draft_merge, write_page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from amem.analysis import (
        Analysis,
        Draft,
        Extraction,
        MergeDraft,
        Neighbour,
        PageDraft,
        PageNote,
        Pair,
        Passage,
        Rewrite,
    )
    from amem.llm.guarded import Usage
    from amem.protocols import ChatModel, Vocabulary


# Several new notes analysed and held against old ones in one call: what a chat turn or a conversation has taught.
#
# Asked for one after the other each note costs two calls. Together they cost one, and the model sees that they belong
# to one conversation. What the answer leaves out, the rules fill in; what it says is held against the notes as
# elsewhere.

#: Words of each new note that are shown: a statement is one sentence, a procedure has steps.
_NOTE_WORDS = 60
#: How many of the collection's own tags a model is offered.
_TAGS_OFFERED = 12


def most_used(vocabulary: Vocabulary) -> list[str]:
    """The tags that the most notes carry, at most `_TAGS_OFFERED`."""
    counted = vocabulary.tags()
    return sorted(counted, key=lambda tag: (-counted[tag], tag))[:_TAGS_OFFERED]


def _answered(each: Described, prompt: str) -> Described:
    analysis = None if each.analysis is None else replace(each.analysis, prompt=prompt)
    return Described(analysis, replace(each.evolution, prompt=prompt))


def _read_batch(answer: dict[str, Any], drafts: Mapping[str, Draft], shown: Sequence[Neighbour]) -> list[Described]:
    if not isinstance(answer.get("notes"), list):
        raise BadModelAnswer("notes has to be a list")
    dropped = Dropped()
    analyses = _analyses(answer, drafts, dropped)
    if not analyses:
        raise BadModelAnswer("the answer describes none of the notes that were shown")
    evolutions = _evolutions(answer, drafts, shown, dropped)
    first = next(iter(drafts))
    evolutions[first] = replace(evolutions[first], dropped=(*dropped.sentences, *evolutions[first].dropped))
    return [Described(analyses.get(name), evolutions[name]) for name in drafts]


def _analyses(answer: dict[str, Any], drafts: Mapping[str, Draft], dropped: Dropped) -> dict[str, Analysis]:
    names = Handles(drafts)
    found: dict[str, Analysis] = {}
    for item in dropped.objects(answer, "notes"):
        name = names.find(item.get("note"))
        if name is None or name in found:
            dropped.add(f"a description of {quoted(item.get('note'))}, which was not shown or is described already")
            continue
        draft = drafts[name]
        try:
            known_words = "\n".join((draft.content, draft.speaker or "", *draft.previous))
            found[name] = ground_analysis(read_analysis(item), known_words)
        except BadModelAnswer as error:
            dropped.add(f"the description of {name}: {error}")
    return found


def _evolutions(
    answer: dict[str, Any], drafts: Mapping[str, Draft], shown: Sequence[Neighbour], dropped: Dropped
) -> dict[str, Evolution]:
    """What the answer proposes for each new note. A rewrite goes with the first note that is linked to the old one."""
    names, contents = Handles(drafts), {neighbour.handle: neighbour.content for neighbour in shown}
    proposals = {name: Proposals(list(contents)) for name in drafts}
    linked: dict[str, str] = {}
    for item in dropped.objects(answer, "links"):
        name = names.find(item.get("from"))
        if name is None:
            dropped.add(f"a link from {quoted(item.get('from'))}, which was not shown")
            continue
        quote = item.get("quote")
        proposals[name].link(item.get("to"), item.get("type"), item.get("reason"), confidence_in(item), quote)
        linked.setdefault(str(item.get("to")).casefold(), name)
    for item in dropped.objects(answer, "rewrites"):
        name = linked.get(str(item.get("note")).casefold(), next(iter(drafts)))
        context, tags, quote = item.get("context"), item.get("tags"), item.get("quote")
        proposals[name].rewrite(item.get("note"), context, tags, item.get("reason"), confidence_in(item), quote)
    return {name: ground_evolution(each.evolution(), contents) for name, each in proposals.items()}


# Asking a model what one note is to another: the judge of conflicts that rules and vectors cannot decide.

#: What small local models can weigh at once.
MOST_PAIRS = 5


def _shown(pair: Pair, language: str) -> str:
    older, newer = ("【旧】", "【新】") if language == CHINESE else ("OLDER", "NEWER")
    return f"{pair.handle} {older} {_note(pair.older, pair.older_at)} {newer} {_note(pair.newer, pair.newer_at)}"


def _note(text: str, at: datetime | None) -> str:
    day = f"({at:%Y-%m-%d}) " if at else ""
    return f"{day}<<<{showing.line(text, showing.NEIGHBOUR_WORDS)}>>>"


def _read_verdicts(answer: dict[str, Any], older: Mapping[str, str]) -> tuple[tuple[PairVerdict, ...], tuple[str, ...]]:
    if not isinstance(answer.get("verdicts"), list):
        raise BadModelAnswer("verdicts has to be a list")
    pairs, dropped = Handles(older), Dropped()
    found: dict[str, PairVerdict] = {}
    for item in dropped.objects(answer, "verdicts"):
        handle, verdict = pairs.find(item.get("pair")), verdict_named(item.get("verdict"))
        if handle is None:
            dropped.add(f"a verdict on {quoted(item.get('pair'))}, which was not shown")
        elif verdict is None:
            dropped.add(f"the verdict {spelled(item.get('verdict'))!r} on {handle}, which is none of those asked for")
        elif handle in found:
            dropped.add(f"a second verdict on {handle}")
        else:
            quote = quote_in(clean(item.get("quote"), QUOTE), older[handle])
            confidence = confidence_in(item) if quote else min(confidence_in(item), UNQUOTED)
            found[handle] = PairVerdict(handle, verdict, confidence, clean(item.get("reason"), REASON), quote)
    if not found:
        raise BadModelAnswer("the answer holds no verdict on any pair that was shown")
    return tuple(found.values()), dropped.sentences


# An analyst that asks a language model: Ps1 in one call, Ps2 and Ps3 in another (A-Mem, arXiv 2502.12110).


class ModelAnalyst:
    """Reads notes with `chat`. `prompts` is a folder whose files stand in for amem's own prompts.

    Every question climbs down the ladder (see ``amem.llm.ladder``); below its last rung BadModelAnswer is raised, as
    ServiceUnavailable and MissingModel are when there is nobody to ask. Each is asked in the language of the note. Safe
    to use from many threads when `chat` is.
    """

    def __init__(self, chat: ChatModel, *, prompts: Path | None = None) -> None:
        self._ladder = Ladder(chat, prompts=prompts)

    @property
    def name(self) -> str:
        return self._ladder.name

    @property
    def local(self) -> bool:
        """False: a call takes seconds and may fail."""
        return False

    @property
    def usage(self) -> Usage:
        """What the calls cost, and which rungs gave the answers."""
        return self._ladder.usage

    def analyze(self, draft: Draft, vocabulary: Vocabulary) -> Analysis:
        """Keywords, context, tags, kind, importance, entities and facts of a new note (Ps1)."""
        known = most_used(vocabulary)
        language = language_of(draft.content)
        known_words = "\n".join((draft.content, draft.speaker or "", *draft.previous))
        question = Question(
            prompt="analyze",
            values={
                "note": showing.note(draft.content),
                "speaker": showing.line(draft.speaker or "", 8) or "-",
                "when": showing.when(draft.at, language),
                "previous": "\n".join(showing.line(turn, showing.TURN_WORDS) for turn in draft.previous) or "-",
                "tags": showing.listed(known),
            },
            schema=analysis_schema(),
            read=lambda answer: ground_analysis(read_analysis(answer), known_words),
            sections=analysis_lines,
            language=language,
        )
        answered = self._ladder.ask(question)
        return replace(answered.value, prompt=answered.prompt, calls=answered.calls)

    def evolve(
        self, draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour], vocabulary: Vocabulary
    ) -> Evolution:
        """Links and tags for the new note, rewrites for its neighbours (Ps2 and Ps3); no call without neighbours.

        Unusable answers to this and to the analysis together cost `MOST_AGAIN` further calls.
        """
        shown = neighbours[: showing.MOST_NEIGHBOURS]
        if not shown:
            return Evolution()
        handles = tuple(neighbour.handle for neighbour in shown)
        language = language_of(draft.content)
        question = Question(
            prompt="evolve",
            values={
                "note": showing.note(draft.content, showing.NEW_NOTE_WORDS),
                "context": showing.line(analysis.context, showing.CONTEXT_WORDS) or "-",
                "tags": showing.listed(analysis.tags),
                "when": showing.when(draft.at, language),
                "neighbours": showing.neighbours(shown, language),
                "handles": ", ".join(handles),
            },
            schema=evolution_schema(handles),
            read=lambda answer: _evolution(answer, shown),
            sections=evolution_lines,
            language=language,
            again=MOST_AGAIN - max(0, analysis.calls - 1),
        )
        answered = self._ladder.ask(question)
        return replace(answered.value, prompt=answered.prompt)

    def analyze_all(
        self, drafts: Sequence[Draft], neighbours: Sequence[Neighbour], vocabulary: Vocabulary, *, again: int
    ) -> Sequence[Described]:
        """Ps1, Ps2 and Ps3 of all `drafts`, shown as ``s1``, ``s2``, ..., in one call; no call without any."""
        if not drafts:
            return []
        shown = neighbours[: showing.MOST_NEIGHBOURS]
        names = tuple(f"s{number}" for number in range(1, len(drafts) + 1))
        handles = tuple(neighbour.handle for neighbour in shown)
        language = language_of(" ".join(draft.content for draft in drafts))
        when = next((draft.at for draft in drafts if draft.at), None)
        named = dict(zip(names, drafts, strict=True))
        lines = (f"{name} <<<{showing.line(draft.content, _NOTE_WORDS)}>>>" for name, draft in named.items())
        question = Question(
            prompt="analyze_all",
            values={
                "notes": "\n".join(lines),
                "neighbours": showing.neighbours(shown, language) or "-",
                "handles": ", ".join(handles) or "-",
                "tags": showing.listed(most_used(vocabulary)),
                "when": showing.when(when, language),
            },
            schema=batch_schema(names, handles),
            read=lambda answer: _read_batch(answer, named, shown),
            language=language,
            again=again,
        )
        answered = self._ladder.ask(question)
        return [_answered(each, answered.prompt) for each in answered.value]

    def judge(self, pairs: Sequence[Pair]) -> Judgement:
        """What the newer note of each of the first few pairs is to the older, in one call; no call without pairs."""
        shown = pairs[:MOST_PAIRS]
        if not shown:
            return Judgement()
        handles = tuple(pair.handle for pair in shown)
        language = language_of(" ".join(f"{pair.older} {pair.newer}" for pair in shown))
        question = Question(
            prompt="judge",
            values={"pairs": "\n".join(_shown(pair, language) for pair in shown)},
            schema=judge_schema(handles),
            read=lambda answer: _read_verdicts(answer, {pair.handle: pair.older for pair in shown}),
            language=language,
        )
        answered = self._ladder.ask(question)
        return Judgement(*answered.value, prompt=answered.prompt)

    def page(self, title: str, present: str, notes: Sequence[PageNote]) -> PageDraft:
        """The page of a topic anew, in one call."""
        return write_page(self._ladder, title, present, notes)

    def merge(self, parts: Sequence[str]) -> MergeDraft:
        """Whether notes say the same, and the one note for all of them, in one call."""
        return draft_merge(self._ladder, parts)

    def extract(self, passage: Passage) -> Extraction:
        """What a piece of conversation states that is worth remembering; nothing that it does not state."""
        return extract(self._ladder, passage)


def _evolution(answer: dict[str, Any], shown: Sequence[Neighbour]) -> Evolution:
    evolution = read_evolution(answer, [neighbour.handle for neighbour in shown])
    evolution = ground_evolution(evolution, {neighbour.handle: neighbour.content for neighbour in shown})
    by_handle = {neighbour.handle: neighbour for neighbour in shown}
    changes = (_real_change(rewrite, by_handle[rewrite.handle]) for rewrite in evolution.rewrites)
    return replace(evolution, rewrites=tuple(change for change in changes if change is not None))


def _real_change(rewrite: Rewrite, neighbour: Neighbour) -> Rewrite | None:
    # Models repeat what they would leave as it is.
    context = None if rewrite.context == neighbour.context else rewrite.context
    tags = None if rewrite.tags is not None and set(rewrite.tags) == set(neighbour.tags) else rewrite.tags
    return None if context is None and tags is None else replace(rewrite, context=context, tags=tags)
