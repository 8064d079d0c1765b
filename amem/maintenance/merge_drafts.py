"""The one note that stands for several, by rules or drafted by a model and held against them."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from amem.analysis import Draft, MergeDraft
from amem.errors import AmemError, BadModelAnswer, Cancelled, StorageError
from amem.language import normalize, written_in_cjk
from amem.language.scripts import words
from amem.language.statements import facts_in
from amem.language.word_reading import entities
from amem.llm.answers import SURE
from amem.llm.guarded import Metered
from amem.llm.topic_writing import MOST_CHARACTERS
from amem.maintenance.sameness import denied, difference, goes_further, said, unsaid
from amem.note import FILE, Cost, Enrichment, Fact, Layer, MemoryNote, Status
from amem.protocols import MergeWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from amem.language.predicates import Predicates


# The one note that stands for several: the fullest wording, and every sentence that only another of them holds.

TAG = "consolidated"

Item = TypeVar("Item")


def merged(parts: Sequence[MemoryNote]) -> MemoryNote:
    """The note that `parts`, oldest first, become; its id is new. Nothing is reworded: the words are people's."""
    fullest = max(parts, key=lambda note: sum(len(each.words) for each in said(note.content).sentences))
    first = min(parts, key=lambda note: (note.at is None, note.at))
    since = [note.valid_from for note in parts if note.valid_from is not None]
    heard = [note.recorded_at for note in parts if note.recorded_at is not None]
    places = {(note.conversation_id, note.ordinal) for note in parts}
    conversations = {note.conversation_id for note in parts}
    ordered = (fullest, *(note for note in parts if note is not fullest))
    metadata: dict[str, Any] = {}
    for note in ordered:
        metadata = note.metadata | metadata
    metadata.pop(FILE, None)  # the parts are what stands in files
    return MemoryNote(
        content=wording(fullest, parts),
        keywords=_union((note.keywords for note in ordered), normalize),
        tags=_union((*(note.tags for note in ordered), [TAG]), normalize),
        entities=_union((note.entities for note in ordered), normalize),
        facts=_union((note.facts for note in ordered), lambda fact: fact),
        context=fullest.context,
        category=fullest.category,
        timestamp=first.timestamp,
        at=first.at,
        kind=fullest.kind,
        layer=Layer.LONG_TERM if any(note.layer is Layer.LONG_TERM for note in parts) else Layer.SHORT_TERM,
        status=Status.ACTIVE,
        importance=max(note.importance for note in parts),
        valid_from=min(since) if since else None,
        valid_to=fullest.valid_to,
        # Age starts with the last time that it was heard.
        recorded_at=max(heard) if heard else None,
        conversation_id=fullest.conversation_id if len(conversations) == 1 else None,
        ordinal=fullest.ordinal if len(places) == 1 else None,
        speaker=fullest.speaker,
        metadata=metadata,
        enrichment=Enrichment.DONE,
        analyst=fullest.analyst,
    )


def wording(fullest: MemoryNote, parts: Sequence[MemoryNote]) -> str:
    """The fullest text, with what the others say more: a sentence that goes further in its place, others at the end."""
    text = fullest.content
    for part in parts:
        for sentence in said(part.content).sentences:
            shorter = [held for held in said(text).sentences if goes_further(sentence, held)]
            if shorter and shorter[0].text in text:
                text = text.replace(shorter[0].text, sentence.text, 1)
        for sentence in unsaid(said(text), said(part.content)):
            text = _with(text, sentence.text)
    return text


def _with(text: str, sentence: str) -> str:
    chinese = written_in_cjk(text)
    closed = text.rstrip()
    if closed[-1:].isalnum():
        closed += "。" if chinese else "."
    if sentence[-1:].isalnum():
        sentence += "。" if chinese else "."
    return f"{closed}{'' if chinese else ' '}{sentence}"


