"""Answers in pieces from Ollama, over the wire: as they are written, without thoughts, and broken off cleanly."""

from __future__ import annotations

import threading
import time

import pytest

from amem.errors import BadModelAnswer, Cancelled, MissingModel, ServiceUnavailable
from amem.llm.ollama_chat import OllamaChat
from amem.llm.thought_filter import Thoughts
from amem.note import Message, Role
from amem.testing import FakeOllama, Fault

ASKED = [
    Message(Role.SYSTEM, "Answer briefly."),
    Message(Role.USER, "早上好", speaker="Mei"),
    Message(Role.ASSISTANT, "早上好！"),
    Message(Role.USER, "What is annealing?"),
]
TEXT = "Annealing cools a metal slowly. 退火是缓慢冷却金属的过程。"


def streamed(ollama, **options):
    return OllamaChat("llama3.2", host=ollama.host, **options)


def test_the_pieces_are_the_answer_and_its_cost_is_counted():
    with FakeOllama(TEXT) as ollama:
        chat = streamed(ollama)
        pieces = list(chat.stream(ASKED, temperature=0.2))
        assert "".join(pieces) == TEXT
        assert len(pieces) > 2
        (request,) = ollama.asked("/api/chat")
        assert request["stream"] is True
        assert request["messages"] == [{"role": str(each.role), "content": each.content} for each in ASKED]
        assert request["options"]["temperature"] == 0.2
        assert (chat.usage.calls, chat.usage.tokens_out) == (1, len(TEXT.split()))
        assert ollama.hung_up == 0


def test_a_piece_arrives_before_the_answer_is_complete():
    with FakeOllama(TEXT, fault=Fault.TRICKLE, pace=30) as ollama:
        pieces = streamed(ollama).stream(ASKED)
        started = time.monotonic()
        assert TEXT.startswith(next(pieces))
        assert time.monotonic() - started < 10
        pieces.close()


def test_nobody_is_asked_before_the_first_piece_is_wanted():
    with FakeOllama(TEXT) as ollama:
        pieces = streamed(ollama).stream(ASKED)
        assert ollama.requests == []
        pieces.close()
        assert ollama.requests == []


def test_closing_the_iterator_hangs_up_and_counts_about_what_was_spent():
    with FakeOllama(TEXT * 100, fault=Fault.TRICKLE, pace=0.01) as ollama:
        chat = streamed(ollama)
        pieces = chat.stream(ASKED)
        next(pieces)
        pieces.close()
        deadline = time.monotonic() + 5
        while ollama.hung_up == 0 and time.monotonic() < deadline:
            time.sleep(0.005)
        assert ollama.hung_up == 1
        assert chat.usage.calls == 1
        assert chat.usage.tokens_in > 10
        assert chat.usage.tokens_out > 0
        ollama.fault = None
        assert "".join(chat.stream(ASKED)) == TEXT * 100


def test_what_the_settings_say_of_the_model_is_sent():
    with FakeOllama(TEXT) as ollama:
        list(streamed(ollama, window=2048, max_tokens=64, keep_alive="1h").stream(ASKED))
        streamed(ollama, keep_alive="-1").complete("x")
        first, second = ollama.asked("/api/chat")
        assert first["options"] == {"temperature": 0.7, "num_ctx": 2048, "num_predict": 64}
        assert (first["keep_alive"], second["keep_alive"]) == ("1h", -1)
        assert "think" not in first


def test_only_an_answer_held_to_a_schema_forbids_thinking():
    with FakeOllama({"a": 1}) as ollama:
        streamed(ollama).complete("x", schema={"type": "object"})
        assert ollama.asked("/api/chat")[0]["think"] is False


@pytest.mark.parametrize(
    ("fault", "passing", "said"),
    [
        (Fault.CUT, True, "broke off before ollama/llama3.2 had answered"),
        (Fault.FAILING, True, "llama runner process has terminated"),
        (Fault.RESET, True, "broke off"),
        (Fault.ERROR, True, "could not answer with llama3.2"),
        (Fault.BUSY, True, "server busy"),
        (Fault.LIMITED, True, "rate limit"),
        (Fault.SLOW, False, r"did not answer within 0\.3 seconds"),
        (Fault.DENIED, False, "wants a key"),
        (Fault.NOT_OLLAMA, False, "does not answer like Ollama"),
    ],
)
@pytest.mark.parametrize("how", ["complete", "stream"])
def test_every_failure_is_one_error_that_says_whether_it_may_pass(fault, passing, said, how):
    with FakeOllama(TEXT, fault=fault) as ollama:
        chat = streamed(ollama, timeout=0.3 if fault is Fault.SLOW else 20)
        with pytest.raises(ServiceUnavailable, match=said) as caught:
            chat.complete("x") if how == "complete" else list(chat.stream(ASKED))
        assert caught.value.passing is passing
        assert caught.value.hint


