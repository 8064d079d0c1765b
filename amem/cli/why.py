"""The command that says why a note is, or is not, among the answers."""

# No ``from __future__ import annotations`` here: Typer reads annotations at run time.

from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.filtering import Where, filtering
from amem.cli.invocation import invocation, tell
from amem.cli.options import LEAST_SCORE, Diversity, Json, K, Links, MinimumCosine, MinimumScore, Rerank
from amem.cli.render import print_json

if TYPE_CHECKING:
    from amem.memory_system import AgenticMemorySystem
    from amem.query import Query


def register(app: typer.Typer) -> None:
    """Add this room's command."""
    app.command(rich_help_panel="Find")(why)


@filtering()
def why(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="The question.", show_default=False)],
    where: Where,
    id: Annotated[str | None, typer.Argument(metavar="ID", help="The note to explain; default: every answer.")] = None,
    k: K = 5,
    links: Links = True,
    minimum: MinimumScore = LEAST_SCORE,
    minimum_cosine: MinimumCosine = None,
    rerank: Rerank = None,
    diversity: Diversity = None,
    as_json: Json = False,
) -> None:
    """Explain why a note is, or is not, among the answers; without one, the answers side by side."""
    from amem.query import Query

    call = invocation(context)
    with call.browsed(as_json) if id is None else call.memory() as memory:
        wanted = where.filter(memory.settings.timezone, minimum_cosine=minimum_cosine)
        asked = Query(
            query,
            k,
            wanted,
            expand=links,
            touch=False,
            minimum_score=minimum,
            rerank=rerank,
            diversity=diversity,
        )
        if id is not None:
            _explain(memory, asked, memory.resolve(id, deleted=True), as_json)
        elif _compare(memory, asked, as_json) and not as_json:
            tell(f"one of them in full: {call.command('why', query, 'ID')}")


def _explain(memory: "AgenticMemorySystem", asked: "Query", id: str, as_json: bool) -> None:
    from amem.cli.why_lines import print_explanation
    from amem.clock import zone

    found = memory.explain(asked, id)
    if as_json:
        return print_json([{"content": found.content} | found.to_dict()])
    named = [lent.id for leg in found.legs for lent in leg.lent]
    if found.kept_out is not None:
        named += found.kept_out.by[-1:]
    others = {other: note.content for other in named if (note := memory.read(other)) is not None}
    print_explanation(found, memory.read(id), zone(memory.settings.timezone), others)


def _compare(memory: "AgenticMemorySystem", asked: "Query", as_json: bool) -> bool:
    """Print the answers side by side; False when there are none."""
    from amem.cli.why_lines import print_comparison
    from amem.clock import zone

    hits = memory.ask(asked)
    if as_json:
        print_json([{"content": hit.content} | hit.explanation.to_dict() for hit in hits])
        return bool(hits)
    if not hits:
        tell("nothing found")
        return False
    notes = {hit.id: note for hit in hits if (note := memory.read(hit.id)) is not None}
    print_comparison([hit.explanation for hit in hits], notes, zone(memory.settings.timezone))
    return True
