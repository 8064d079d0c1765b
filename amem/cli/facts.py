"""``amem facts``, ``timeline``, ``topics`` and ``topic``: what is so, since when, and what belongs together."""

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from amem import checks
from amem.cli.completion import complete_topic
from amem.cli.invocation import invocation, tell
from amem.cli.options import Json, KnownAt, moment, time_option
from amem.cli.render import (
    console,
    count,
    cut,
    on_terminal,
    one_line,
    print_json,
    print_table,
    print_wrapped,
    say,
    say_row,
    short_id,
    styled,
    when,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from rich.console import Console
    from rich.style import StyleType
    from rich.text import Text

    from amem.language.intervals import Interval
    from amem.memory_system import AgenticMemorySystem


_NEAR = 3
Subject = Annotated[
    str, typer.Argument(metavar="SUBJECT", help="Who or what: a name, me, we, 我, 项目.", show_default=False)
]


def facts(
    context: typer.Context,
    subject: Annotated[
        str | None,
        typer.Argument(
            metavar="SUBJECT", help="Who or what: a name, me, we, 我, 项目; default: whoever there is to ask about."
        ),
    ] = None,
    predicate: Annotated[
        str | None, typer.Option("--predicate", "-p", help="Only this: works_at, lives_in, 喜欢.")
    ] = None,
    as_of: Annotated[str | None, time_option("--as-of", "What was so at this time, not now", examples=True)] = None,
    known_at: KnownAt = None,
    as_json: Json = False,
) -> None:
    """Say what is so of someone or something, and since when."""

    call = invocation(context)
    with call.browsed(as_json) as memory:
        if subject is None:
            return _print_subjects(memory.subjects(), as_json)
        timezone = memory.settings.timezone
        known = None if known_at is None else moment(known_at, timezone)
        asked = known if as_of is None else moment(as_of, timezone)
        found = memory.facts(subject, predicate, as_of=asked, known_at=known)
        if as_json:
            return print_json(found)
        ever = memory.timeline(subject, predicate, known_at=known)
        if not ever:
            return tell(_unknown(memory, subject, predicate, known_at))
    _print(found, timezone, (ever[0].subject, as_of, known_at), grouped=True)
    if not found:
        tell(f"nothing of {ever[0].subject} is known to be so; what was: {call.command('timeline', subject)}")
    gone = _presumed(ever, asked or datetime.now(UTC))
    if gone and on_terminal():
        tell(f"presumed to have ended with what {'it' if len(gone) == 1 else 'they'} hung on:")
        _print(gone, timezone, None, grouped=True)


def timeline(
    context: typer.Context,
    subject: Subject,
    predicate: Annotated[
        str | None, typer.Option("--predicate", "-p", help="Only this: works_at, lives_in, 喜欢.")
    ] = None,
    known_at: KnownAt = None,
    as_json: Json = False,
) -> None:
    """Say all that was ever so of someone or something, in order of time, and what ended it."""
    with invocation(context).browsed(as_json) as memory:
        timezone = memory.settings.timezone
        known = None if known_at is None else moment(known_at, timezone)
        found = memory.timeline(subject, predicate, known_at=known)
        if as_json:
            return print_json(found)
        if not found:
            return tell(_unknown(memory, subject, predicate, known_at))
    _print(found, timezone, (found[0].subject, None, known_at), grouped=False)


def _print(
    found: "Sequence[Interval]", timezone: str, heading: tuple[str, str | None, str | None] | None, *, grouped: bool
) -> None:
    from amem.clock import zone

    if heading is not None and on_terminal():
        subject, as_of, known_at = heading
        asked = [f"as of {as_of}"] * bool(as_of) + [f"as known at {known_at}"] * bool(known_at)
        console().print(styled((subject, "bold"), ("  " if asked else "", ""), (", ".join(asked), "dim")))
    print_intervals(found, zone(timezone), grouped=grouped)


def _presumed(ever: "Sequence[Interval]", at: datetime) -> "list[Interval]":
    """What hung on something that ended and was not said anew: neither so nor certainly over."""
    return [
        each
        for each in ever
        if not each.certain
        and each.until is not None
        and each.until <= at
        and not any(other.predicate == each.predicate and each.until <= other.since <= at for other in ever)
    ]


def _print_subjects(subjects: dict[str, int], as_json: bool) -> None:
    if as_json:
        return print_json([{"subject": name, "facts": number} for name, number in subjects.items()])
    print_table(("subject", "facts"), [(name, f"{number:,}") for name, number in subjects.items()])
    if not subjects:
        tell("no note states a fact yet")
    return None


def _unknown(memory: "AgenticMemorySystem", subject: str, predicate: str | None, known_at: str | None) -> str:
    import difflib

    from amem.language.subjects import subject_key

    if known_at is not None and (since := memory.timeline(subject, predicate)):
        about = "" if predicate is None else f" about {since[0].predicate}"
        return f"nothing was known{about} of {since[0].subject} at {known_at}; it is now"
    if predicate is not None and (ever := memory.timeline(subject)):
        known = ", ".join(dict.fromkeys(each.predicate for each in ever))
        return f"nothing about {checks.shown(predicate)} is known of {ever[0].subject}; known: {known}"
    names: dict[str, str] = {}
    for name in memory.subjects():  # a first name will do
        for key in (subject_key(name), *subject_key(name).split()):
            names.setdefault(key, name)
    near = dict.fromkeys(names[key] for key in difflib.get_close_matches(subject_key(subject), names, _NEAR))
    hint = f"; did you mean {', '.join(near)}?" if near else "; see amem facts"
    return f"nothing is known of {checks.shown(subject)}{hint}"


# What is so, and from when to when, as people read it: a line for each interval, lines of two where room is short.


#: Columns from which an interval and its times fit on one line.
_ROOMY = 66
_GAP = 2
#: A short id, and that there are more notes.
_ID = 12
_LONGEST_PREDICATE = 16
#: The room of a mark.
_MARK = "● "
#: Holds; ended; ended, as far as one can guess.
_HOLDS, _ENDED, _PRESUMED = ("●", "green"), ("○", "dim"), ("◌", "yellow")


def print_intervals(
    found: "Sequence[Interval]", zone: "tzinfo", *, grouped: bool, out: "Console | None" = None
) -> None:
    """A line for each; in a pipe ``predicate, object, since, until, ids, what ended it`` by tabs.

    `grouped` names a predicate once for all that follow under it.
    """
    if out is None and not on_terminal():
        for each in found:
            say_row(*cells(each, zone))
        return
    out = out or console()
    roomy, gap, last = out.width >= _ROOMY, " " * _GAP, ""
    named = _column([words(each.predicate) for each in found], _LONGEST_PREDICATE)
    times = _column([span(each, zone) for each in found], 32)
    indent = len(_MARK) + named + _GAP
    # What is left after the mark, the id and the gaps; a long object is cut.
    valued = _column([each.object for each in found], max(12, out.width - named - times - _ID - len(_MARK) - 3 * _GAP))
    for each in found:
        name, last = "" if grouped and each.predicate == last else words(each.predicate), each.predicate
        mark = _HOLDS if each.until is None else _ENDED if each.certain else _PRESUMED
        more = f" +{len(each.notes) - 1}" if len(each.notes) > 1 else ""
        weight, doubt = "bold" if each.until is None else "", "" if each.certain else "yellow"
        when_so, note = span(each, zone), (f"{short_id(each.notes[0])}{more}", "cyan")
        line = styled(mark, _MARK[1:], _fit(name, named), gap)
        below = [styled((ending(each), "dim"))]
        if roomy:
            line += styled((_fit(each.object, valued), weight), gap, (_fit(when_so, times), doubt), gap, note)
            if line.cell_len + _GAP + below[0].cell_len <= out.width:
                line += styled(gap) + below.pop()
        else:
            line += styled((cut(one_line(each.object), max(1, out.width - indent)), weight))
            below.insert(0, styled((when_so, doubt), gap, note))
        line.rstrip()
        out.print(line, no_wrap=True)
        for text in filter(None, below):
            print_wrapped(out, text, indent=indent)


def cells(each: "Interval", zone: "tzinfo") -> tuple[str, ...]:
    """An interval as a row of plain text."""
    until = when(each.until, zone, minutes=False)
    ids = ",".join(short_id(note) for note in each.notes)
    return (each.predicate, each.object, when(each.since, zone, minutes=False), until, ids, ending(each))


def span(each: "Interval", zone: "tzinfo") -> str:
    """From when to when: ``since 2024-02-01``, ``2024-02-01 – 2026-03-01``, ``until 2020-01-01``."""
    since, until = (when(at, zone, minutes=False) for at in (each.since, each.until))
    if not until:
        return f"since {since}"
    guess = "" if each.certain else " ?"
    return f"until {until}{guess}" if each.since == each.until else f"{since} – {until}{guess}"


def ending(each: "Interval") -> str:
    """What ended it: ``ended: OpenAI since``, 已结束：后来是柏林; while it holds, which notes put that in doubt."""
    from amem.language.scripts import written_in_cjk

    if each.doubted_by:
        ids = ", ".join(map(short_id, each.doubted_by))
        return f"可能已过时：见 {ids}" if written_in_cjk(each.object) else f"may be out of date: see {ids}"
    if each.until is None or not each.because:
        return ""
    if written_in_cjk(each.because):
        return f"{'已结束' if each.certain else '推测已结束'}：{each.because}"
    return f"{'ended' if each.certain else 'presumed ended'}: {each.because}"


def words(predicate: str) -> str:
    """A predicate as it is read."""
    return predicate.replace("_", " ")


def _column(texts: "Sequence[str]", most: int) -> int:
    from rich.cells import cell_len

    return min(most, max((cell_len(one_line(text)) for text in texts), default=0))


def _fit(text: str, width: int) -> str:
    from rich.cells import set_cell_size

    return set_cell_size(cut(one_line(text), width), width)


# ``amem topics`` and ``amem topic``: what belongs together, page by page.


#: What a line of a page is made of: a citation, something struck through, anything else.
_PART = re.compile(r"(\[\[[^\[\]\n]+\]\])|~~(.+?)~~|([^\[~]+|.)")


def topics(context: typer.Context, as_json: Json = False) -> None:
    """List topics: what `amem maintain` found to belong together, and what you declared."""
    from amem.clock import zone

    call = invocation(context)
    with call.browsed(as_json) as memory:
        found = memory.topics()
        local = zone(memory.settings.timezone)
    if as_json:
        return print_json(found)
    print_table(
        ("id", "topic", "notes", "updated", "about", ""),
        [
            (
                short_id(each.id),
                each.name,
                str(each.notes),
                when(each.updated, local, minutes=False),
                each.summary,
                "declared" if each.declared else "",
            )
            for each in found
        ],
        wide="about",
        spare=("updated", "id"),
    )
    if not found:
        tell(f"no topics yet; find some with: {call.command('maintain')}")
        tell(f"declare one with: {call.command('topic', 'NAME', '--declare')}")


def topic(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="Its name, the beginning of it, or its id.", show_default=False, autocompletion=complete_topic
        ),
    ],
    about: Annotated[
        list[str] | None, typer.Argument(help="With --declare: more words it is about.", show_default=False)
    ] = None,
    declare: Annotated[bool, typer.Option("--declare", help="Keep a page for it from now on.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="No longer keep one; its notes stay.")] = False,
    as_json: Json = False,
) -> None:
    """Read a topic's page; declare one of your own, or give it up."""
    if declare and remove:
        raise typer.BadParameter("--declare and --remove exclude each other")
    if about and not declare:
        raise typer.BadParameter("words after the name are for --declare; quote a name of several words")
    call = invocation(context)
    with call.memory(create=declare) as memory:
        if remove:
            gone = memory.remove_topic(name)
            return print_json({"removed": gone}) if as_json else tell(f"{gone} is no topic any more; amem undo")
        page = memory.declare_topic(name, " ".join(about or [])) if declare else memory.topic(name)
    if as_json:
        return print_json(page)
    _print_page(page.text)
    if declare:
        tell(f"{page.topic.name}: {count(page.topic.notes, 'note')}; new ones join it as they come")


def _print_page(text: str) -> None:
    """Markdown as it is in a pipe; at a terminal with headings, bullets and citations told apart."""
    if not on_terminal():
        say(text)
        return
    out = console()
    for line in text.splitlines():
        if line.startswith("#"):
            print_wrapped(out, styled((line.lstrip("# "), "bold cyan" if line.startswith("##") else "bold")))
        elif line.startswith("- "):
            print_wrapped(out, _line(f"• {line[2:]}"), indent=2, hanging=2)
        else:
            print_wrapped(out, _line(line))


def _line(text: str) -> "Text":
    parts: list[str | tuple[str, StyleType]] = []
    for cited, struck, plain in _PART.findall(text):
        parts.append((cited[2:-2], "cyan") if cited else (struck, "strike dim") if struck else plain)
    return styled(*parts)
