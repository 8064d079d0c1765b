"""The vectors in one file, so that a process need not read them from the database row by row.

The file is an ordinary ``.npy`` of the matrix, followed by the keys, the states, the forgotten keys, a JSON header and
a fixed-size end that holds the header's length, a checksum of all before it and a magic word. One file means that one
``os.replace`` changes all of it at once, whoever else reads or writes. It is a cache: nothing is synced to disk, and a
file that is cut short, altered or of another space is simply not used.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import struct
import tempfile
import time
import zlib
from typing import TYPE_CHECKING

import numpy as np

from amem.index.rows import Rows

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

NAME = "vectors.npy"
_PREFIX, _SUFFIX = "vectors.", ".tmp"
_MAGIC = b"amemvec1"
_END = struct.Struct("<II8s")
_CHUNK = 8_192
_LEFT_OVER = 3_600.0


class CacheDamaged(Exception):
    """The file is not what `write_cache` wrote; says why in words."""


def read_cache(path: Path) -> Rows:
    """The rows that the file holds, its matrix mapped into memory. Raises CacheDamaged, or OSError."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size < _END.size:
            raise CacheDamaged("it is cut short")
        # Windows cannot replace a file that someone has mapped, so there it is read instead.
        data: mmap.mmap | bytes = (
            file.read() if os.name == "nt" else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        )
    view = memoryview(data)
    length, checksum, magic = _END.unpack(view[-_END.size :])
    body = len(view) - _END.size
    if magic != _MAGIC or length > body:
        raise CacheDamaged("its end is missing")
    if zlib.crc32(view[:body]) != checksum:
        raise CacheDamaged("its checksum is wrong")
    header = json.loads(bytes(view[body - length : body]))
    count, dimension, lost = header["count"], header["dimension"], header["forgotten"]
    at = body - length - 8 * lost
    forgotten = np.frombuffer(data, dtype="<i8", count=lost, offset=at)
    at -= count
    states = np.frombuffer(data, dtype=np.uint8, count=count, offset=at)
    at -= 8 * count
    keys = np.frombuffer(data, dtype="<i8", count=count, offset=at)
    at -= 4 * count * dimension
    matrix = np.frombuffer(data, dtype="<f4", count=count * dimension, offset=at).reshape(count, dimension)
    return Rows.of(header["seq"], header["space"], matrix, keys, states, forgotten)


def write_cache(path: Path, rows: Rows) -> None:
    """Replace the file by these rows, without those that are gone. Raises OSError and leaves nothing behind then."""
    _sweep(path.parent)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=_PREFIX, suffix=_SUFFIX)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _write(file, rows)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _write(file: BinaryIO, rows: Rows) -> None:
    kept, forgotten = rows.packed()
    checksum = 0

    def put(data: bytes) -> None:
        nonlocal checksum
        checksum = zlib.crc32(data, checksum)
        file.write(data)

    put(_npy_header(len(kept), rows.dimension))
    for start in range(0, len(kept), _CHUNK):
        put(rows.take(kept[start : start + _CHUNK]).astype("<f4").tobytes())
    put(rows.keys[kept].astype("<i8").tobytes())
    put(rows.states[kept].tobytes())
    put(forgotten.astype("<i8").tobytes())
    facts = {
        "seq": rows.seq,
        "space": rows.space,
        "count": len(kept),
        "dimension": rows.dimension,
        "forgotten": len(forgotten),
    }
    header = json.dumps(facts).encode()
    put(header)
    file.write(_END.pack(len(header), checksum, _MAGIC))


def _npy_header(count: int, dimension: int) -> bytes:
    """Header of an .npy file, version 1.0, padded so that the matrix starts on a cache line."""
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({count}, {dimension}), }}"
    padding = -(10 + len(text) + 1) % 64
    line = text.encode() + b" " * padding + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(line)) + line


def _sweep(folder: Path) -> None:
    """Remove what writers that were killed left behind; a file younger than an hour may have a living writer."""
    limit = time.time() - _LEFT_OVER
    for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < limit:
                path.unlink()
