"""What the assistant hands back, and words about it for every front end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from amem.errors import AmemError, InvalidInput, NoteNotFound, ServiceUnavailable, SessionNotFound
from amem.labels import counted
from amem.llm.prompts import CHINESE as ZH
from amem.llm.prompts import language_of
from amem.note import Kind, Summed, as_plain, plain_fields
from amem.rendering import text_of
from amem.retrieval.confidence import Support
from amem.retrieval.entailment import Verdict
from amem.storage.chats import Learning, Recollection, Turn, TurnState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.note import MemoryNote
    from amem.storage.store import Session


# The few lines the assistant says itself, in the language it is spoken to.


@dataclass(frozen=True, slots=True)
class Lines:
    """What is said, in one language: English where nothing else is given."""

    language: str = ""
    not_in_memory: str = "That is not in memory."
    no_answer: str = "(no answer)"
    earlier: str = "Earlier in this conversation, summed up:"
    nothing: str = "(nothing)"
    strong: str = "Support for an answer: strong. One of these notes is very likely to hold it."
    weak: str = (
        "Support for an answer: weak. These notes come near and may not hold it; where they do not, say that it is not"
        " in memory."
    )
    none: str = (
        "Support for an answer: none. Most likely it is not in memory: unless a note plainly states the answer, say"
        " that it is not in memory, and do not guess."
    )
    none_told: str = (
        "The user has been told so already: answer in one short sentence, and ask the user to tell you if it should be"
        " remembered."
    )
    aside: str = "Support for an answer: none or weak. These notes may have nothing to do with the message."
    foreign: str = (
        "some notes are in a language that the embedding model cannot match with this question: one may hold it"
    )
    unread: str = (
        "the embedding model cannot read this question: only its words were looked up, so other words may find more"
    )
    without_model: str = "answered without a model: {}"
    no_model: str = ""
    offline: str = ""
    nearest: str = "Nothing certain; nearest: "
    yet_nearest: str = "; nearest: "
    far: str = "Nothing certain; nearest, though far off: "
    uncertain: str = "Nothing certain"
    outdated: str = ", but this may be out of date: "
    of_others: str = ", but this is said of somebody else"
    of_another_time: str = ", but this was noted at another time"
    without_detail: str = ", but this may not say {}"
    in_part: str = ", but this may be only a part of what is asked"
    in_little: str = ", but this shares few words with the question"
    before: str = "before that: "
    later: str = "later: "
    then: str = "then"
    yes: str = "yes: "
    no: str = "no: "
    no_longer: str = "no longer: "
    nothing_then: str = "that is not in memory: there is nothing for {}"
    notes: str = "{} notes"
    latest: str = "the last {} of {} notes"
    planned: str = "planned: "
    noted: str = "Noted."
    not_noted: str = "I keep nothing of this chat."
    cut: str = "The secret in it, such as a password or a card number, is left out."
    taken_back: str = "What names “{0}” in this chat counts no more. What was saved before: /forget {0}"
    taken_back_last: str = "What you said last counts no more. What was saved before: /forget TEXT"
    idle: str = "Tell me something to save as a note, or ask what is saved."
    colon: str = ": "
    stop: str = "."
    semicolon: str = "; "
    comma: str = ", "

    def verdict(self, verdict: Verdict | None, question: str) -> str:
        """What the answer to a question begins with that says yes or no; '' where it says neither."""
        if self.language and verdict in (Verdict.YES, Verdict.NO):
            # Chinese repeats the verb.
            for asked, yes, no in (
                ("可以", "可以：", "不可以："),
                ("能", "能：", "不能："),
                ("过", self.yes, "没有："),
                ("了吗", self.yes, "没有："),
            ):
                if asked in question:
                    return yes if verdict is Verdict.YES else no
        return {Verdict.YES: self.yes, Verdict.NO: self.no, Verdict.NO_LONGER: self.no_longer, None: ""}[verdict]

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What an answer may begin with that says yes or no."""
        more = ("可以：", "不可以：", "能：", "不能：", "没有：") if self.language else ()
        return (self.yes, self.no, self.no_longer, *more)

    def unanswered(self, error: AmemError, host: str) -> str:
        """That no model answered, and why: in Chinese, which errors are not written in, where no model is at `host` or
        the backend is offline."""
        if isinstance(error, ServiceUnavailable) and self.no_model:
            return self.without_model.format(self.no_model.format(host))
        return self.without_model.format(self.offline if isinstance(error, InvalidInput) and self.offline else error)

    def support(self, support: Support) -> str:
        """What a model is told of how well the notes support an answer."""
        return {Support.STRONG: self.strong, Support.WEAK: self.weak, Support.NONE: self.none}[support]


