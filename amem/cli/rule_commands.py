"""``amem rules``: what is always and what is never remembered of conversations."""

from typing import Annotated

import typer

from amem.cli.invocation import invocation, tell
from amem.cli.options import Json
from amem.cli.render import print_json, say

# No ``from __future__ import annotations`` here: Typer reads annotations at run time.


def register(app: typer.Typer) -> None:
    """Add this room's commands."""
    app.command(rich_help_panel="Trust")(rules)


def rules(
    context: typer.Context,
    edit: Annotated[bool, typer.Option("--edit", help="Change them in your editor.")] = False,
    as_json: Json = False,
) -> None:
    """What is always and what is never remembered of conversations, and where to change that."""
    from amem.cli.editor import edit_file
    from amem.conversation.rule_file import FILE_NAME, default_rules, load_rules

    call = invocation(context)
    home = call.settings().home
    path = home / FILE_NAME
    changed = edit and edit_file(path, default_rules())
    own = path.is_file()
    found = load_rules(home)  # refuses a file with a line that cannot be used, naming it
    if as_json:
        return print_json(
            {
                "path": str(path),
                "own": own,
                "always": [rule for rule, _ in found.always],
                "never": [*(rule for rule, _ in found.never), *(f"[{kind}]" for kind in found.secrets)],
                "allow": [f"[{kind}]" for kind in found.allowed],
                "told": found.text,
            }
        )
    if edit:
        return tell(f"{path}: {'changed' if changed else 'left as it was'}")
    for line in (path.read_text(encoding="utf-8-sig") if own else default_rules()).splitlines():
        say(line)
    if found.secrets:
        tell(f"never stored of what is said: {', '.join(found.secrets)}")
    if found.allowed:
        tell(f"stored like anything else, since the file allows it: {', '.join(found.allowed)}")
    tell(f"{path}" if own else f"these come with amem; {call.command('rules', '--edit')} makes them yours, in {path}")
