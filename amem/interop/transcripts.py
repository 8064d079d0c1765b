"""What was said in session files of coding agents and exports of chats, to be remembered as conversations.

Claude Code and Codex keep JSON Lines that grow while a session lasts; ChatGPT and Claude export an archive with one
list of all conversations, which is read one by one. Tool calls, their output and the model's thoughts are left out,
as is what the programs put into a person's mouth: it is long, nobody said it, and the project's files hold it better.
"""

from __future__ import annotations

import re
import zipfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

from amem.errors import InvalidInput
from amem.interop.decoding import decode, elements_of, leads_out, lines_of, object_of, reading, whole
from amem.interop.formats import Format, recognise
from amem.interop.items import Refused
from amem.labels import counted
from amem.note import Message, Role, as_plain, plain_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

SESSIONS = (Format.CLAUDE_CODE, Format.CODEX)
EXPORTS = (Format.CHATGPT, Format.CLAUDE, Format.MESSAGES)
#: What an archive holds the conversations in.
_LISTED = "conversations.json"
#: What people and models write packs to a tenth; what is large and packs to less than this part is to fill memory.
_PACKED, _LARGE = 100, 64 * 1024**2
#: Messages remembered as one operation: a long session never has to fit into memory, and can be stopped in between.
_AT_ONCE = 400
#: What Claude Code writes as if a person had: commands and their output, reminders to the model.
_MARKED = re.compile(
    r"<(system-reminder|command-[a-z]+|local-command-[a-z]+|bash-[a-z]+|ide_[a-z_]+|task-notification)>.*?</\1>",
    re.DOTALL,
)
#: How what Codex tells its model on a person's behalf begins.
_PREAMBLES = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions",
    "<turn_aborted>",
    "# AGENTS.md instructions",
)


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a session, and which conversation that is."""

    conversation: str
    message: Message


class Remembered(Protocol):
    """What remembering messages did, as far as it is counted here."""

    @property
    def operation(self) -> int | None: ...

    @property
    def episodes(self) -> tuple[str, ...]: ...

    @property
    def learnt(self) -> tuple[object, ...]: ...

    @property
    def known(self) -> int: ...

    @property
    def waiting(self) -> int: ...


class Memory(Protocol):
    """What sessions are remembered in."""

    def remember(self, messages: list[Message], *, conversation: str) -> Remembered: ...


@dataclass(slots=True)
class SessionReport:
    """What remembering sessions did: how many `messages` were new and `known`, `episodes` made, notes `learnt`.

    `waiting` episodes wait for a worker; `operations` undo it, one after the other.
    """

    messages: int = 0
    known: int = 0
    episodes: int = 0
    learnt: int = 0
    waiting: int = 0
    refused: list[Refused] = field(default_factory=list)
    operations: list[int] = field(default_factory=list)

    def summary(self) -> str:
        """``learnt 3 notes from 12 messages, 1 episode, 4 known already``."""
        parts = [
            f"learnt {counted(self.learnt, 'note')} from {counted(self.messages, 'message')}",
            counted(self.episodes, "episode"),
        ]
        parts += [f"{self.known:,} known already"] if self.known else []
        parts += [f"skipped {len(self.refused):,}"] if self.refused else []
        return ", ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        counts = plain_fields(self, "refused", "operations")
        return counts | {"problems": as_plain(self.refused), "operations": list(self.operations)}


def session_files(path: Path, format: Format | None) -> list[tuple[Path, Format]]:
    """The session files at a path with their formats: the file, or all below a folder where `format` names theirs.

    Empty for anything else. The files of agents that another agent started are left out of a folder. Raises
    InvalidInput for a file that cannot be read and a folder without any.
    """
    if path.is_dir():
        if format not in SESSIONS:
            return []
        every = (each for each in path.rglob("*.jsonl") if not each.name.startswith("agent-"))
        found = sorted(each for each in every if not leads_out(each, path.resolve()))
        if not found:
            raise InvalidInput(f"{path} holds no session files", hint="name a folder with .jsonl files in it")
        return [(each, format) for each in found]
    with conversations_in(path) as stream:
        shape = format or recognise(stream, None if path.suffix.lower() == ".zip" else path)
    return [(path, shape)] if shape in (*SESSIONS, *EXPORTS) else []


@contextmanager
def conversations_in(path: Path) -> Iterator[BinaryIO]:
    """The file, or the list of conversations in the archive that it is, open. Raises InvalidInput."""
    if path.suffix.lower() != ".zip":
        with reading(path) as stream:
            yield stream
        return
    with ExitStack() as stack:
        try:
            archive = stack.enter_context(zipfile.ZipFile(stack.enter_context(reading(path))))
            name = next(each for each in archive.namelist() if each.rpartition("/")[2] == _LISTED)
        except (zipfile.BadZipFile, StopIteration) as error:
            raise InvalidInput(
                f"{path} is no export of conversations: {error or f'it holds no {_LISTED}'}",
                hint="name the archive that ChatGPT or Claude sent, or the JSON file in it",
            ) from error
        held = archive.getinfo(name)  # no more is read of it than it says here
        if held.file_size > max(_LARGE, _PACKED * held.compress_size):
            raise InvalidInput(
                f"{path} would unpack to {held.file_size:,} bytes from {held.compress_size:,}, as no conversations do",
                hint=f"unpack {_LISTED} yourself and name that file, if you trust it",
            )
        yield cast("BinaryIO", stack.enter_context(archive.open(name)))


def read_session(stream: BinaryIO, name: str, format: Format) -> Iterator[Said | Refused]:
    """What was said in a session, in order; a line that cannot be used is refused by its number, the others go on.

    The last line may be half written: whoever reads the file again will find it whole.
    """
    session = ""
    for number, place, line in lines_of(stream):
        if line is None or not line.strip():
            continue  # a picture, say; no message is so long
        try:
            held = object_of(decode(line, "the line", at=place))
        except InvalidInput as error:
            if line.endswith(b"\n"):
                yield Refused(f"{name}, line {number}", str(error))
            continue
        if format is Format.CODEX:
            payload = held.get("payload")
            payload = payload if isinstance(payload, dict) else {}
            if held.get("type") == "session_meta" and isinstance(payload.get("id"), str):
                session = payload["id"]
            found = _of_codex(held, payload, f"codex-{session or name}", number)
        else:
            found = _of_claude_code(held, name)
        if found is not None:
            yield found


def read_export(stream: BinaryIO, name: str, format: Format) -> Iterator[Said | Refused]:
    """What was said in each conversation of an export, in order; one that cannot be read is refused by its number."""
    if format is Format.MESSAGES:
        yield from _of_messages(stream, name)
        return
    for number, held in enumerate(elements_of(stream, name, "conversations"), start=1):
        try:
            yield from _of_chatgpt(held) if format is Format.CHATGPT else _of_claude(held)
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            yield Refused(f"{name}, conversation {number}", f"not one of {format}: {type(error).__name__} {error}")


def remember_sessions(
    memory: Memory,
    files: Iterable[tuple[Path, Format]],
    *,
    progress: Callable[[int, int | None], None] | None = None,
    report: SessionReport | None = None,
) -> SessionReport:
    """Remember session files, each message once: what a file says again, or said before, is known and left out.

    `progress` hears (messages read, None). A `report` handed in grows as it goes, and is true even after an error; the
    same call goes on from there. Raises InvalidInput for a file that cannot be read.
    """
    report = SessionReport() if report is None else report
    for path, format in files:
        with conversations_in(path) as stream:
            read = read_export if format in EXPORTS else read_session
            said = _usable(read(stream, path.name, format), report)
            while some := list(islice(said, _AT_ONCE)):
                for conversation, group in groupby(some, key=lambda each: each.conversation):
                    messages = [each.message for each in group]
                    _count(report, len(messages), memory.remember(messages, conversation=conversation))
                if progress is not None:
                    progress(report.messages + report.known, None)
    return report


def _usable(items: Iterable[Said | Refused], report: SessionReport) -> Iterator[Said]:
    for item in items:
        if isinstance(item, Refused):
            report.refused.append(item)
        else:
            yield item


def _count(report: SessionReport, messages: int, done: Remembered) -> None:
    report.known += done.known
    report.messages += messages - done.known
    report.episodes += len(done.episodes)
    report.learnt += len(done.learnt)
    report.waiting += done.waiting
    if done.operation is not None:
        report.operations.append(done.operation)


def _of_claude_code(held: Mapping[str, Any], name: str) -> Said | None:
    message = held.get("message")
    if held.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return None
    # A summary says again what was said; a side chain is between two agents.
    if any(held.get(flag) for flag in ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage")):
        return None
    text = _MARKED.sub("", _text(message.get("content"))).strip()
    if not text:
        return None
    session = held.get("sessionId")
    conversation = f"claude-code-{session if isinstance(session, str) else name.removesuffix('.jsonl')}"
    id = held.get("uuid")
    return Said(
        conversation, Message(Role(held["type"]), text, _moment(held), None, id if isinstance(id, str) else None)
    )


def _of_codex(held: Mapping[str, Any], payload: Mapping[str, Any], conversation: str, number: int) -> Said | None:
    # Before September 2025 a line was what is the payload now.
    item = payload if held.get("type") == "response_item" else held
    if item.get("type") != "message" or item.get("role") not in ("user", "assistant"):
        return None
    text = _text(item.get("content")).strip()
    if not text or text.startswith(_PREAMBLES):
        return None
    # Messages have no ids of their own, but lines are only ever added.
    return Said(conversation, Message(Role(item["role"]), text, _moment(held), None, f"{conversation}:{number}"))


def _of_chatgpt(held: dict[str, Any]) -> Iterator[Said]:
    """The branch of a conversation that its owner saw last."""
    conversation, node = f"chatgpt-{held.get('conversation_id') or held['id']}", held.get("current_node")
    branch: list[dict[str, Any]] = []
    while node is not None and len(branch) <= len(held["mapping"]):
        branch.append(held["mapping"][node])
        node = branch[-1].get("parent")
    for message in (each["message"] for each in reversed(branch) if each.get("message")):
        hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
        parts = [part for part in (message["content"].get("parts") or []) if isinstance(part, str)]
        text, role = "\n\n".join(parts).strip(), message["author"]["role"]
        if text and role in ("user", "assistant") and not hidden:
            said = message.get("create_time")
            at = None if said is None else datetime.fromtimestamp(said, UTC)
            yield Said(conversation, Message(Role(role), text, at, None, message["id"]))


def _of_claude(held: dict[str, Any]) -> Iterator[Said]:
    conversation = f"claude-{held['uuid']}"
    for message in held["chat_messages"]:
        text = (message.get("text") or _text(message.get("content"))).strip()
        if text:
            role = Role.USER if message["sender"] == "human" else Role.ASSISTANT
            at = datetime.fromisoformat(message["created_at"]) if message.get("created_at") else None
            yield Said(conversation, Message(role, text, at, None, message["uuid"]))


def _of_messages(stream: BinaryIO, name: str) -> Iterator[Said | Refused]:
    """Messages with a role and a content: a list, one for each line, or either of whole conversations of them.

    Messages that stand alone are one conversation, under the file's name.
    """
    start = stream.tell()
    first = next(iter(stream.readline().split()), b"")
    stream.seek(start)
    listed = first.startswith(b"[")
    items: Iterable[Any] = elements_of(stream, name, "conversations") if listed else _lines_or_whole(stream, name)
    alone = name.rpartition(".")[0] or name
    for number, item in enumerate(items, start=1):
        if isinstance(item, Refused):
            yield item
            continue
        try:
            held = item.get("messages", [item])
            conversation = alone if "messages" not in item else f"{alone}-{item.get('id') or number}"
            yield from (Said(conversation, said) for each in held if (said := _message(each)) is not None)
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            yield Refused(f"{name}, {number}", f"no message with a role and a content: {type(error).__name__} {error}")


def _message(held: dict[str, Any]) -> Message | None:
    text = _text(held["content"]).strip()
    if held["role"] not in ("user", "assistant") or not text:
        return None
    said = next((held[name] for name in ("at", "timestamp", "created_at", "time") if held.get(name)), None)
    at = datetime.fromtimestamp(said, UTC) if isinstance(said, int | float) else said and datetime.fromisoformat(said)
    return Message(Role(held["role"]), text, at or None, held.get("name"), held.get("id"))


def _lines_or_whole(stream: BinaryIO, name: str) -> Iterator[dict[str, Any] | Refused]:
    """The objects of a file of lines, or the one object that all lines are."""
    start = stream.tell()
    try:
        object_of(decode(stream.readline(), name))
    except InvalidInput:
        stream.seek(start)
        yield object_of(decode(whole(stream, name), name))
        return
    stream.seek(start)
    for number, place, line in lines_of(stream):
        try:
            if line is not None and line.strip():
                yield object_of(decode(line, "the line", at=place))
        except InvalidInput as error:
            yield Refused(f"{name}, line {number}", str(error))


def _text(content: Any) -> str:
    """The text of a message: as it is, or of its blocks that hold some."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [
        block["text"]
        for block in blocks
        if isinstance(block, dict)
        and block.get("type") in ("text", "input_text", "output_text")
        and isinstance(block.get("text"), str)
    ]
    return "\n\n".join(texts)


def _moment(held: Mapping[str, Any]) -> datetime | None:
    said = held.get("timestamp")
    try:
        return datetime.fromisoformat(said) if isinstance(said, str) else None
    except ValueError:
        return None  # then it is as old as its import
