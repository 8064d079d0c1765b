"""``amem chat``: in a pipe and at a terminal, killed and resumed, in English and Chinese."""

from __future__ import annotations

import json
import re
import shutil
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from _judging_model import judging_model
from hypothesis import given
from hypothesis import strategies as st

from amem import AgenticMemorySystem
from amem.cli.chat_screen import Folder
from amem.settings import Settings
from amem.testing import FakeOllama, Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Cli


def talking(reply: Callable[[str], Any]) -> Callable[[dict[str, Any]], Any]:
    """A model that is willing in everything but conversation, where `reply` answers the last message."""

    def answer(request: dict[str, Any]) -> Any:
        said = (
            reply(request["messages"][-1]["content"]) if "messages" in request and not request.get("format") else None
        )
        return judging_model(request) if said is None else said

    return answer


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    with FakeOllama(judging_model) as server:
        yield server


@pytest.fixture(scope="module")
def two_notes(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Path:
    """A home with two notes; to be copied."""
    with AgenticMemorySystem(
        settings=Settings(home=tmp_path_factory.mktemp("two"), cache=model_cache, llm_backend="offline")
    ) as memory:
        memory.add_notes(["Ana lives in Lisbon and works for a bakery.", "我住在里斯本，最喜欢喝绿茶。"])
        return memory.settings.home


@pytest.fixture
def chat(cli: Cli, two_notes: Path, ollama: FakeOllama) -> Cli:
    """A home with two notes whose chats a willing model answers."""
    shutil.copytree(two_notes, cli.home)
    cli.env |= {"AMEM_LLM_BACKEND": "ollama", "OLLAMA_HOST": ollama.host, "AMEM_LLM_RETRIES": "0"}
    return cli


def turns(cli: Cli, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli.json("chat", "--replay", *words)["turns"]
    return found


class TestPipe:
    """Not at a terminal."""

    def test_each_line_is_a_turn_and_only_answers_are_printed(self, chat: Cli) -> None:
        printed = chat.ok("chat", input="Where does Ana live?\n\n我喜欢喝什么？\n")

        first, second = printed.splitlines()
        assert "Lisbon" in first
        assert "绿茶" in second
        assert [each["question"] for each in turns(chat)] == ["Where does Ana live?", "我喜欢喝什么？"]

    def test_slash_commands_run_as_at_a_terminal_and_are_never_learnt(self, chat: Cli) -> None:
        lines = (
            "Where does Ana live?\n/why\n/remember 我对芒果过敏。\n/undo\n/wy\n//etc is a folder.\n/quit\nnever said\n"
        )
        before = {note["content"] for note in chat.json("list")}
        result = chat("chat", input=lines)

        assert result.exit_code == 0
        asked = result.stdout.index("Ana lives in Lisbon")
        assert asked < result.stdout.index("我对芒果过敏") < result.stdout.index("· undone: addition of ")
        assert "there is no command /wy: did you mean /why?" in result.stdout
        assert [each["question"] for each in turns(chat)] == ["Where does Ana live?", "/etc is a folder."]
        learnt = {note["content"] for note in chat.json("list")} - before
        assert not [each for each in learnt if each.startswith(("/why", "/undo", "/quit")) or "芒果" in each]

    def test_a_pipe_is_not_asked_which_note_to_forget(self, chat: Cli) -> None:
        found = chat.json("search", "Ana")[0]
        answered = chat("chat", "--json", input=f"/forget {found['content']}\n1\nHello there.\n")
        assert [json.loads(line)["question"] for line in answered.stdout.splitlines()] == ["1", "Hello there."]
        assert "nothing was forgotten: /forget ID forgets one of them" in answered.stderr
        assert found["id"][:8] in answered.stderr
        assert "forgot " in chat("chat", "--json", input=f"/forget {found['id'][:8]}\n").stderr
        assert found["content"] not in {note["content"] for note in chat.json("list")}

    def test_json_is_an_object_a_turn(self, chat: Cli) -> None:
        lines = chat.ok("chat", "--json", input="我喜欢喝什么？\nI bought a red bike in March.\n").splitlines()

        first, second = map(json.loads, lines)
        assert first["in_memory"] is True
        assert first["state"] == "answered"
        assert "绿茶" in first["recalled"][0]["text"]
        assert (first["session"], first["turn"], second["turn"]) == (second["session"], 1, 2)

    def test_a_line_is_answered_from_what_the_line_before_it_taught(self, chat: Cli) -> None:
        printed = chat.ok("chat", input="Wen is allergic to shrimp.\nWhat is Wen allergic to?\n")

        assert "shrimp" in printed.splitlines()[1]

    def test_what_memory_does_not_hold_is_said_to_be_so(self, chat: Cli) -> None:
        # Of the two notes each is in a language in which the other's question cannot be looked up.
        assert json.loads(chat.ok("chat", "--json", input="What is the name of my dog?\n"))["in_memory"] is None
        for note in chat.json("list"):
            if note["content"].startswith("我"):
                chat.ok("delete", note["id"])
        assert chat.ok("chat", input="What is the name of my dog?\n").startswith("That is not in memory.\n")

    def test_without_a_model_what_was_recalled_is_printed(self, chat: Cli) -> None:
        result = chat("chat", input="Where does Ana live?\n我喜欢喝什么？\n", OLLAMA_HOST="127.0.0.1:9")

        assert result.exit_code == 3
        assert "Ana lives in Lisbon" in result.stdout
        assert "喜欢绿茶" in result.stdout
        assert result.stderr.count("no model answers: ") == 2
        assert "(start it with `ollama serve`" in result.stderr

    def test_a_model_that_was_not_pulled_is_named_with_what_to_do(self, chat: Cli) -> None:
        first = json.loads(chat.ok("chat", "--json", input="Where does Ana live?\n"))
        result = chat("chat", "--model", "qwen3:4b", input="Where does Ana live?\nAna 住在哪里？\n")
        assert result.exit_code == 3
        assert "amem models pull qwen3:4b" in result.stderr
        assert [each["id"] for each in chat.json("chat", "--list")] == [first["session"]], "it is no chat to go on with"

    def test_a_line_that_is_longer_than_a_note_is_refused_before_anything_is_done(self, chat: Cli) -> None:
        refused = chat.refused("chat", input="字" * 20_001 + "\n")
        assert refused.startswith("the message has 20,001 characters; the limit is 20,000 (amem import")
        assert chat.json("chat", "--list") == []

    def test_a_talk_that_taught_nothing_is_a_line_of_the_log(self, chat: Cli) -> None:
        chat.ok("chat", input="What is the name of my dog?\nI moved to Porto in May.\n")

        told = [each["summary"] for each in chat.json("log", "-n", "2")]
        assert re.fullmatch(r"learnt nothing from a conversation \(2 messages of [0-9a-f]{8}\)", told[1])
        assert not told[0].startswith("learnt nothing")

    @pytest.mark.parametrize("screen", [True, False])
    def test_the_log_only_counts_talks_that_taught_nothing(
        self, chat: Cli, monkeypatch: pytest.MonkeyPatch, screen: bool
    ) -> None:
        chat.ok("chat", input="What is the name of my dog?\nI moved to Porto in May.\n")
        monkeypatch.setattr("amem.cli.history.on_terminal", lambda: screen)
        shown, every = chat("log"), chat("log", "--all")
        assert "1 conversation taught nothing new (--all shows them)" in shown.stderr
        assert "learnt nothing" not in shown.stdout
        assert "learnt nothing" in every.stdout

    def test_another_model_answers_when_it_is_named(self, chat: Cli, ollama: FakeOllama) -> None:
        ollama.models.append("qwen3:4b")
        (reply,) = chat.ok("chat", "--model", "qwen3:4b", "--json", input="Where does Ana live?\n").splitlines()
        assert json.loads(reply)["model"] == "ollama/qwen3:4b"

    def test_incognito_leaves_nothing(self, chat: Cli) -> None:
        before = len(chat.json("list"))
        chat.ok("chat", "--incognito", input="I moved to Porto in May.\n")
        assert chat.json("chat", "--list") == []
        assert len(chat.json("list")) == before

    def test_a_chat_goes_on_where_it_stopped(self, chat: Cli) -> None:
        first = json.loads(chat.ok("chat", "--json", input="Where does Ana live?\n"))
        chat.ok("chat", input="Who works for a bakery?\n")

        again = chat.ok("chat", "--resume", first["session"][:8], "--json", input="And what do I drink?\n")

        assert json.loads(again)["turn"] == 2
        listed = chat.json("chat", "--list")
        assert [(each["id"] == first["session"], each["turns"]) for each in listed] == [(True, 2), (False, 1)]
        assert json.loads(chat.ok("chat", "--resume", "--json", input="Ana?\n"))["session"] == first["session"]
        assert [line.split("\t")[2] for line in chat.ok("chat", "--list").splitlines()] == ["3", "1"]

    def test_a_replay_shows_what_was_recalled_and_learnt(self, chat: Cli) -> None:
        chat.ok("chat", input="Where does Ana live?\nI moved to Porto in May.\n")

        (first,) = turns(chat, "--turn", "1")
        (second,) = turns(chat, "--turn", "2")
        assert first["recalled"][0]["injected"] is True
        assert first["recalled"][0]["score"] > 0.5
        assert "meaning" in first["recalled"][0]["why"]
        (note,) = second["learnt"]
        assert "Porto" in chat.json("show", note)["content"]
        printed = chat.ok("chat", "--replay", "--turn", "2")
        assert printed.startswith("2\tasked\t")
        assert f"learnt\t{note[:8]}" in printed

    def test_a_model_cannot_drive_the_terminal(self, chat: Cli) -> None:
        with FakeOllama(talking(lambda said: "See \x1b]0;owned\x07 \x1b[2J and \u202e back.")) as rude:
            printed = chat.ok("chat", input="Hello!\n", OLLAMA_HOST=rude.host)
        assert "\x1b" not in printed
        assert "\u202e" not in printed


class TestWrongUse:
    @pytest.mark.parametrize(
        ("words", "line"),
        [
            (("chat", "--resume", "--list"), "--resume, --list and --replay exclude each other"),
            (("chat", "abcd"), "to go on with chat abcd, give --resume"),
            (("chat", "--turn", "1"), "--turn goes with --replay"),
        ],
    )
    def test_options_that_do_not_go_together(self, cli: Cli, words: tuple[str, ...], line: str) -> None:
        assert line in cli.refused(*words, code=2)

    def test_a_chat_that_is_not_there(self, chat: Cli) -> None:
        assert chat.refused("chat", "--resume") == "there is no chat yet (amem chat begins one)"
        assert chat.refused("chat", "--replay", "zzzz").startswith("no chat 'zzzz' (amem chat --list")
        assert chat.refused("chat", "--resume", "zzzz").startswith("no chat 'zzzz' (amem chat --list")
        assert chat.json("chat", "--list") == []

    def test_bytes_that_are_no_text(self, chat: Cli) -> None:
        assert "UTF-8" in chat.refused("chat", input=b"caf\xe9\n")


class TestFolding:
    """A model's text, folded as it arrives."""

    def folded(self, text: str, width: int = 30, piece: int = 7) -> str:
        folder = Folder(width)
        parts = [folder.feed(text[start : start + piece]) for start in range(0, len(text), piece)]
        return "".join([*parts, folder.end()])

    def test_lines_end_between_words(self) -> None:
        assert self.folded("The quick brown fox jumps over the lazy dog.") == (
            "  The quick brown fox jumps\n  over the lazy dog."
        )

    def test_chinese_ends_anywhere_but_before_punctuation(self) -> None:
        assert self.folded("我住在里斯本，喜欢喝咖啡和茶，真的。") == "  我住在里斯本，喜欢喝咖啡和\n  茶，真的。"

    def test_indentation_is_kept_and_long_words_are_cut(self) -> None:
        assert self.folded("x:\n    y = 1\n" + "z" * 40) == f"  x:\n      y = 1\n  {'z' * 28}\n  {'z' * 12}"

    @given(
        st.text(alphabet="ab 漢字，。（\n\t\x1b\u202e👍e\u0301", max_size=120), st.integers(8, 40), st.integers(1, 9)
    )
    def test_nothing_is_lost_and_every_line_fits(self, text: str, width: int, piece: int) -> None:
        from rich.cells import cell_len

        from amem.labels import visible

        shown = self.folded(text, width, piece)

        assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", visible(text))
        assert all(cell_len(line) <= max(width, 10) and line[:2].isspace() for line in shown.split("\n") if line)
        assert shown == self.folded(text, width, 200)


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
class TestTerminal:
    """At a terminal."""

    def sit(self, cli: Cli, *words: str, columns: int = 80, **env: str) -> Any:
        from sitting import Sitting

        return Sitting("--home", str(cli.home), "chat", *words, env=cli.env | env, columns=columns)

    def test_a_sitting(self, chat: Cli) -> None:
        from sitting import CTRL_C, CTRL_D, ENTER, PROMPT

        endless = "I could go on like this. " * 2000

        def reply(said: str) -> Any:
            return endless if "story" in said else None

        with FakeOllama(talking(reply)) as ollama, self.sit(chat, OLLAMA_HOST=ollama.host) as sitting:
            greeting = sitting.until(PROMPT)
            assert "llama3.2, from Ollama at 127.0.0.1:" in greeting
            assert "2 notes; /help" in greeting

            assert "\n  You told me: " in sitting.say("Where does Ana live?")
            why = sitting.say("/why")
            assert "\n· shown to the model, best first:\n" in why
            assert "Ana lives in Lisbon and works for a bakery.\n" in why

            ollama.fault, ollama.pace = Fault.TRICKLE, 0.1
            sitting.keys("What about a story?" + ENTER)
            sitting.until("  I could go on")
            sitting.keys(CTRL_C)
            assert "\n· stopped\n" in sitting.until(PROMPT)
            ollama.fault = None

            sitting.say("我的狗叫什么名字？")
            assert "· saved “I moved to Porto in May.”: undo with /undo\n" in sitting.learnt("I moved to Porto in May.")
            assert "Porto" in sitting.say("/notes")
            undone = sitting.say("/undo")
            assert "· undone: learning of “" in undone
            assert "1 note removed" in undone

            assert "did you mean /model?" in sitting.say("/modle")
            assert "Ollama has no model nope (run `amem models pull nope`)" in sitting.say("/model nope")
            sitting.keys("/forget 绿茶" + ENTER)
            assert "我住在里斯本，最喜欢喝绿茶。" in sitting.until("Enter for none: ")
            assert "· forgot " in sitting.say("1")
            assert "undone: deletion of “我住在里斯本，最喜欢喝绿茶。” (1 note restored)" in sitting.say("/undo")
            assert "· incognito: nothing is stored" in sitting.say("/incognito")
            sitting.say("I secretly moved to Faro.")
            sitting.say("/incognito off")
            sitting.keys(CTRL_D)
            sitting.until(re.compile(r"go on with: amem --home \S+ chat --resume [0-9a-f]{8}\n"))
            assert sitting.end() == 0
            assert ollama.hung_up == 1

        told = turns(chat)
        assert [each["state"] for each in told] == ["answered", "interrupted", "answered", "answered"]
        assert told[1]["answer"]
        assert len(told[1]["answer"]) < len(endless)
        contents = " ".join(note["content"] for note in chat.json("list"))
        assert "绿茶" in contents
        assert "Porto" not in contents
        assert "Faro" not in contents

    def test_what_amem_says_itself_begins_with_a_dot(self, chat: Cli) -> None:
        from sitting import ENTER, PROMPT

        with FakeOllama(judging_model) as ollama, self.sit(chat, OLLAMA_HOST=ollama.host) as sitting:
            sitting.until(PROMPT)

            def said(text: str) -> list[str]:
                return sitting.say(text).replace("\n> ", "").split("\n")[1:]

            for command in ("/help", "/remember 我对花生过敏。", "/notes", "/why", "/model"):
                lines = [line for line in said(command) if line]
                assert lines[0].startswith("· "), command
                assert all(line.startswith(("· ", "  ")) for line in lines), command
            assert said("/forget zzzz")[:1] == ["· nothing matches: no note has these words, or comes near them"]
            sitting.keys("/forget her employer" + ENTER)
            assert "· nearest, though none has these words:\n   1  " in sitting.until("Enter for none: ")
            sitting.keys(ENTER)
            sitting.until(PROMPT)
            sitting.keys("/forget 绿茶" + ENTER)
            assert "· which of these?\n   1  " in sitting.until("Enter for none: ")

    def test_a_killed_terminal_goes_on_where_it_stopped(self, chat: Cli) -> None:
        from sitting import CTRL_D, ENTER, PROMPT, UP

        with FakeOllama(talking(lambda said: "你住在里斯本，那里的海很蓝，人也很好。" * 20), pace=0.02) as ollama:
            with self.sit(chat, OLLAMA_HOST=ollama.host) as sitting:
                sitting.until(PROMPT)
                ollama.fault = Fault.TRICKLE
                sitting.keys("我住在哪里？" + ENTER)
                sitting.until("  你住在里斯本")
                sitting.kill()
            ollama.fault = None

            with self.sit(chat, "--resume", OLLAMA_HOST=ollama.host, columns=50, NO_COLOR="1") as sitting:
                earlier = sitting.until(PROMPT)
                assert "goes on after 1 turn" in earlier
                assert "> 我住在哪里？\n" in earlier
                assert "never answered: the terminal was closed" in earlier
                sitting.keys(UP)
                sitting.until("我住在哪里？")
                answered = sitting.say("")
                sitting.keys("\x1b[200~first line\nsecond line\x1b[201~")
                sitting.say("")
                sitting.say("one\\" + ENTER + "two")
                sitting.keys(CTRL_D)
                assert sitting.end() == 0
                assert not re.search(r"\x1b\[[0-9;]*3[0-9][;m]", sitting.raw)

        from rich.cells import cell_len

        assert max(map(cell_len, answered.splitlines())) <= 50
        asked = [each["question"] for each in turns(chat)]
        assert asked == ["我住在哪里？", "我住在哪里？", "first line\nsecond line", "one\ntwo"]

    def test_tab_completes_commands_and_notes_and_a_text_may_have_several_lines(self, chat: Cli) -> None:
        from sitting import CTRL_D, ENTER, PROMPT

        (bakery,) = [each["id"] for each in chat.json("list") if "bakery" in each["content"]]
        with FakeOllama(judging_model) as ollama, self.sit(chat, OLLAMA_HOST=ollama.host) as sitting:
            sitting.until(PROMPT)
            sitting.keys("/fo\t")
            sitting.until("/forget ")
            sitting.press("baker\t")
            sitting.until(bakery[:8])
            assert "· forgot " in sitting.say("")
            sitting.say('"""我住在里斯本。' + ENTER + 'The sea is blue."""')
            sitting.keys("one" + "\x1b\r" + "two" + ENTER)
            sitting.until(PROMPT)
            sitting.keys(CTRL_D)
            assert sitting.end() == 0
        assert [each["question"] for each in turns(chat)] == ["我住在里斯本。\nThe sea is blue.", "one\ntwo"]

    def test_a_replay_tells_what_was_taken_back_since(self, chat: Cli) -> None:
        chat.ok("chat", input="I moved to Porto in May.\n")
        chat.ok("undo")
        with self.sit(chat, "--replay") as sitting:
            sitting.until(re.compile(r"· 1 note learnt \(operation \d+\), and taken back since\n"))
            assert sitting.end() == 0

    def test_leaving_waits_for_what_is_being_learnt(self, chat: Cli) -> None:
        from sitting import CTRL_D, PROMPT

        thought = threading.Event()

        def slow(request: dict[str, Any]) -> Any:
            if request.get("format"):
                thought.wait(60)
            return judging_model(request)

        with FakeOllama(slow) as ollama, self.sit(chat, OLLAMA_HOST=ollama.host) as sitting:
            sitting.until(PROMPT)
            assert "saved" not in sitting.say("我上个月搬到了波尔图。")
            sitting.keys(CTRL_D)
            sitting.until("· learning from what was said; Ctrl-C leaves that for later\n")
            thought.set()
            assert "· saved “" in sitting.until("go on with: ")
            assert sitting.end() == 0
        assert "我上个月搬到了波尔图。" in {note["content"] for note in chat.json("list")}

    def test_without_a_model_it_shows_what_it_remembers(self, chat: Cli) -> None:
        from sitting import CTRL_C, PROMPT

        with self.sit(chat, OLLAMA_HOST="127.0.0.1:9") as sitting:
            assert "no Ollama answers at http://127.0.0.1:9" in sitting.until(PROMPT)
            said = sitting.say("Where does Ana live?")
            assert "waiting for the model" not in said
            assert "· still no model answers; this is what memory holds\n" in said
            assert "ollama serve" not in said.split("· learnt ")[0]
            assert "  Ana lives in Lisbon, since " in said
            why = sitting.say("/why")
            assert "\n· no model answered\n· came to mind, best first:\n" in why
            assert "shown to the model" not in why
            sitting.keys("never mind")
            sitting.until("never mind")
            sitting.press(CTRL_C)
            sitting.until_gone("never mind")
            assert "Ctrl-C" not in sitting.screen
            sitting.press(CTRL_C)
            sitting.until("Ctrl-C again leaves")
            sitting.until(PROMPT)
            sitting.keys(CTRL_C)
            sitting.until("go on with: ")
            assert sitting.end() == 0
        with self.sit(chat, "--resume", OLLAMA_HOST="127.0.0.1:9") as again:
            again.until(PROMPT)
            assert again.say("/why") == why
            again.keys(CTRL_C)
            again.until("Ctrl-C again leaves")
            again.until(PROMPT)
            again.keys(CTRL_C)
            again.until("go on with: ")
            assert again.end() == 0
        with self.sit(chat, "--replay") as replay:
            assert "· came to mind, best first:\n" in replay.until("no model answered")
            assert replay.end() == 0
        lines = [line.split("\t") for line in chat.ok("chat", "--replay").splitlines()]
        assert {line[5] for line in lines if line[1] == "recalled"} == {"not shown"}
