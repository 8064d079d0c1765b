"""One way to be a command: it takes the call and its own options, and answers with something that can be shown.

``@command()`` hands a function the `Invocation`, gives it ``--json``, spreads the options of a dataclass that it takes,
and shows what it returns: a `Shown` (lines), a `Table` or a `Drawing`. So JSON, pipes, terminals, what is told beside
the answer, how to undo it and the exit code are each written once, here.
"""

# No ``from __future__ import annotations`` in a module of commands: Typer reads annotations at run time.

import inspect
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any

import typer

from amem.cli.exits import ExitCode
from amem.cli.invocation import Invocation, at_terminal, hold_words, tell
from amem.cli.options import Json
from amem.cli.render import Page, on_terminal, print_json, print_table, say, say_row, short_id

if TYPE_CHECKING:
    from rich.text import Text

    from amem.memory_system import AgenticMemorySystem


class Shown:
    """An answer: `data` as --json prints it, else `lines` on standard output.

    Where it is not JSON, each of `told` follows on standard error, and how to take back `undo` operations.
    """

    def __init__(
        self, data: object = None, *lines: str, told: Iterable[str] = (), undo: int = 0, code: int = ExitCode.OK
    ) -> None:
        self.data, self.lines, self.told, self.undo, self.code = data, lines, told, undo, code

    def show(self, call: Invocation) -> None:
        """Print it in the form that the call wants. Raises typer.Exit where its code is not 0."""
        if call.as_json:
            print_json(self.data)
        else:
            self.print()
            for line in self.told:
                tell(line)
            if self.undo:
                call.tell_undo(self.undo)
        if self.code:
            raise typer.Exit(self.code)

    def print(self) -> None:
        """Print what standard output gets."""
        for line in self.lines:
            say(line)


class Table(Shown):
    """Rows under columns; `wide` takes what room is left on a terminal, those of `spare` go first where it is short."""

    def __init__(
        self,
        data: object,
        columns: Sequence[str],
        rows: "Iterable[Sequence[str | Text]]",
        *,
        wide: str = "",
        spare: Sequence[str] = (),
        fold_below: int = 0,
        **rest: Any,
    ) -> None:
        super().__init__(data, **rest)
        self._columns, self._rows = columns, rows
        self._layout: dict[str, Any] = {"wide": wide, "spare": spare, "fold_below": fold_below}

    def print(self) -> None:
        print_table(self._columns, self._rows, **self._layout)


class Drawing(Shown):
    """What `draw` puts on a page where that is a terminal; in a pipe `lines`, then `rows` of cells by tabs."""

    def __init__(
        self,
        data: object,
        rows: Iterable[Sequence[object]],
        draw: Callable[[Page], object],
        *,
        lines: Iterable[str] = (),
        **rest: Any,
    ) -> None:
        super().__init__(data, *lines, **rest)
        self.rows, self.draw = rows, draw

    def print(self) -> None:
        if on_terminal():
            self.draw(Page())
            return
        super().print()
        for row in self.rows:
            say_row(*row)


def done(what: str, ids: Collection[str], *, part: Collection[str] = (), **rest: Any) -> Shown:
    """What was done to which notes; of those in `part` only to a statement."""
    return Shown({what: list(ids)}, *(f"{what} {'a statement of ' * (id in part)}{short_id(id)}" for id in ids), **rest)


def resolved(memory: "AgenticMemorySystem", ids: Iterable[str], *, deleted: bool = False) -> list[str]:
    """Every id in full, each once; one that is wrong stops the command before anything is changed."""
    return list(dict.fromkeys(memory.resolve(id, deleted=deleted) for id in ids))


def confirm(question: str, refusal: str) -> None:
    """Have the person say yes to what cannot be undone. Raises InvalidInput where nobody can be asked, and Abort."""
    from amem.errors import InvalidInput

    if not at_terminal():
        raise InvalidInput(f"{refusal} cannot be undone", hint="give --yes if you mean it")
    typer.confirm(question, abort=True, err=True)


def command(*without: str, json: bool = True) -> Callable[[Callable[..., Shown | None]], Callable[..., None]]:
    """Make a command of a function whose first parameter is the call.

    It takes the options of each dataclass among its parameters, but for those named in `without`. As the callback of a
    group it does nothing where a command of the group is named; its --json then counts for that one.
    """

    def decorate(function: Callable[..., Shown | None]) -> Callable[..., None]:
        taken = [_keyword("context", typer.Context, inspect.Parameter.empty)]
        spread: dict[str, tuple[Any, list[str]]] = {}
        for each in list(inspect.signature(function).parameters.values())[1:]:
            if is_dataclass(each.annotation):
                options = [option for option in fields(each.annotation) if option.name not in without]
                spread[each.name] = each.annotation, [option.name for option in options]
                taken += [_keyword(option.name, option.type, option.default) for option in options]
            else:
                taken.append(_keyword(each.name, each.annotation, each.default))
        if json:
            taken.append(_keyword("as_json", Json, False))

        @wraps(function)
        def called(context: typer.Context, as_json: bool = False, **values: Any) -> None:
            hold_words(context)
            as_json = context.meta["amem.json"] = as_json or context.meta.get("amem.json", False)
            if context.invoked_subcommand is not None:
                return
            for name, (made, options) in spread.items():
                values[name] = made(**{option: values.pop(option) for option in options})
            call = replace(context.obj, as_json=as_json, remarks=[])
            try:
                if (shown := function(call, **values)) is not None:
                    shown.show(call)
            finally:
                for remark in call.remarks:
                    tell(remark)

        called.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]  # what Typer reads
        return called

    return decorate


def _keyword(name: str, annotation: object, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
