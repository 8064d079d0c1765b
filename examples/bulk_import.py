"""Many notes at once: stored first, analysed afterwards, and safe to interrupt at any moment.

    .venv/bin/python examples/bulk_import.py ~/notes journal.txt

Each line of the file becomes a note (without a file: three hundred invented ones). The notes are on disk and can be
found within seconds; the analysis by a model, if there is one, goes on behind. Press Ctrl-C, pull the plug, start it
again: no line is stored twice, and the analysis goes on where it was.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from amem import AgenticMemorySystem, AmemError, NewNote, Source

INVENTED = [f"Tide gauge {number} at berth {number % 12} was read by Inês." for number in range(300)]


def main(folder: str, lines: list[str], origin: str) -> None:
    def refused(position: int, error: AmemError) -> None:
        print(f"line {position + 1} was left out: {error}")

    with AgenticMemorySystem(directory=folder, notify=print) as memory:
        receipts = memory.add_notes(
            [note_of(line, number, origin) for number, line in enumerate(lines)],
            cause=f"import of {origin}",
            on_refused=refused,
            progress=lambda done, total: print(f"stored {done} of {total}"),
            wait=False,
        )
        print(f"new: {sum(receipt.stored for receipt in receipts)}, known: {sum(not each.stored for each in receipts)}")
        # They can be found already, whoever analyses them and whenever.
        print("first hit:", memory.search("berth 7", k=1)[0].content)
        memory.wait()
        print("all analysed:", memory.count(), "notes")


def note_of(line: str, number: int, origin: str) -> NewNote:
    """A note with a source of its own. The source's id says what a line is the same as when it is imported again."""
    id = hashlib.sha256(f"{origin}\n{number}\n{line}".encode()).hexdigest()
    return NewNote(line, source=Source(id, "line", None, f"{origin}:{number + 1}", None, None, line, number))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        if len(sys.argv) > 2:
            main(sys.argv[1], Path(sys.argv[2]).read_text(encoding="utf-8").splitlines(), Path(sys.argv[2]).name)
        else:
            main(sys.argv[1], INVENTED, "invented")
    except AmemError as error:
        sys.exit(f"{error} ({error.hint})")
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}")
    except UnicodeDecodeError:
        sys.exit(f"{sys.argv[2]}: not UTF-8 text")
