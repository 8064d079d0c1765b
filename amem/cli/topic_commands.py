"""``amem topics`` and ``amem topic``: what belongs together, page by page."""

import re
from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.completion import complete_topic
from amem.cli.invocation import invocation, tell
from amem.cli.options import Json
from amem.cli.render import (
    console,
    count,
    on_terminal,
    print_json,
    print_table,
    print_wrapped,
    say,
    short_id,
    styled,
    when,
)

if TYPE_CHECKING:
    from rich.style import StyleType
    from rich.text import Text


# No ``from __future__ import annotations`` here: Typer reads annotations at run time.


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
