"""Bytes to text: UTF-8 or a clear refusal that says where it stops being UTF-8."""

from __future__ import annotations

import codecs
from contextlib import contextmanager
from typing import TYPE_CHECKING

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

_BLOCK = 1 << 20
_HINT = "convert it to UTF-8 first, for instance with iconv"
_BOMS = ((codecs.BOM_UTF16_LE, "UTF-16"), (codecs.BOM_UTF16_BE, "UTF-16"))


@contextmanager
def reading(path: Path) -> Iterator[BinaryIO]:
    """The file, open for reading bytes. Raises InvalidInput when it cannot be read."""
    try:
        stream = path.open("rb")
    except OSError as error:
        raise InvalidInput(
            f"cannot read {path}: {error.strerror}", hint="check the path and its permissions"
        ) from error
    with stream:
        yield stream


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
