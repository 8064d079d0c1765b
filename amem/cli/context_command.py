"""``amem context``: what is known about a question, as text for another program's prompt."""

from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.filtering import Where, filtering
from amem.cli.invocation import inform, invocation, tell
from amem.cli.options import Json, MinimumCosine, MinimumScore
from amem.cli.render import count, print_json, say

if TYPE_CHECKING:
    from amem.retrieval.context import Context
    from amem.retrieval.tiers import Tiers


# No ``from __future__ import annotations`` here: Typer reads annotations at run time.


_PANEL = "Find"


def register(app: typer.Typer) -> None:
    """Add this room's command."""
    app.command(rich_help_panel=_PANEL)(context)


@filtering()
def context(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(help="The question, in your own words.", show_default=False)],
    where: Where,
    budget: Annotated[
        int | None, typer.Option("--budget", "-b", min=0, help="Most tokens; default: setting context_tokens.")
    ] = None,
    order: Annotated[
        str | None, typer.Option(help="time (oldest first) or relevance; default: setting context_order.")
    ] = None,
    core: Annotated[bool, typer.Option(help="Begin with the notes that always hold; --tiers never does.")] = True,
    tiers: Annotated[
        bool, typer.Option("--tiers", help="Read topics first, then notes, then sources, until it suffices.")
    ] = False,
    ask_model: Annotated[
        bool, typer.Option("--ask-model", help="With --tiers: let the language model say whether it suffices.")
    ] = False,
    tokenizer: Annotated[
        str | None, typer.Option(help="Model whose tokens are counted, or a tokenizer.json; default: the settings'.")
    ] = None,
    minimum: MinimumScore = None,
    minimum_cosine: MinimumCosine = None,
    touch: Annotated[bool, typer.Option(help="Count what is placed as used, which keeps it from fading.")] = True,
    as_json: Json = False,
) -> None:
    """Print what is known about a question, within a budget of tokens, for a prompt."""
    from amem.query import Query

    if ask_model and not tiers:
        raise typer.BadParameter("goes with --tiers", param_hint="--ask-model")
    with invocation(context).browsed(as_json, empty={}) as memory:
        wanted = where.filter(memory.settings.timezone, minimum_cosine=minimum_cosine)
        asked = Query(" ".join(query), 0, wanted, touch=touch, minimum_score=minimum)
        found: Context | Tiers
        if tiers:
            found = memory.recall_tiers(asked, budget, order=order, ask_model=ask_model, tokenizer=tokenizer)
        else:
            found = memory.context(asked, budget, order=order, core=core, tokenizer=tokenizer)
    if as_json:
        return print_json(found.to_dict())
    if found.text:
        say(found.text)
    _say_what(found)


def _say_what(found: "Context | Tiers") -> None:
    """On stderr, as the text goes to another program."""
    from amem.retrieval.tiers import Tiers

    if isinstance(found, Tiers):
        for tier in found.tiers:
            by = f" (says {tier.judged_by})" if tier.judged_by else ""
            enough = "enough" if tier.suffices else "not enough"
            inform(f"{tier.name}: {count(len(tier.read), 'text')} read, {tier.tokens} tokens, {enough}: {tier.why}{by}")
    left_out = () if isinstance(found, Tiers) else found.left_out
    if not found.text:
        fitting = sum(each.reason == "budget" for each in left_out)
        tell(f"no room for any of {count(fitting, 'note')}: give a larger --budget" if fitting else "nothing found")
        return
    left = f", {len(left_out)} left out" if left_out else ""
    inform(f"{found.tokens} of {found.budget} tokens by {found.counted_by}{left}")
