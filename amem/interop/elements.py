"""The objects of a JSON list, one at a time: an export may be larger than memory."""

from __future__ import annotations

import codecs
import json
from typing import TYPE_CHECKING, Any

from amem.errors import InvalidInput
from amem.interop.decoding import WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

_BLOCK = 1 << 16


def elements_of(stream: BinaryIO, name: str, what: str) -> Iterator[Any]:
    """What the list that begins here holds; `what` names that in errors. What stands behind the list is not read.

    Raises InvalidInput where this is no such list, it breaks off, or one element is larger than a file read whole.
    """
    text, decoder, held, size = codecs.getreader("utf-8-sig")(stream), json.JSONDecoder(), "", _BLOCK
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
            held, size = held[end:], _BLOCK
            yield element
    except (UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(f"{name} cannot be read: {error}", hint="export it again") from error