ENGLISH = Lines()
CHINESE = Lines(
    language=ZH,
    not_in_memory="记忆里没有这件事。",
    no_answer="（没有回答）",
    earlier="这次对话前面部分的摘要：",
    nothing="（无）",
    strong="对答案的支持：强。其中很可能有一条笔记写着答案。",
    weak="对答案的支持：弱。这些笔记相近，但不一定写着答案；没有写的，就说记忆里没有。",
    none="对答案的支持：无。记忆里多半没有：除非有笔记明白写着答案，否则就说记忆里没有，不要猜测。",
    none_told="用户已经被告知：只用一句短话回答，并请用户告诉你需要记住的内容。",
    aside="对答案的支持：弱或无。这些笔记可能与这条消息无关。",
    foreign="有些笔记的语言，嵌入模型无法与这个问题比对：答案可能就在其中",
    unread="嵌入模型读不懂这个问题，只比对了字词：换个说法也许能找到更多",
    without_model="没有用模型回答：{}",
    no_model="没有找到聊天模型（{} 上没有可用的 Ollama 模型）",
    offline="离线后端只整理笔记，不能聊天",
    nearest="没有确定的答案，最接近的是：",
    yet_nearest="，最接近的是：",
    far="没有确定的答案，相差较远、但最接近的是：",
    uncertain="没有确定的答案",
    outdated="，但可能已过时：",
    of_others="，但说的是别人",
    of_another_time="，但这是另一个时间记的",
    without_detail="，但不一定说到{}",
    in_part="，但可能只说到所问的一部分",
    in_little="，但用词与问题不同",
    before="此前：",
    later="后来：",
    then="那时",
    yes="是的：",
    no="不是：",
    no_longer="现在不了：",
    nothing_then="记忆里没有这段时间（{}）的内容",
    notes="{} 条笔记",
    latest="{1} 条笔记中的最后 {0} 条",
    planned="计划过：",
    noted="记下了。",
    not_noted="这次对话的内容我不会保存。",
    cut="其中的密码、卡号等机密不会保存。",
    taken_back="这次对话里提到“{0}”的话不再算数。以前记下的：/forget {0}",
    taken_back_last="你上一句话不再算数。以前记下的：/forget 文字",
    idle="告诉我要记下的事，或者问问记忆里有什么。",
    colon="：",
    stop="。",
    semicolon="；",
    comma="，",
)


def lines_for(text: str) -> Lines:
    """The lines in the language of `text`: Chinese where it is Chinese, else English."""
    return CHINESE if language_of(text) == ZH else ENGLISH


# What the assistant hands back: replies, the pieces they arrive in, what was learnt, what might be forgotten.


@dataclass(frozen=True, slots=True)
class Recalled:
    """A note that was recalled for an answer, with why, as people are shown it.

    `text` is what the note said when it was recalled, '' where it has been purged since. `score` and `trust` lie
    in 0..1; `injected` tells whether it stood in what a model was to read, `supports` whether the answer could rest on
    it, `part` whether it is ``recalled``, a ``core`` note or an ``episode`` of the chat.
    """

    note: str
    version: int
    text: str
    score: float = 0.0
    trust: float = 0.0
    why: str = ""
    injected: bool = True
    supports: bool = False
    part: str = "recalled"
    kind: Kind | None = None
    at: datetime | None = None
    purged: bool = False

    @classmethod
    def of(cls, note: MemoryNote, **why: Any) -> Recalled:
        """A note as it is now; `why` are the fields that tell of its recall."""
        return cls(note.id, note.version, text_of(note), trust=note.trust, kind=note.kind, at=note.at, **why)

    def kept(self) -> Recollection:
        """What of it is stored with the turn."""
        from amem.storage.chats import Recollection

        return Recollection(
            self.note, self.version, round(self.score, 4), self.why, self.injected, self.part, self.supports
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"id": self.note, **plain_fields(self, "note")}


@dataclass(frozen=True, slots=True)
class Reply:
    """One turn's outcome.

    `notice` is a line of amem's own that stands before the answer (that the memory holds nothing about it), `text`
    what the model said (partial when interrupted). When no model answered, `error` says so and `hint` what to do, and
    `recalled` still holds what was found. `in_memory` is False when the question was one only memory could answer and
    nothing recalled supports an answer; None when that could not be told. `turn` is None when incognito.
    """

    text: str
    state: TurnState
    recalled: tuple[Recalled, ...] = ()
    notice: str = ""
    error: str = ""
    hint: str = ""
    model: str = ""
    in_memory: bool | None = None
    session: str = ""
    turn: int | None = None

    @property
    def answered(self) -> bool:
        """True when the model answered in full."""
        return self.state is TurnState.ANSWERED

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "session": self.session,
            "turn": self.turn,
            "answer": self.text,
            "notice": self.notice,
            "in_memory": self.in_memory,
            "state": str(self.state),
            "model": self.model,
            "error": self.error,
            "hint": self.hint,
            "recalled": as_plain(self.recalled),
        }