def test_what_was_written_before_a_stream_broke_is_handed_out():
    with FakeOllama(TEXT * 3, fault=Fault.CUT) as ollama:
        got = []
        with pytest.raises(ServiceUnavailable):
            got.extend(streamed(ollama).stream(ASKED))  # keeps what came before the error
        assert got
        assert (TEXT * 3).startswith("".join(got))


def test_nobody_there_and_no_model_are_said_before_the_first_piece():
    with FakeOllama(TEXT, models=[]) as ollama:
        with pytest.raises(MissingModel) as caught:
            next(streamed(ollama).stream(ASKED))
        assert caught.value.hint == "run `amem models pull llama3.2`"
    with pytest.raises(ServiceUnavailable, match="no Ollama answers") as absent:
        next(streamed(ollama).stream(ASKED))
    assert not absent.value.passing


def test_a_whole_answer_has_its_time_even_when_pieces_keep_coming():
    with FakeOllama(TEXT * 50, fault=Fault.TRICKLE, pace=0.05) as ollama:
        started = time.monotonic()
        with pytest.raises(ServiceUnavailable, match=r"within 0\.5 seconds"):
            streamed(ollama, timeout=0.5).complete("x")
        assert time.monotonic() - started < 15


def test_a_cancelled_chat_ends_all_its_calls_and_takes_new_ones():
    with FakeOllama(TEXT, fault=Fault.SLOW) as ollama:
        chat = streamed(ollama)
        errors = []

        def ask():
            try:
                chat.complete("x")
            except Cancelled as error:
                errors.append(error)

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 5
        while len(ollama.requests) < 3 and time.monotonic() < deadline:
            time.sleep(0.005)
        chat.cancel()
        for thread in threads:
            thread.join(1)
        assert len(errors) == 3
        ollama.fault = None
        assert chat.complete("x") == TEXT


# --- thoughts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fault", "shown"), [(Fault.THINKING, TEXT), (Fault.UNCLOSED, "")])
def test_thoughts_are_not_streamed(fault, shown):
    with FakeOllama(TEXT, fault=fault) as ollama:
        assert "".join(streamed(ollama).stream(ASKED)) == shown


def test_a_model_that_thinks_until_its_tokens_are_used_up_is_an_error():
    # The whole text of the thought is cut in half, as by the limit on tokens.
    with FakeOllama("<think>hm " + "hm " * 50 + "</think>" + TEXT, fault=Fault.TRUNCATED) as ollama:
        chat = streamed(ollama, max_tokens=64)
        with pytest.raises(BadModelAnswer, match="used up the 64 tokens") as caught:
            list(chat.stream(ASKED))
        assert "llm_context" in caught.value.hint
        assert chat.usage.calls == 1


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 100])
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("<think>hm</think>\n\nYes.", "Yes."),
        ("\n <think>\n</think>Yes. ", "Yes. "),
        ("<think>never ends </thin", ""),
        ("Yes.", "Yes."),
        ("  Yes.", "  Yes."),
        ("<thin air", "<thin air"),
        ("<thi", "<thi"),
        ("", ""),
        ("In HTML <think> is no tag. </think>", "In HTML <think> is no tag. </think>"),
        ("<think>a</think>b<think>c</think>", "b<think>c</think>"),
        ("<think>想一想</think>好的。", "好的。"),
        ("<think></think>", ""),
    ],
)
def test_a_thought_that_leads_is_taken_out_wherever_it_is_cut(said, shown, size):
    thoughts = Thoughts()
    pieces = [thoughts.feed(said[start : start + size]) for start in range(0, len(said), size)]
    assert "".join(pieces) + thoughts.end() == shown


def test_a_thought_ends_for_the_reader_as_soon_as_it_ends():
    thoughts = Thoughts()
    assert thoughts.feed("<think>hm</think>\nYe") == "Ye"
    assert thoughts.feed("s.") == "s."
