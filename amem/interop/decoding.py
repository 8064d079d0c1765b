"""Files to bytes, bytes to text, and a stream to its lines or to the elements of its JSON list, one at a time.

What is no regular file, no UTF-8, no JSON or too large is refused with a word on what is there instead.
"""

from __future__ import annotations

import codecs
import json
import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from amem.errors import InvalidInput, with_hint

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Bytes that are checked, and characters that are parsed, at once.
_BLOCK, _FIRST = 1 << 20, 1 << 16
#: Bytes of a line that holds one note.
LONGEST_LINE = 16 << 20
#: Bytes of a file that is read whole, such as Markdown.
WHOLE = 64 << 20
_HINT = "convert it to UTF-8 first, for instance with iconv"
_BOMS = ((codecs.BOM_UTF16_LE, "UTF-16"), (codecs.BOM_UTF16_BE, "UTF-16"))


@contextmanager
def reading(path: Path) -> Iterator[BinaryIO]:
    """The file, open for reading bytes. Raises InvalidInput when it cannot be read, or is a device, a pipe or a folder.

    A pipe would keep its reader waiting for a writer, and some devices never end.
    """
    try:
        # Without waiting: what a pipe is, is seen only once it is open.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise InvalidInput(
            f"cannot read {path}: {error.strerror}", hint="check the path and its permissions"
        ) from error
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InvalidInput(
                f"{path} is not a regular file", hint="pipe into amem import - what comes from elsewhere"
            )
        yield stream


def whole(stream: BinaryIO, name: str) -> bytes:
    """The rest of a stream. Raises InvalidInput where that is more than `WHOLE` bytes."""
    data = stream.read(WHOLE + 1)
    if len(data) > WHOLE:
        raise InvalidInput(f"{name} is larger than {WHOLE >> 20} MB", hint="cut it into files that a person could read")
    return data


def leads_out(path: Path, root: Path) -> bool:
    """Whether a file of a folder is a link to something outside it: what is there nobody meant to hand over."""
    return path.is_symlink() and not path.resolve().is_relative_to(root)


def refusal(error: Exception, name: str) -> str:
    """What is wrong with the file of this name, and what to do about it, for a line that begins with the name."""
    said = with_hint(error).removeprefix(f"{name} ")
    return f"it {said}" if said.startswith("is ") else said


def check_utf8(stream: BinaryIO, name: str) -> None:
    """Read to the end and back to the start. Raises InvalidInput with the position of the first byte that is wrong."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    start = stream.tell()
    seen = 0
    while True:
        block = stream.read(_BLOCK)
        held = len(decoder.getstate()[0])
        if seen == 0:
            _refuse_other_encodings(block, name)
        try:
            decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            raise _wrong(error, name, seen - held + error.start) from error
        if not block:
            break
        seen += len(block)
    stream.seek(start)


def decode(data: bytes, name: str, *, at: int = 0) -> str:
    """The text of these bytes, without a byte order mark. Raises InvalidInput; `at` is where in the file they start."""
    if at == 0:
        _refuse_other_encodings(data, name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _wrong(error, name, at + error.start) from error
    return text.removeprefix("\ufeff") if at == 0 else text


def _refuse_other_encodings(data: bytes, name: str) -> None:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            raise InvalidInput(f"{name} is {encoding}, not UTF-8", hint=_HINT)


def _wrong(error: UnicodeDecodeError, name: str, position: int) -> InvalidInput:
    byte = error.object[error.start]
    return InvalidInput(f"{name} is not UTF-8: byte 0x{byte:02x} at position {position:,}", hint=_HINT)


def elements_of(stream: BinaryIO, name: str, what: str) -> Iterator[Any]:
    """What the list that begins here holds; `what` names that in errors. What stands behind the list is not read.

    Raises InvalidInput where this is no such list, it breaks off, or one element is larger than a file read whole.
    """
    text, decoder, held, size = codecs.getreader("utf-8-sig")(stream), json.JSONDecoder(), "", _FIRST
    opened = False
    try:
        while True:
            held = held.lstrip(" \t\r\n," if opened else " \t\r\n")
            if held.startswith("]") and opened:
                return
            if held.startswith("[") and not opened:
                opened, held = True, held[1:]
                continue
            try:
                if held and not opened:
                    raise InvalidInput(f"{name} is not a list of {what}", hint="export it again")
                element, end = decoder.raw_decode(held)
            except json.JSONDecodeError as error:
                more = text.read(size) if len(held) <= WHOLE else ""
                if not more:
                    raise InvalidInput(f"{name} is not a list of {what}: {error}", hint="export it again") from error
                held, size = held + more, size * 2
                continue
            held, size = held[end:], _FIRST
            yield element
    except (UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(f"{name} cannot be read: {error}", hint="export it again") from error


def lines_of(stream: BinaryIO) -> Iterator[tuple[int, int, bytes | None]]:
    """(number from 1, byte position, line); None for a line that is too long to be one note."""
    number = place = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        began = place
        place += len(line)
        if line.endswith(b"\n") or len(line) < LONGEST_LINE:
            yield number, began, line
            continue
        while rest := stream.readline(LONGEST_LINE):
            place += len(rest)
            if rest.endswith(b"\n"):
                break
        yield number, began, None


def object_of(text: str) -> dict[str, Any]:
    """The object that a line is. Raises InvalidInput."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise InvalidInput("JSON nested too deeply") from None
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise InvalidInput(f"not JSON: {reason}") from error
    if not isinstance(value, dict):
        raise InvalidInput('not a JSON object; write {"content": "..."}')
    return value
