"""Words that take back what was said before: "forget that", "never mind what I said about the trip", 算了, 当我没说."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from amem.note import Status
from amem.text import sentences
from amem.writing.conflict.candidates import states_something
from amem.writing.conflict.claims import claim_of
from amem.writing.conflict.leaning import flag_what_leans
from amem.writing.conflict.standing import free, lift_all_by, standing_after, unlink_successors

if TYPE_CHECKING:
    from amem.note import MemoryNote
    from amem.storage import Session
    from amem.truth.predicates import Predicates

#: A note told by itself takes back the one told right before it, not what was said on another day.
_RIGHT_BEFORE = timedelta(hours=1)
_END = r"(?=\s*(?:[,.;:!?…—–-]|$))"
_SAID = r"(?:said|told you|wrote|mentioned)"
_ENGLISH = re.compile(
    r"(?:(?:no|oh|wait|ok(?:ay)?|actually|sorry|hm+|please|well|and|but|just)\b[,.!… ]*)*"
    r"(?:"
    rf"(?:forget|scratch|ignore|disregard|strike|never ?mind) "
    rf"(?:that|this|(?:what|everything|all|the thing|the part) (?:that )?I(?:'ve| have)?(?: just)? {_SAID}"
    rf"|(?:that )?I (?:just )?(?:said|mentioned) (?:that|it)|my last (?:message|note|sentence|statement))"
    r"(?: (?:just now|earlier|before|a (?:minute|moment) ago))?"
    r"(?: (?:about|on|regarding) (?P<about>[^,.;:!?]{2,60}))?"
    r"|I take (?:that|it|what I (?:just )?said)(?: back)(?: about (?P<of>[^,.;:!?]{2,60}))?"
    rf"|I didn['’]t (?:mean|say) that"
    r")" + _END,
    re.IGNORECASE,
)
_JUST = r"(?:我)?(?:刚才|刚刚|刚|之前|上面|前面)?(?:我)?"
_CHINESE = re.compile(
    r"(?:(?:不|不对|哦|噢|等等|等一下|抱歉|不好意思|呃|啊|嗯|那|还是|请|麻烦)[，,。！!…\s]*)*"
    r"(?:"
    r"算了(?:吧)?(?=\s*(?:[。.!！…~]|$))"
    r"|(?:算了(?:吧)?[，,\s]*)?(?:"
    r"(?:就)?当我没(?:说|讲|提)(?:过)?"
    rf"|(?:忘掉|忘了|忘记|忽略|别管|不用管|撤回|收回){_JUST}(?:说|讲|提)(?:过|到)?的?"
    r"(?:(?:关于|有关)(?P<about>[^，,。！!？?；;]{1,20}?)的?)?(?:话|事情?|那句话?|那些话?|内容)?"
    rf"|{_JUST}(?:说|讲)的(?:话|那句)?(?:不算|不作数|作废|收回)"
    r"|(?:收回|撤回)(?:我)?(?:刚才|刚刚|前面|上面)的话"
    r"|(?:刚才|刚刚|上一?|前一?)(?:那|这)?(?:句话?|条)(?:不算|不作数|作废|收回|当我没说)"
    r"))(?:吧|了|啊)?(?=\s*(?:[，,。.；;！!？?…~]|$))"
)

_BREAKS = " \t\n,.;:!?…—–-~，。；：！？、"


@dataclass(frozen=True, slots=True)
class TakeBack:
    """Where a text takes something back: `before` is what the text itself says before that, `about` what it names."""

    before: str
    about: str = ""


def take_back_in(text: str) -> TakeBack | None:
    """The first sentence of a text that takes back what was said; None where none does."""
    said: list[str] = []
    for sentence in sentences(text):
        bare = sentence.strip()
        match = _ENGLISH.match(bare) or _CHINESE.match(bare)
        if match is not None:
            about = next((value for value in match.groupdict().values() if value), "")
            return TakeBack(" ".join(said[-1:]), about.strip())
        said.append(bare)
    return None


def without_take_backs(text: str, *, bare: bool = False) -> str:
    """`text` without the words that take something back; '' when it says nothing else.

    With `bare` a sentence that goes on after them ("scratch that, to Bonn") stays whole.
    """
    every = sentences(text)
    kept = [sentence if bare and _beside(sentence) else _beside(sentence) for sentence in every]
    return text if kept == every else " ".join(each for each in kept if each)


def _beside(sentence: str) -> str:
    match = _ENGLISH.match(sentence) or _CHINESE.match(sentence)
    return sentence if match is None else sentence[match.end() :].lstrip(_BREAKS)


def said_right_before(session: Session, note: MemoryNote) -> MemoryNote | None:
    """The note that `note`, told by itself, takes back: the last that the same person told a moment ago.

    A line of a file takes nothing back, and of what is said in a conversation more is known there. Nothing is taken
    back twice, or against a person's word.
    """
    found = take_back_in(note.content)
    if found is None or found.before or found.about or note.at is None:
        return None
    key = session.notes.told_before(note, since=note.at - _RIGHT_BEFORE)
    if key is None or session.sources.of([note.id])[note.id]:
        return None
    last, owned = session.notes.bare([key])[key]
    stands = last.status is Status.ACTIVE and owned.get("status") != "edited"
    return last if stands and states_something(last) else None


def void(session: Session, note: MemoryNote, predicates: Predicates, operation: int) -> None:
    """Take a note back as if it had never been so; what it had taken the place of stands again."""
    began = claim_of(session, note, 0).true_at
    for id in session.notes.replaced_by([note.id]):
        free(session, id, operation)
        unlink_successors(session, id, operation)
    lift_all_by(session, [note.id], operation)
    session.notes.change(note.id, standing_after(note, None, began), operation)
    flag_what_leans(session, note, None, session.now, predicates, operation)
