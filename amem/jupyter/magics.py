"""Magics for IPython and notebooks: ``%recall``, ``%%note``, ``%notes``, ``%why``, ``%maintain``.

``%load_ext amem`` adds them. They use the collection that the variable ``memory`` holds, or else the one that the
settings name.
"""

from __future__ import annotations

import re
import shlex
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.display import HTML, DisplayHandle

from amem.clock import zone
from amem.errors import AmemError
from amem.jupyter import formatters
from amem.language.times import moment_of
from amem.memory_system import AgenticMemorySystem
from amem.note import Kind, Layer, MemoryNote, Receipt, Status
from amem.query import Filter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.maintenance.phase import MaintenanceReport
    from amem.retrieval.explanation import Explanation
    from amem.retrieval.hit import Hit

_CYCLES = ("nightly", "weekly", "monthly")
#: Words of ``%notes`` and ``%%note`` that may be followed by a value, and the values that are known.
_VALUES = {"kind": tuple(map(str, Kind)), "layer": tuple(map(str, Layer)), "status": tuple(map(str, Status))}
_FIELDS = ("tag", *_VALUES, "speaker", "since", "until")
_MOST = 50
_ASKED = re.compile(r"%recall\s+(.*[?？])")
_Value = TypeVar("_Value")


def load(shell: Any) -> None:
    """Register the magics, their completion and the tables with an IPython shell."""
    formatters.register(shell)
    magics = AmemMagics(shell)
    shell.register_magics(magics)
    shell.input_transformers_cleanup.append(_questions)
    for name in ("%notes", "%%note", "%why", "%maintain"):
        shell.set_hook("complete_command", magics.complete, str_key=name)


