"""``amem ask``: one question, one answer, with the notes that it rests on."""

# No ``from __future__ import annotations`` here: Typer reads annotations at run time.

import re
from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.chat import Model
from amem.cli.exits import ExitCode
from amem.cli.invocation import invocation, tell
from amem.cli.options import Json
from amem.cli.render import console, on_terminal, one_line, print_json, print_wrapped, say, short_id, styled

if TYPE_CHECKING:
    from datetime import tzinfo

    from amem.conversation.questions import Answer

_PANEL = "Chat"
_CITED = re.compile(r"[\[【]\d+[\]】]")


def register(app: typer.Typer) -> None:
    """Add this room's command."""
    app.command(rich_help_panel=_PANEL)(ask)


def ask(
    context: typer.Context,
    question: Annotated[list[str], typer.Argument(help="The question, in your own words.", show_default=False)],
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="How many notes the model is shown.")] = 8,
    model: Model = None,
    rerank: Annotated[
        bool | None,
        typer.Option("--rerank/--no-rerank", help="Have the model pick them from twenty, for one call more."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Answer one question from the notes, and say which ones the answer rests on."""
    from amem.cli.chat_screen import why_nobody
    from amem.clock import zone
    from amem.conversation.ports import with_model

    call = invocation(context)
    settings = call.settings()
    if model is not None:
        settings = with_model(settings, model)
    with call.browsed(as_json, empty={}, settings=settings) as memory:
        answer = memory.answer(" ".join(question), k, rerank=rerank)
    if answer.error and not as_json:
        tell(f"no model answers: {why_nobody(answer.error, answer.hint)}; this is what memory holds")
    elif not as_json:
        for note in answer.notes:
            tell(note)
    if as_json:
        print_json(answer.to_dict())
    else:
        _print(answer, zone(settings.timezone))
    if answer.error:
        raise typer.Exit(ExitCode.UNREACHABLE)


def _print(answer: "Answer", local: "tzinfo") -> None:
    """The answer and its notes."""
    from amem.cli.render import said_on, shown

    hits = {hit.id: hit for hit in answer.hits}
    # A note that replaced a hit, or speaks against it, need be none of the hits.
    cited = [(each, hits.get(each.note)) for each in answer.citations]
    text = _with_numbers(answer.text.strip(), [each.number for each in answer.citations])
    if not on_terminal():
        say(text)
        for each, hit in cited:
            said, line = ("", each.line) if hit is None else (said_on(hit, local), hit.text)
            say("\t".join((f"[{each.number}]", short_id(each.note), said, one_line(line))))
        return
    out = console()
    print_wrapped(out, styled((text, "" if answer.in_memory else "yellow")))
    if cited:
        out.print()
    for each, hit in cited:
        day, words = ("", styled(one_line(each.line))) if hit is None else (said_on(hit, local), shown(hit))
        head = styled(f"{f'[{each.number}]':<5}", (short_id(each.note), "cyan"), (f"  {day}  ", "dim"))
        print_wrapped(out, head + words, hanging=5)


def _with_numbers(text: str, numbers: "list[int]") -> str:
    """The text with the numbers of its notes, at its end where the model left them out."""
    if not numbers or _CITED.search(text):
        return text
    return f"{text} {''.join(f'[{number}]' for number in numbers)}"
