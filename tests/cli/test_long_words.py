"""Every command takes a word that is a book calmly: it ends in a short line, and the collection does not grow by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from amem.cli.app import app
from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Cli

    from amem import AgenticMemorySystem
_BOOK = "lorem ipsum " * 420_000
#: Characters on standard error, and bytes.
_MOST_SAID, _MOST_GROWN = 2_000, 100_000


class Place(NamedTuple):
    """Where a command takes text: its words with the book in place."""

    command: tuple[str, ...]
    parameter: Any
    others: tuple[Any, ...]

    def words(self, note: str, text: str) -> list[str]:
        words = list(self.command)
        for each in self.others:
            given = text if each is self.parameter else note if _takes_text(each) else "1"
            if each.param_type_name == "argument" and (each is self.parameter or each.required):
                words.append(given)
            elif each.param_type_name == "option" and (each is self.parameter or each.required):
                words += [each.opts[0], given]
        return words

    def __str__(self) -> str:
        return " ".join((*self.command, self.parameter.opts[0]))


def _takes_text(parameter: Any) -> bool:
    annotation = str(parameter.type_descriptor.annotation)
    return "str" in annotation or "Path" in annotation


def _places(command: Any, path: tuple[str, ...] = ()) -> Iterator[Place]:
    taking = tuple(each for each in command.params if hasattr(each, "type_descriptor"))
    yield from (Place(path, each, taking) for each in taking if _takes_text(each))
    if isinstance(command, TyperGroup):
        for name in command.list_commands(None):
            yield from _places(command.get_command(None, name), (*path, name))


#: All but the one that waits for a server that is not here.
_PLACES = [each for each in _places(get_command(app)) if each.command != ("models", "pull")]


def test_the_table_of_commands_names_the_places_that_take_text():
    assert {"facts subject", "retract --reason", "show ids", "topic name", "--home"} <= set(map(str, _PLACES))


@pytest.mark.thorough
@pytest.mark.parametrize("command", sorted({each.command for each in _PLACES}), ids=" ".join)
def test_a_book_as_any_word_of_a_command_ends_in_a_short_line(
    with_a_note: tuple[Cli, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
):
    monkeypatch.chdir(tmp_path)
    cli, note = with_a_note
    for place in (each for each in _PLACES if each.command == command):
        before = _size(cli.home)
        result = cli(*place.words(note, _BOOK))
        assert result.exit_code in (0, 1, 2), f"{place}: {result.stderr[:300]}"
        assert len(result.stderr) < _MOST_SAID, str(place)
        assert "Traceback" not in result.stderr, str(place)
        assert "lorem ipsum " * 40 not in result.output, str(place)
        assert _size(cli.home) - before < _MOST_GROWN, str(place)


def test_the_line_names_the_limit(cli: Cli):
    note = cli.add("The deadline is Friday")
    for words in (["facts", _BOOK], ["timeline", _BOOK], ["retract", note, "--reason", _BOOK], ["topic", _BOOK]):
        assert "has 5,040,000 characters; at most 4,000 are allowed" in cli.refused(*words)
    assert "one of the ids has 5,040,000 characters" in cli.refused("show", _BOOK)
    assert cli.json("show", note)["content"] == "The deadline is Friday"


def test_an_error_quotes_little_of_what_it_names(cli: Cli):
    cli.add("The deadline is Friday")
    for text in ("lorem ipsum " * 100, "截止日期" * 300):
        for command in ("show", "history", "topic"):
            said = cli.refused(command, text)
            assert "[...]" in said
            assert len(said) < 160
        assert len(cli("facts", text).stderr) < 160


def test_a_reason_has_the_limit_of_other_short_texts(memory: AgenticMemorySystem):
    note = memory.add("The deadline is Friday").id
    with pytest.raises(InvalidInput, match="reason has 4,001 characters; at most 4,000"):
        memory.retract(note, reason="x" * 4_001)
    assert memory.retract(note, reason="x" * 4_000)


def _size(home: Path) -> int:
    return sum(each.stat().st_size for each in home.rglob("*") if each.is_file())
