"""What is so of someone or something, since when, and what belongs together: facts, timelines and topics."""

import re
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Annotated

import typer

from amem import checks
from amem.cli.command import Drawing, KnownAt, Shown, Table, argument, command, moment, not_empty, option, time_option
from amem.cli.completion import complete_topic
from amem.cli.invocation import Invocation, tell
from amem.cli.render import Page, cell_width, language_of_reader, on_terminal, one_line, styled, when
from amem.clock import zone
from amem.labels import counted, cut, short_id
from amem.language.scripts import written_in_cjk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.style import StyleType

    from amem.language.intervals import Interval
    from amem.language.predicates import Predicates
    from amem.memory_system import AgenticMemorySystem


#: So many names are offered for one that is not known, of at least this likeness.
_NEAR = 3, 0.7
_WHOM = "Who or what: a name, me, we, 我, 项目"
Predicate = Annotated[str | None, option("--predicate -p", "Only this: works_at, lives_in, 喜欢.")]


@command()
def facts(
    call: Invocation,
    subject: Annotated[
        str | None, argument("SUBJECT", f"{_WHOM}; default: list those that have facts.", show_default=True)
    ] = None,
    predicate: Predicate = None,
    as_of: Annotated[str | None, time_option("--as-of", "What was true at this time, not now", examples=True)] = None,
    known_at: KnownAt = None,
) -> Shown:
    """Show what is true of someone or something now, and since when."""
    from amem.language.intervals import presumed

    with call.browsed() as memory:
        if subject is None:
            return _subjects(memory.subjects())
        not_empty(subject, "name who or what: amem facts lists them")
        timezone = memory.settings.timezone
        known = None if known_at is None else moment(known_at, timezone)
        asked = known if as_of is None else moment(as_of, timezone)
        found = memory.facts(subject, predicate, as_of=asked, known_at=known)
        ever = [] if call.as_json else memory.timeline(subject, predicate, known_at=known)
        if not ever:
            return Shown(found, told=[] if call.as_json else [_unknown(memory, subject, predicate, known_at)])
        predicates = memory.parts.predicates()
    name, told, local, chinese = ever[0].subject, [], zone(timezone), _in_chinese(subject, predicate)
    if not found:
        told = [f"nothing of {name} is known to be true now; what was: {call.command('timeline', subject)}"]
    gone = presumed(ever, asked or datetime.now(UTC)) if on_terminal() else []

    def draw(page: Page) -> None:
        _draw_heading(page, name, as_of, known_at)
        draw_intervals(page, found, local, predicates, grouped=True, chinese=chinese)
        if gone:
            tell(f"probably ended, as what {'it' if len(gone) == 1 else 'they'} depended on did:")
            draw_intervals(page, gone, local, predicates, grouped=True, chinese=chinese)

    return Drawing(found, (_cells(each, local, chinese) for each in found), draw, told=told)


@command()
def timeline(
    call: Invocation,
    subject: Annotated[str, argument("SUBJECT", f"{_WHOM}.")],
    predicate: Predicate = None,
    known_at: KnownAt = None,
) -> Shown:
    """Show all that was ever true of someone or something, in order of time, and what ended it."""
    not_empty(subject, "name who or what: amem facts lists them")
    with call.browsed() as memory:
        local = zone(memory.settings.timezone)
        known = None if known_at is None else moment(known_at, memory.settings.timezone)
        found = memory.timeline(subject, predicate, known_at=known)
        if not found:
            return Shown(found, told=[] if call.as_json else [_unknown(memory, subject, predicate, known_at)])
        predicates, chinese = memory.parts.predicates(), _in_chinese(subject, predicate)

    def draw(page: Page) -> None:
        _draw_heading(page, found[0].subject, None, known_at)
        draw_intervals(page, found, local, predicates, grouped=False, chinese=chinese)

    return Drawing(found, (_cells(each, local, chinese) for each in found), draw)


def _in_chinese(subject: str, predicate: str | None) -> bool:
    """Whether what holds is told in Chinese: to whoever asks in Chinese, or has a Chinese locale."""
    return written_in_cjk(f"{subject}{predicate or ''}") or language_of_reader() == "zh"


def _draw_heading(page: Page, subject: str, as_of: str | None, known_at: str | None) -> None:
    asked = [f"as of {as_of}"] * bool(as_of) + [f"as known at {known_at}"] * bool(known_at)
    page.line((subject, "bold"), "  " if asked else "", (", ".join(asked), "dim"))


def _subjects(subjects: dict[str, int]) -> Shown:
    data = [{"subject": name, "facts": number} for name, number in subjects.items()]
    rows = [(name, f"{number:,}") for name, number in subjects.items()]
    return Table(data, ("subject", "facts"), rows, told=[] if rows else ["no note states a fact yet"])


def _unknown(memory: "AgenticMemorySystem", subject: str, predicate: str | None, known_at: str | None) -> str:
    import difflib

    from amem.language.predicates import subject_key

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
    near = dict.fromkeys(names[key] for key in difflib.get_close_matches(subject_key(subject), names, *_NEAR))
    hint = f"; did you mean {', '.join(near)}?" if near else "; see amem facts"
    return f"nothing is known of {checks.shown(subject)}{hint}"


# What is so, and from when to when, as people read it: a line for each interval, lines of two where room is short.


#: Columns from which an interval and its times fit on one line; the gap, and a short id with how many more there are.
_ROOMY, _GAP, _ID = 66, 2, 12
_LONGEST_PREDICATE, _LONGEST_TIMES, _LEAST_VALUE = 16, 32, 12
#: Holds; ended; ended, as far as one can guess.
_HOLDS, _ENDED, _PRESUMED = ("● ", "green"), ("○ ", "dim"), ("◌ ", "yellow")
_MARK = 2