def _union(lists: Iterable[Sequence[Item]], same: Callable[[Item], Hashable]) -> list[Item]:
    found: dict[Hashable, Item] = {}
    for values in lists:
        for value in values:
            found.setdefault(same(value), value)
    return list(found.values())


# Texts of merged notes drafted by a model, held against the notes that they stand for.
#
# A model only words things: which notes merge is for the rules. Where a draft loses or adds anything the rules' text
# stays.

_log = logging.getLogger("amem")

#: Calls in one run of maintenance; the notes of the groups and pairs after these get the rules' text.
MOST_CALLS = 8
#: In the metadata of a merged note: the model that drafted its text, and the version of the prompt.
DRAFTED_BY = "drafted_by"
#: What a draft may add to join what two notes say.
_JOINING = words("and who which that") | frozenset("和与并且而也还又")


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a model says of a doubtful pair: `apart` if they differ for sure, `text` for both if surely they do not.

    `reason` is the model's; `remark` says why there is neither, '' if nobody was asked.
    """

    apart: bool = False
    text: str = ""
    reason: str = ""
    remark: str = ""


class Drafting:
    """Asks a model, at most `MOST_CALLS` times, for the texts of one run; where the `analyst` is none the rules do."""

    def __init__(self, analyst: Callable[[], object], predicates: Callable[[], Predicates], days: float) -> None:
        self._analyst = analyst
        self._predicates = predicates
        self._days = days
        self._down = ""
        self.calls = 0
        self.spent = Cost()

    def merged(self, parts: Sequence[MemoryNote], note: MemoryNote) -> tuple[MemoryNote, str]:
        """The merged note with the text that a model drafts if that holds up, else `note` itself; and which it is.

        That is '' where no model runs. Raises Cancelled and StorageError.
        """
        note.metadata.pop(DRAFTED_BY, None)  # a part's own, from an earlier run
        name, draft, remark = self._ask(parts)
        if draft is not None:
            if not draft.same:
                remark = f"the model says they differ: {draft.reason}"
            elif draft.confidence < SURE:
                remark = "the model is not sure of its draft"
            else:
                remark = self._refusal(draft.text, parts, note, one_sense=True)
        if draft is None or remark:
            return note, remark and f"text by the rules: {remark}"
        metadata = {**note.metadata, DRAFTED_BY: f"{name} ({draft.prompt})"}
        return replace(note, content=draft.text, metadata=metadata), f"text drafted by {name}"

    def opinion(self, old: MemoryNote, new: MemoryNote) -> Opinion:
        """What the model says of two notes that only a person may merge. Raises Cancelled and StorageError."""
        _, draft, remark = self._ask((old, new))
        if draft is None:
            return Opinion(remark=remark and f"no draft: {remark}")
        if draft.confidence < SURE:
            return Opinion(remark="no draft: the model is not sure")
        if not draft.same:
            return Opinion(apart=True, reason=draft.reason)
        if refused := self._refusal(draft.text, (old, new), new, one_sense=False):
            return Opinion(remark=f"no draft: {refused}")
        return Opinion(text=draft.text, reason=draft.reason)

    def _ask(self, parts: Sequence[MemoryNote]) -> tuple[str, MergeDraft | None, str]:
        """The model's name, its answer, and why there is none; both '' where no model runs."""
        if self._down:
            return "", None, self._down
        try:
            writer = self._analyst()
            if not isinstance(writer, MergeWriter):
                return "", None, ""
            if self.calls >= MOST_CALLS:
                return "", None, f"a run asks the model at most {MOST_CALLS} times"
            texts = [part.content for part in parts]
            if sum(map(len, texts)) > MOST_CHARACTERS:
                return "", None, "they are too long for the model"
            return writer.name, self._metered(writer, texts), ""
        except (Cancelled, StorageError):
            raise
        except BadModelAnswer as error:
            _log.warning("the text of a merged note is left to the rules: %s", error)
            return "", None, str(error)
        except AmemError as error:  # nobody answers: the rest of the run asks no more
            _log.warning("the texts of merged notes are left to the rules: %s", error)
            self._down = str(error)
            return "", None, self._down

    def _metered(self, writer: MergeWriter, texts: Sequence[str]) -> MergeDraft:
        usage = writer.usage if isinstance(writer, Metered) else None
        before = Cost() if usage is None else usage.here
        self.calls += 1
        try:
            return writer.merge(texts)
        finally:
            if usage is not None:
                self.spent += usage.here - before

    def _refusal(self, text: str, parts: Sequence[MemoryNote], note: MemoryNote, *, one_sense: bool) -> str:
        """Why a draft may not stand for `parts`, '' if it may; `one_sense`: the rules have to read it like a part."""
        if refused := unfaithful(text, parts):
            return refused
        stated = [self._facts(text, note), *(self._facts(part.content, part) for part in parts)]
        if added := [fact for fact in stated[0] if all(fact not in each for each in stated[1:])]:
            return f"its draft states that {added[0].subject} {added[0].predicate} {added[0].object}"
        if not one_sense:
            return ""
        drafted = replace(note, content=text, facts=list(stated[0]))
        for part, facts in zip(parts, stated[1:], strict=True):
            if not difference(drafted, replace(part, facts=list(facts)), self._days):
                return ""
        return "by the rules its draft does not say what they do"

    def _facts(self, text: str, note: MemoryNote) -> tuple[Fact, ...]:
        return facts_in(Draft(text, at=note.at, speaker=note.speaker), self._predicates())


