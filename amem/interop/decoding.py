"""Files to bytes and bytes to text: regular files and UTF-8, or a clear refusal that says what is there instead."""

from __future__ import annotations

import codecs
import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

_BLOCK = 1 << 20
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