def draw_intervals(
    page: Page,
    found: "Sequence[Interval]",
    zone: "tzinfo",
    predicates: "Predicates",
    *,
    grouped: bool,
    chinese: bool = False,
) -> None:
    """A line for each; `grouped` names a predicate once for all that follow under it."""
    roomy, gap, last = page.width >= _ROOMY, " " * _GAP, ""
    names = {each.predicate: predicates.words(each.predicate, chinese=chinese) for each in found}
    named = _column(names.values(), _LONGEST_PREDICATE)
    times = _column([each.span(zone, chinese=chinese) for each in found], _LONGEST_TIMES)
    indent = _MARK + named + _GAP
    # What is left after the mark, the id and the gaps; a long object is cut.
    room = max(_LEAST_VALUE, page.width - named - times - _ID - _MARK - 3 * _GAP)
    valued = _column([each.object for each in found], room)
    for each in found:
        name, last = "" if grouped and each.predicate == last else names[each.predicate], each.predicate
        mark = _HOLDS if each.until is None else _ENDED if each.certain else _PRESUMED
        note = (f"{short_id(each.notes[0])}{f' +{len(each.notes) - 1}' if len(each.notes) > 1 else ''}", "cyan")
        weight, doubt = "bold" if each.until is None else "", "" if each.certain else "yellow"
        when_so, end = each.span(zone, chinese=chinese), styled((each.ending(chinese=chinese), "dim"))
        if roomy:
            value, times_so = _fit(each.object, valued), _fit(when_so, times)
            line = styled(mark, _fit(name, named), gap, (value, weight), gap, (times_so, doubt), gap, note)
            beside = line.cell_len + _GAP + end.cell_len <= page.width
            below = [] if beside else [end]
            line = styled(line, gap, end) if beside else line
        else:
            value = cut(one_line(each.object), max(1, page.width - indent))
            line = styled(mark, _fit(name, named), gap, (value, weight))
            below = [styled((when_so, doubt), gap, note), end]
        line.rstrip()
        page.clipped(line)
        for text in filter(None, below):
            page.write(text, indent=indent)


def _cells(each: "Interval", zone: "tzinfo", chinese: bool) -> tuple[str, ...]:
    """Predicate, object, since, until, ids, what ended it."""
    since, until = (when(at, zone, minutes=False) for at in (each.since, each.until))
    ids = ",".join(map(short_id, each.notes))
    return (each.predicate, each.object, since, until, ids, each.ending(chinese=chinese))


def _column(texts: "Iterable[str]", most: int) -> int:
    return min(most, max((cell_width(one_line(text)) for text in texts), default=0))


def _fit(text: str, width: int) -> str:
    from rich.cells import set_cell_size

    return set_cell_size(cut(one_line(text), width), width)


# ``amem topics`` and ``amem topic``: what belongs together, page by page.


#: What a line of a page is made of: a citation, something struck through, anything else.
_PART = re.compile(r"(\[\[[^\[\]\n]+\]\])|~~(.+?)~~|([^\[~]+|.)")


@command()
def topics(call: Invocation) -> Shown:
    """List topics: what `amem maintain` found to belong together, and what you declared."""
    with call.browsed() as memory:
        found = memory.topics()
        local = zone(memory.settings.timezone)
    rows = []
    for each in found:
        updated, declared = when(each.updated, local, minutes=False), "declared" if each.declared else ""
        rows.append((short_id(each.id), each.name, str(each.notes), updated, each.summary, declared))
    told = [
        f"no topics yet; find some with: {call.command('maintain')}",
        f"declare one with: {call.command('topic', 'NAME', '--declare')}",
    ]
    columns = ("id", "topic", "notes", "updated", "about", "")
    return Table(found, columns, rows, wide="about", spare=("updated", "id"), told=[] if found else told)


@command()
def topic(
    call: Invocation,
    name: Annotated[str, argument("", "Its name, the beginning of it, or its id.", autocompletion=complete_topic)],
    about: Annotated[list[str] | None, argument("", "With --declare: more words it is about.")] = None,
    declare: Annotated[bool, option("--declare", "Keep a page for it from now on.")] = False,
    remove: Annotated[bool, option("--remove", "Stop keeping one; its notes stay.")] = False,
) -> Shown:
    """Read a topic's page; declare one of your own, or give it up."""
    if declare and remove:
        raise typer.BadParameter("--declare and --remove exclude each other")
    if about and not declare:
        raise typer.BadParameter("words after the name are for --declare; quote a name of several words")
    with call.memory(create=declare) as memory:
        if remove:
            gone = memory.remove_topic(name)
            return Shown({"removed": gone}, told=[f"{gone} is no longer a topic; undo with: {call.command('undo')}"])
        page = memory.declare_topic(name, " ".join(about or [])) if declare else memory.topic(name)
    told = []
    if declare:
        told = [f"{page.topic.name}: {counted(page.topic.notes, 'note')}; new ones join it as they come"]
    return Drawing(page, (), lambda out: _draw_page(out, page.text), lines=[page.text], told=told)


def _draw_page(page: Page, text: str) -> None:
    """Markdown with headings, bullets and citations told apart."""
    for line in text.splitlines():
        if line.startswith("#"):
            page.write((line.lstrip("# "), "bold cyan" if line.startswith("##") else "bold"))
            continue
        bullet = line.startswith("- ")
        parts: list[str | tuple[str, StyleType]] = []
        for cited, struck, plain in _PART.findall(f"• {line[2:]}" if bullet else line):
            parts.append((cited[2:-2], "cyan") if cited else (struck, "strike dim") if struck else plain)
        page.write(*parts, indent=2 * bullet, hanging=2 * bullet)