class PieceKind(StrEnum):
    """What a piece of a streamed reply is."""

    RECALLED = "recalled"
    """Recall is over and the model is about to be asked: `recalled` is filled in."""
    NOTICE = "notice"
    """`text` is a line of amem's own, to be shown before the answer."""
    TEXT = "text"
    """`text` is the next part of the answer."""
    DONE = "done"
    """The end, always sent: `reply` is the whole reply, with the error if there was one."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a reply as it arrives."""

    kind: PieceKind
    text: str = ""
    recalled: tuple[Recalled, ...] = ()
    reply: Reply | None = None


@dataclass(frozen=True, slots=True)
class Learnt(Summed):
    """What was learnt from a turn (or from a day's). `operations` are what `undo` takes back.

    `saved` are titles of notes that were made, `ended` of notes that hold no longer, where they are known. `degraded`
    says that the model failed and the offline rules did it for now; `error` why.
    """

    remembered: int = 0
    updated: int = 0
    superseded: int = 0
    corroborated: int = 0
    episodes: int = 0
    turns: int = 0
    operations: tuple[int, ...] = ()
    degraded: bool = False
    error: str = ""
    waiting: int = 0
    saved: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()

    def line(self) -> str:
        """``saved “I moved to Porto”: undo with /undo``; '' when nothing came of it."""
        return self.words(undo=": undo with /undo")

    def words(self, undo: str = "") -> str:
        """``saved “I moved to Porto”, “I live in Faro” no longer holds``, then how to `undo` that; '' for nothing."""
        parts = [self._told_saved()] if self.remembered else []
        parts += [f"updated {counted(self.updated, 'note')}"] if self.updated else []
        parts += [self._told_ended()] if self.superseded else []
        if self.corroborated:
            parts.append(
                f"{counted(self.corroborated, 'note')} {'says' if self.corroborated == 1 else 'say'} so already"
            )
        said = ", ".join(parts)
        if said:
            said += undo
        if self.degraded:
            said = "; ".join(part for part in (said, f"learnt by the built-in rules for now ({self.error})") if part)
        elif self.error:
            said = "; ".join(part for part in (said, f"not learnt from yet: {self.error}") if part)
        return said

    def _told_saved(self) -> str:
        if self.remembered == 1:
            return f"saved “{self.saved[0]}”" if len(self.saved) == 1 else "saved 1 note"
        return f"saved {self.remembered:,} notes"

    def _told_ended(self) -> str:
        if self.superseded == 1:
            return f"{f'“{self.ended[0]}”' if len(self.ended) == 1 else '1 note'} no longer holds"
        return f"{self.superseded:,} notes no longer hold"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note that `forget` might mean: shown first, deleted only when chosen by its id."""

    note: str
    text: str
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What `forget` did: `note` is the id it hid, or None with the `candidates` to choose from.

    `worded` is False where none of them has any of the words, and they merely come near in meaning. `operation` is what
    brings a hidden note back when it is undone.
    """

    note: str | None
    candidates: tuple[Candidate, ...] = ()
    worded: bool = True
    operation: int | None = None


@dataclass(frozen=True, slots=True)
class Replayed:
    """A turn as it was, with what the recalled notes said then and what was learnt from it (note ids)."""

    turn: Turn
    recalled: tuple[Recalled, ...]
    learnt: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        turn = self.turn
        return {
            "turn": turn.number,
            "at": turn.at.isoformat(),
            "question": turn.question,
            "answer": turn.answer,
            "state": str(turn.state),
            "in_memory": turn.supported,
            "model": turn.model,
            "prompt": turn.prompt,
            "error": turn.error,
            "recalled": as_plain(self.recalled),
            "learning": str(turn.learning),
            "learnt": list(self.learnt),
            "operation": turn.learnt_by,
            "tokens_in": turn.tokens_in,
            "tokens_out": turn.tokens_out,
        }

    def reply(self) -> Reply:
        """The reply as far as it is kept: without its notice and hint."""
        turn = self.turn
        return Reply(
            text=turn.answer,
            state=turn.state,
            recalled=self.recalled,
            error=turn.error,
            model=turn.model,
            in_memory=turn.supported,
            session=turn.session,
            turn=turn.number,
        )


# Words about replies, for every front end: how a turn ended, what was recalled for it, what of that to show.

#: A recalled note, with its words or as it is kept with the turn.
Found = TypeVar("Found", "Recalled", "Recollection")

