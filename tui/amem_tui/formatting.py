"""Notes, times, kinds, authors and commands as text for the screen."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Literal

from textual.content import Content

from amem import labels
from amem.labels import without_driving
from amem.note import Kind, LinkType
from amem.settings import Settings, default_home

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime, tzinfo

    from amem.memory_system import AgenticMemorySystem


#: One cell each in every terminal font; none is drawn as a two-cell emoji.
GLYPHS: Mapping[Kind, str] = {
    Kind.EPISODE: "○",
    Kind.FACT: "•",
    Kind.PREFERENCE: "+",
    Kind.DECISION: "=",
    Kind.CONSTRAINT: "!",
    Kind.CONFIG: "%",
    Kind.CODE: "λ",
    Kind.ERROR: "×",
    Kind.QUESTION: "?",
    Kind.CHITCHAT: "~",
    Kind.PROCEDURE: "»",
    Kind.TOPIC: "#",
}
_LONGEST = 160
#: Control characters but for tab and line feed, and halves of a surrogate pair.
_UNTYPEABLE = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\ud800-\\udfff]")
_NEW_LINE = re.compile("\r\n|[\u2028\u2029]")


def clean(text: str) -> str:
    """Text without characters that could send commands to the terminal, or turn the direction of what stands beside."""
    return without_driving(_NEW_LINE.sub("\n", text).replace("\t", "    "))


def typeable(text: str) -> str:
    """Text for a field in which it can be changed: as it is, but for control characters."""
    return _UNTYPEABLE.sub("", text)


def one_line(text: str, longest: int = _LONGEST) -> str:
    """The text on one line, cut when it is longer."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def title(content: str) -> str:
    """What a note is called, see ``amem.labels``; safe to show in a terminal."""
    return one_line(labels.title(content))


def titles_of(memory: AgenticMemorySystem, ids: Iterable[str | None]) -> dict[str, str]:
    """What each of these notes is called, by id; those that were destroyed are left out."""
    return {id: title(card.text) for id, card in memory.cards_of([id for id in dict.fromkeys(ids) if id]).items()}


def link_words(type: LinkType) -> str:
    return type.replace("_", " ")


Author = Literal["person", "agent", "machine"]
#: The sign of an author in every list, and its colour.
SIGNS: Mapping[Author, tuple[str, str]] = {
    "person": ("●", "$success"),
    "agent": ("▲", "$primary"),
    "machine": ("◆", "$accent"),
}


def author(actor: str) -> Author:
    """Whose words: a person's, a program's that acts for one, or those of a machine that concludes."""
    who = actor.split(":")[0]
    return "person" if who == "user" else "agent" if who == "agent" else "machine"


def day(at: datetime | None, zone: tzinfo) -> str:
    """``2026-03-12``, or blanks of the same width."""
    return " " * 10 if at is None else at.astimezone(zone).strftime("%Y-%m-%d")


def moment(at: datetime | None, zone: tzinfo) -> str:
    """``2026-03-12 09:30``, or "no date"."""
    return "no date" if at is None else at.astimezone(zone).strftime("%Y-%m-%d %H:%M")


def maker(actor: str) -> Content:
    """Who did it: people as a green ●, programs that act for them as a blue ▲, machines that judge as a gold ◆."""
    sign, colour = SIGNS[author(actor)]
    return Content.styled(f"{sign} {maker_name(actor)}", colour)


def maker_name(actor: str) -> str:
    """``you``, the name of another person or agent, or that of the model or rule."""
    name = clean(actor) or "amem"
    if author(name) == "machine":
        return name
    return name.partition(":")[2] or ("you" if name.startswith("user") else "agent")


# Commands of ``amem`` as the browser shows them: copied into a shell, they are about the collection that is open.


def command(settings: Settings, words: str) -> str:
    """``amem -c garden add "..."`` for ``add "..."``; home and collection are named where they are not the default."""
    return " ".join(["amem", *_named(settings), words])


def _named(settings: Settings) -> Sequence[str]:
    named: list[str] = []
    if settings.home != default_home():
        named += ["--home", str(settings.home)]
    # One that is set in a file, or was asked for, may be another than the next shell would take.
    if "collection" in settings.model_fields_set or settings.collection != Settings.model_fields["collection"].default:
        named += ["-c", settings.collection]
    return [shlex.quote(each) for each in named]
