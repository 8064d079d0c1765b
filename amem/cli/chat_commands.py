"""The chat's slash commands."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from amem.cli.chat_lines import Leave, why_nobody
from amem.cli.chat_screen import MARK
from amem.cli.render import count, one_line, short_id
from amem.conversation.ports import answering, available, check, with_model
from amem.conversation.reply import ended, was_shown
from amem.errors import AmemError, NothingToUndo
from amem.llm.model_names import full_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.cli.chat_screen import Screen
    from amem.conversation.assistant import Assistant
    from amem.conversation.reply import Candidate
    from amem.memory_system import AgenticMemorySystem

#: So many of the notes learnt in a chat are listed.
_MOST = 20
#: So many notes of each sort are shown by /why, unless all are asked for.
_BEST = 3


@dataclass(frozen=True, slots=True)
class Command:
    """``/name arguments``, with what it does in a few words."""

    name: str
    arguments: str
    help: str
    run: Callable[[str], None]


class Commands:
    """Runs slash commands on one chat; `ask` prompts the user for one line more, and raises EOFError at the end."""

    def __init__(
        self, assistant: Assistant, memory: AgenticMemorySystem, screen: Screen, ask: Callable[[str], str]
    ) -> None:
        self._assistant = assistant
        self._memory = memory
        self._screen = screen
        self._ask = ask
        every = (
            Command("why", "[all]", "what was recalled for the last answer, and why", self._why),
            Command("remember", "TEXT", "keep a note exactly as worded", self._remember),
            Command("forget", "TEXT or ID", "hide a note: shows those it may be, and asks which", self._forget),
            Command("undo", "", "take back what was learnt or changed last in this chat", self._undo),
            Command("notes", "", "the notes that are always shown, and those learnt in this chat", self._notes),
            Command("model", "[NAME]", "who answers; with a name, another model from now on", self._model),
            Command("incognito", "[on|off]", "store and learn nothing until it is off again", self._incognito),
            Command("help", "", "this list", self._help),
            Command("quit", "", "leave; so does Ctrl-D", self._quit),
        )
        self._every = {each.name: each for each in every}

    def names(self) -> list[str]:
        """Every command as it is typed."""
        return [f"/{name}" for name in self._every]

    def run(self, line: str) -> None:
        """Run ``/name arguments``; what fails, and a name that is none, gets one line. Raises Leave."""
        name, _, rest = line.removeprefix("/").partition(" ")
        command = self._every.get(name.lower())
        if command is None:
            self._screen.warn(self._unknown(name))
            return
        try:
            command.run(rest.strip())
        except AmemError as error:
            self._screen.warn(why_nobody(error))

    def _unknown(self, name: str) -> str:
        near = get_close_matches(name.lower(), self._every, 1, 0.5)
        meant = f"did you mean /{near[0]}?" if near else "/help lists the commands"
        return f"there is no command /{one_line(name, 40)}: {meant} (// begins a text with a slash)"

    # -- looking ------------------------------------------------------------------------------------------------

    def _why(self, rest: str) -> None:
        last = self._assistant.last()
        if last is None or not last.recalled:
            self._screen.say("nothing was recalled for the last answer")
            return
        found, shown = last.recalled, was_shown(last.state, last.model)
        if not shown:
            self._screen.say(ended(last.state, ""))
        whole = rest.strip().lower() == "all"
        self._screen.recalled(found, shown=shown, most=None if whole else _BEST)
        if not whole and len(found) > _BEST:
            self._screen.say("/why all shows everything")

    def _notes(self, rest: str) -> None:
        screen, memory = self._screen, self._memory
        core = [each.note for each in memory.core_chosen(memory.settings.core_tokens)]
        screen.say("always shown to the model:" if core else "no note is always shown to the model")
        screen.notes(core)
        learnt = [id for turn in self._assistant.replay() for id in turn.learnt]
        held = [note for id in dict.fromkeys(learnt) if (note := memory.read(id)) is not None]
        screen.say("learnt in this chat:" if held else "nothing was learnt in this chat yet")
        screen.notes(held[-_MOST:])
        if len(held) > _MOST:
            screen.say(f"and {count(len(held) - _MOST, 'note')} before these")

    def _help(self, rest: str) -> None:
        self._screen.say("what is typed here is said to the model, but for:")
        for each in self._every.values():
            self._screen.pair(f"/{each.name} {each.arguments}".rstrip(), each.help)
        self._screen.pair("//text", "say something that begins with a slash")
        self._screen.pair('\\ at the end, or """', 'go on in the next line, until """ ends it')
        self._screen.pair("Ctrl-C", "stop the answer; at the prompt: clear the line, twice: leave")

    # -- changing -----------------------------------------------------------------------------------------------

    def _remember(self, rest: str) -> None:
        from amem.cli.render import print_receipt

        if not rest:
            self._screen.warn("what? /remember TEXT keeps a note exactly as worded")
            return
        receipt = self._assistant.remember(rest)
        print_receipt(self._memory, receipt, mark=MARK)
        if receipt.error:
            self._screen.warn(f"the note is stored, but not fully analysed: {receipt.error}")
        if receipt.stored:
            self._screen.say("undo with /undo")

    def _forget(self, rest: str) -> None:
        screen = self._screen
        if not rest:
            screen.warn("what? /forget TEXT finds the notes that it may be, /forget ID hides one")
            return
        outcome = self._assistant.forget(rest)
        if outcome.note is not None:
            self._hidden([outcome.note])
            return
        if not outcome.candidates:
            screen.say("nothing matches: no note has these words, or comes near them")
            return
        screen.say("which of these?" if outcome.worded else "nearest, though none has these words:")
        for place, each in enumerate(outcome.candidates, start=1):
            screen.choice(place, each.note, each.text)
        chosen = self._chosen(outcome.candidates)
        hidden = [id for each in chosen if (id := self._assistant.forget(each.note).note) is not None]
        if hidden:
            self._hidden(hidden)
        else:
            screen.say("nothing was forgotten")

    def _chosen(self, candidates: tuple[Candidate, ...]) -> list[Candidate]:
        """Those whose numbers are typed; none for anything else."""
        try:
            said = self._ask("forget which? numbers, or Enter for none: ")
        except (EOFError, KeyboardInterrupt):
            self._screen.gap()
            return []
        numbers = said.replace(",", " ").replace("，", " ").replace("、", " ").split()
        wrong = [each for each in numbers if not each.isdecimal() or not 1 <= int(each) <= len(candidates)]
        if wrong:
            self._screen.warn(f"{one_line(wrong[0], 20)} is none of the numbers")
            return []
        return [candidates[place - 1] for place in dict.fromkeys(int(each) for each in numbers)]

    def _hidden(self, ids: list[str]) -> None:
        many = " (once for each)" if len(ids) > 1 else ""
        self._screen.say(f"forgot {', '.join(short_id(id) for id in ids)}: undo with /undo{many}, or amem restore ID")
        self._say_stored()

    def _say_stored(self) -> None:
        """Who is incognito expects nothing to change, and is told of what does."""
        if self._assistant.incognito:
            self._screen.say("this change is stored, though you are incognito")

    def _undo(self, rest: str) -> None:
        from amem.cli.logbook import Logbook

        try:
            report = self._assistant.undo()
        except NothingToUndo:
            self._screen.say("nothing of this chat is left to take back (amem log shows everything)")
            return
        self._screen.say(f"undone: {Logbook(self._memory).reversal(report.operation)}")
        for each in report.kept:
            self._screen.warn(f"left alone: {each.item} of {short_id(each.note)}, {each.why}")
        self._say_stored()

    def _model(self, rest: str) -> None:
        memory, settings = self._memory, self._memory.settings
        if rest:
            wanted = with_model(settings, rest)
            name = full_name(wanted.llm_backend, wanted.llm_model)
            check(wanted, name)
            self._assistant.use(lambda: memory.chat_model(wanted))
            self._screen.say(f"from now on: {answering(wanted, name)}")
            return
        try:
            self._screen.say(f"answers come from {answering(settings, self._assistant.model)}")
        except AmemError as error:
            self._screen.warn(f"no model answers: {why_nobody(error)}")
        found = available(settings)
        if found is None:
            self._screen.say(f"no Ollama answers at {settings.ollama_host}")
        elif found:
            self._screen.say(f"Ollama has {', '.join(found)}; /model NAME changes to one")
        else:
            self._screen.say("Ollama has no chat model: amem models pull NAME gets one")

    def _incognito(self, rest: str) -> None:
        wanted = {"on": True, "off": False, "": not self._assistant.incognito}.get(rest.lower())
        if wanted is None:
            self._screen.warn("/incognito on, or /incognito off")
            return
        self._assistant.incognito = wanted
        self._screen.say(
            "incognito: nothing is stored, learnt or counted until /incognito off" if wanted else "incognito is off"
        )

    def _quit(self, rest: str) -> None:
        raise Leave