@magics_class
class AmemMagics(Magics):
    """What ``%load_ext amem`` adds."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._shell = shell
        self._opened: AgenticMemorySystem | None = None
        self._last: tuple[str, list[Hit]] = ("", [])

    @property
    def memory(self) -> AgenticMemorySystem:
        """The collection in the variable ``memory``; else that of the settings, opened at first need."""
        named = self._shell.user_ns.get("memory")
        if isinstance(named, AgenticMemorySystem):
            return named
        if self._opened is None:
            from amem.settings import load_settings

            self._opened = AgenticMemorySystem(settings=load_settings())
        return self._opened

    @line_magic
    def recall(self, line: str) -> list[Hit]:
        """``%recall QUESTION``: the notes that answer best, with their reasons."""
        if not line.strip():
            raise UsageError("What should be recalled? %recall where do I live?")
        found = _heard(lambda: self.memory.search(line.strip(), 8))
        self._last = (line.strip(), found)
        return found

    @cell_magic
    def note(self, line: str, cell: str) -> Receipt:
        """``%%note [tag:x] [kind:y]``, then the note: saves it and returns its receipt."""
        fields = _fields(line, ("tag", "kind", "speaker"))
        if fields["words"]:
            raise UsageError(f"%%note takes tag:x, kind:y and speaker:z, not {fields['words'][0]!r}")
        given: dict[str, Any] = {"tags": fields["tag"]} if fields["tag"] else {}
        for name in ("kind", "speaker"):
            if fields[name]:
                given[name] = fields[name][-1]
        return _heard(lambda: self.memory.add(cell.strip(), **given))

    @line_magic
    def notes(self, line: str) -> list[MemoryNote]:
        """``%notes [tag:x] [kind:y] [since:7d] [words]``: notes that match, newest first, at most 50."""
        fields = _fields(line, _FIELDS)

        def read() -> list[MemoryNote]:
            memory = self.memory
            where = zone(memory.settings.timezone)
            now = datetime.now(where)
            since, until = (
                moment_of(fields[name][-1], where, now) if fields[name] else None for name in ("since", "until")
            )
            wanted = Filter(
                tags=tuple(fields["tag"]),
                kinds=tuple(fields["kind"]),  # type: ignore[arg-type]  # names are read as kinds
                layers=tuple(fields["layer"]),  # type: ignore[arg-type]  # names, too
                statuses=tuple(fields["status"]) or (Status.ACTIVE,),  # type: ignore[arg-type]  # names, too
                speaker=fields["speaker"][-1] if fields["speaker"] else None,
                since=since,
                until=until,
            )
            shelf = memory.shelf(wanted, starting=" ".join(fields["words"]))
            return list(memory.read_many([card.id for card in memory.cards(shelf, 0, _MOST)]).values())

        return _heard(read)

    @line_magic
    def why(self, line: str) -> Explanation:
        """``%why [PLACE or ID]``: why that hit of the last ``%recall`` stands where it does; the first by default."""
        question, found = self._last
        if not question:
            raise UsageError("Nothing was recalled yet: %recall QUESTION first")
        wanted = line.strip() or "1"
        if wanted.isdecimal() and 1 <= int(wanted) <= len(found):
            id = found[int(wanted) - 1].id
        elif wanted.isdecimal() and len(wanted) < 4:
            raise UsageError(f"There is no hit {wanted}: {len(found)} were found")
        else:
            id = _heard(lambda: self.memory.resolve(wanted))
        return _heard(lambda: self.memory.explain(question, id))

    @line_magic
    def maintain(self, line: str) -> MaintenanceReport:
        """``%maintain [nightly|weekly|monthly] [--dry-run]``: look after the collection, with a progress bar."""
        words = line.split()
        dry = "--dry-run" in words
        cycles = [word for word in words if word != "--dry-run"] or ["nightly"]
        if len(cycles) > 1 or cycles[0] not in _CYCLES:
            raise UsageError(f"%maintain takes {', '.join(_CYCLES)} and --dry-run, not {' '.join(cycles)!r}")
        bar = DisplayHandle()  # type: ignore[no-untyped-call]  # IPython's is untyped
        bar.display(_html(""))  # type: ignore[no-untyped-call]  # IPython's is untyped

        def shown(text: str) -> None:
            bar.update(_html(text))  # type: ignore[no-untyped-call]  # IPython's is untyped

        def progress(phase: str, done: int, of: int) -> None:
            shown(f"<progress max='{max(1, of)}' value='{done}'></progress> {phase}")

        try:
            return _heard(lambda: self.memory.maintain(cycles[0], dry_run=dry, progress=progress))
        finally:
            shown("")

    def complete(self, _: Any, event: Any) -> list[str]:
        """Return what may stand where the cursor is: fields, kinds, tags of the collection, hits of the last recall."""
        word, line = event.symbol, event.line.lstrip()
        if line.startswith("%maintain"):
            return [each for each in (*_CYCLES, "--dry-run") if each.startswith(word)]
        if line.startswith("%why"):
            return [hit.id for hit in self._last[1] if hit.id.startswith(word)]
        # Some shells take the colon for a part of the word, others begin a new word behind it.
        before = event.text_until_cursor.split(" ")[-1]
        name, colon, begun = before.partition(":")
        if not colon:
            return [f"{each}:" for each in _FIELDS if each.startswith(before)]
        known: Sequence[str] = tuple(self.memory.tags()) if name == "tag" else _VALUES.get(name, ())
        whole = word.startswith(f"{name}:")
        return [f"{name}:{each}" if whole else each for each in known if each.startswith(begun)]


def _html(text: str) -> HTML:
    return HTML(text)  # type: ignore[no-untyped-call]  # IPython's is untyped


def _questions(lines: list[str]) -> list[str]:
    """Return a cell's lines with ``%recall ...?`` called outright: IPython takes a question mark for a cry for help."""
    return [
        f"get_ipython().run_line_magic('recall', {found[1]!r})\n"
        if (found := _ASKED.fullmatch(line.rstrip()))
        else line
        for line in lines
    ]


def _fields(line: str, known: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of each known field in a line such as ``tag:work "two words"``, and its other words."""
    found: dict[str, list[str]] = {name: [] for name in (*known, "words")}
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"{line.strip()!r} cannot be read: {error}") from None
    for word in words:
        name, colon, value = word.partition(":")
        if colon and value and name in known:
            found[name].append(value)
        else:
            found["words"].append(word)
    return found


def _heard(act: Callable[[], _Value]) -> _Value:
    """Return what `act` does; an error of amem's as one line, as IPython shows wrong use of a magic."""
    try:
        return act()
    except AmemError as error:
        hint = getattr(error, "hint", "")
        raise UsageError(f"{error}{f' ({hint})' if hint and hint not in str(error) else ''}") from error