def unfaithful(text: str, parts: Sequence[MemoryNote]) -> str:
    """What a text for `parts` loses or adds, in words; '' if nothing.

    Names, numbers, times, denials and questions must be those of the parts, the language too; every word comes from a
    part, no word of the fullest part is missing, and it is no longer than all of them together.
    """
    texts = [part.content for part in parts]
    if not text:
        return "its draft is empty"
    if any(written_in_cjk(text) is not written_in_cjk(each) for each in texts):
        return "its draft is in another language"
    if len(text) > sum(map(len, texts)):
        return "its draft is longer than all of them"
    folded = normalize(text)
    for part in parts:
        for name in (*part.entities, *entities(part.content)):
            plain = normalize(name)
            if plain in normalize(part.content) and plain not in folded and not any(map(str.isdigit, plain)):
                return f"its draft loses {name}"
    drafted, held = said(text), [said(each) for each in texts]
    for what, wrong in (
        ("a number", all(drafted.numbers != each.numbers for each in held)),
        ("a time", all(drafted.times != each.times for each in held)),
        ("what is denied", all((drafted.denials, denied(drafted)) != (each.denials, denied(each)) for each in held)),
        ("what is asked", all(drafted.questions != each.questions for each in held)),
        ("the order of names", all(_order(folded, parts) != _order(normalize(each), parts) for each in texts)),
    ):
        if wrong:
            return f"its draft changes {what}"
    own, *others = ({word for each in one.sentences for word in each.words} - _JOINING for one in (drafted, *held))
    if added := own - set().union(*others):
        return f"its draft adds {sorted(added)[0]!r}"
    theirs = {whose for one in held for each in one.sentences for whose in each.whose}
    if any(whose not in theirs for each in drafted.sentences for whose in each.whose):
        return "its draft changes whose something is"
    fullest = [words_ for words_ in others if not any(words_ < other for other in others)]
    missing = min((each - own for each in fullest), key=len)
    return f"its draft loses {sorted(missing)[0]!r}" if missing else ""


def _order(folded: str, parts: Sequence[MemoryNote]) -> list[str]:
    """The names of the notes as they follow each other in a folded text."""
    names = {normalize(name) for part in parts for name in part.entities if not any(map(str.isdigit, name))}
    return sorted((name for name in names if name in folded), key=lambda name: (folded.find(name), name))