#: What is said of a turn that has not been learnt from as it should be; nothing where it was.
LEARNING = {
    Learning.WAITING: "not learnt from yet",
    Learning.DEGRADED: "learnt by the built-in rules for now",
    Learning.OFF: "not learnt from",
}
_FEW = 5


def ended(state: TurnState, error: str) -> str:
    """How a turn ended; the error in whatever words it came, which may be of any length and on several lines."""
    why = f": {error}" if error else ""
    match state:
        case TurnState.ANSWERED:
            return "answered"
        case TurnState.ASKED:
            return "never answered: the terminal was closed meanwhile"
        case TurnState.INTERRUPTED:
            return f"the answer broke off{why}" if why else "the answer was stopped"
    return f"no model answered{why}"


def was_shown(state: TurnState, model: str) -> bool:
    """Whether the `model` surely read what was recalled for a turn that came so far; '' is none.

    Of a turn that has no end nobody knows; one that a failing model left without an answer may never have reached it.
    """
    return bool(model) and state in (TurnState.ANSWERED, TurnState.INTERRUPTED)


def best(found: Sequence[Found]) -> list[Found]:
    """The few worth showing in place of an answer: those that support one, else those that come nearest."""
    supporting = [each for each in found if each.supports]
    return (supporting or [each for each in found if each.part == "recalled"])[:_FEW]


@dataclass(frozen=True, slots=True)
class Group:
    """Recalled notes of one sort, best first; `whole` when they are worth more than a line each."""

    title: str
    notes: tuple[Recalled, ...]
    whole: bool = False


def grouped(found: Sequence[Recalled], *, shown: bool) -> list[Group]:
    """What was recalled by what became of it; no group is empty. `shown` tells whether a model read any of it."""

    def of(part: str, *injected: bool) -> tuple[Recalled, ...]:
        return tuple(each for each in found if each.part == part and each.injected in (injected or (True, False)))

    if not shown:
        groups = [
            Group("came to mind, best first", of("recalled"), whole=True),
            Group("core notes", of("core")),
        ]
    else:
        groups = [
            Group("shown to the model, best first", of("recalled", True), whole=True),
            Group("came to mind, not shown to the model", of("recalled", False)),
            Group("shown with every message", of("core")),
        ]
    groups.append(Group("what was said earlier, summed up", of("episode")))
    return [group for group in groups if group.notes]


# Turns as they were: what the recalled notes said then, though they may have been rewritten or purged since.


def replay(session: Session, chat: str, number: int | None = None) -> list[Replayed]:
    """The turns of a chat (or one of them) with what was recalled and learnt. Raises SessionNotFound."""
    turns = session.chats.turns(chat)
    wanted = [turn for turn in turns if number is None or turn.number == number]
    if not wanted:
        what = f"chat {chat!r} has no turn {number}" if turns else f"no chat {chat!r} with any turns"
        raise SessionNotFound(what, hint=f"it has 1 to {turns[-1].number}" if turns else "amem chat --list shows them")
    return [
        Replayed(turn, tuple(_as_it_was(session, each) for each in turn.recalled), learnt_notes(session, turn))
        for turn in wanted
    ]


def learnt_notes(session: Session, turn: Turn) -> tuple[str, ...]:
    """Ids of the notes that learning from the turn made or changed."""
    if turn.learnt_by is None:
        return ()
    found: dict[str, None] = {}
    for operation in reversed(session.operations.family(turn.learnt_by)):
        held = session.operations.get(operation)
        found.update(dict.fromkeys((*held.created, *held.notes)))
    return tuple(found)


def _as_it_was(session: Session, kept: Recollection) -> Recalled:
    try:
        history = session.operations.history(kept.note)
    except NoteNotFound:
        history = []
    now = session.notes.get_many([kept.note], history=False, deleted=True).get(kept.note)
    content = now.content if now else ""
    for version in reversed(history):
        if version.version > kept.version and "content" in version.changes:
            content = str(version.changes["content"][0])
    return Recalled(
        note=kept.note,
        version=kept.version,
        text=content,
        score=kept.score,
        trust=now.trust if now else 0.0,
        why=kept.why,
        injected=kept.injected,
        supports=kept.supports,
        part=kept.part,
        kind=now.kind if now else None,
        at=now.at if now else None,
        purged=now is None,
    )


def last_learnt(session: Session, turns: Sequence[Turn]) -> int | None:
    """The newest operation that learnt something from one of these turns and was not taken back."""
    operations = session.operations
    for turn in reversed(turns):
        if turn.learnt_by is None or operations.get(turn.learnt_by).undone:
            continue
        if operations.left_something(turn.learnt_by):  # most turns teach nothing
            return turn.learnt_by
    return None
