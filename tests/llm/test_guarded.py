"""What stands around a chat model: retries, the day's budget, the breaker, and being called off."""

from __future__ import annotations

import logging
import threading
import time
from datetime import UTC, timedelta, timezone

import pytest
import tenacity

from amem.analysts.choose import make_analyst, make_chat
from amem.analysts.models import StoreLedger
from amem.errors import BudgetSpent, Cancelled, MissingModel, ServiceUnavailable, StorageFull
from amem.llm.guarded import Breaker, GuardedChat, growing_wait
from amem.llm.ollama_chat import OllamaChat
from amem.note import Cost, Message, Role
from amem.protocols import ChatModel
from amem.settings import load_settings
from amem.storage.store import Store
from amem.testing import FakeOllama, Fault, FrozenClock

ASKED = [Message(Role.USER, "What did I say about tea?")]
AT_ONCE = tenacity.wait_none()


def guarded(ollama, *, timeout=20, wait=AT_ONCE, **options):
    return GuardedChat(OllamaChat("llama3.2", host=ollama.host, timeout=timeout), wait=wait, **options)


def until(condition, seconds=5):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def in_a_thread(work):
    """Run `work` beside the test; what it raised can be asked for once it has ended."""
    caught = []

    def run():
        try:
            work()
        except Exception as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()

    def ended(within):
        thread.join(within)
        assert not thread.is_alive()
        return caught[0] if caught else None

    return ended


class InMemory:
    def __init__(self, spent=0):
        self.tokens = spent
        self.entries = []

    def spent_today(self):
        return self.tokens

    def add(self, model, spent):
        self.entries.append((model, spent))
        self.tokens += spent.tokens_in + spent.tokens_out


def test_it_stands_in_for_the_model_it_guards():
    with FakeOllama("你好, hello") as ollama:
        chat = guarded(ollama)
        assert isinstance(chat, ChatModel)
        assert chat.complete("say hello") == "你好, hello"
        assert "".join(chat.stream(ASKED)) == "你好, hello"
        assert (chat.name, chat.window, chat.max_tokens) == ("ollama/llama3.2", 8192, 1024)
        assert chat.usage.calls == 2


def test_what_a_model_costs_that_does_not_say_is_estimated():
    class Bare:
        name = "bare/model"

        def complete(self, prompt, *, schema=None, temperature=0.0):
            return prompt.upper()

        def stream(self, messages, *, temperature=0.7):
            yield from ("a", "b")

    ledger = InMemory()
    chat = GuardedChat(Bare(), ledger=ledger)
    assert (chat.complete("x"), list(chat.stream(ASKED))) == ("X", ["a", "b"])
    assert (chat.window, chat.usage.calls) == (0, 2)
    assert ledger.entries == [("bare/model", Cost(1, 1, 1)), ("bare/model", Cost(1, 7, 1))]


@pytest.mark.parametrize("fault", [Fault.RESET, Fault.CUT, Fault.ERROR, Fault.BUSY, Fault.LIMITED])
def test_what_failed_in_passing_is_tried_again(fault):
    with FakeOllama([fault, fault, "well again"] * 2) as ollama:
        chat = guarded(ollama, retries=2)
        assert chat.complete("x") == "well again"
        if fault is not Fault.CUT:  # which comes after the first words
            assert "".join(chat.stream(ASKED)) == "well again"
            assert len(ollama.asked("/api/chat")) == 6


def test_it_gives_up_after_so_many_attempts_with_the_last_error():
    with FakeOllama("ok", fault=Fault.ERROR) as ollama:
        with pytest.raises(ServiceUnavailable, match="terminated"):
            guarded(ollama, retries=2).complete("x")
        assert len(ollama.asked("/api/chat")) == 3
        with pytest.raises(ServiceUnavailable, match="terminated"):
            guarded(ollama, retries=0).complete("x")
        assert len(ollama.asked("/api/chat")) == 4


@pytest.mark.parametrize("fault", [Fault.SLOW, Fault.DENIED, Fault.NOT_OLLAMA])
def test_what_would_fail_again_is_not_tried_again(fault):
    with FakeOllama("ok", fault=fault) as ollama:
        with pytest.raises(ServiceUnavailable):
            guarded(ollama, timeout=0.2).complete("x")
        assert len(ollama.asked("/api/chat")) == 1


def test_a_model_that_is_not_there_is_asked_for_once():
    with FakeOllama("ok", models=[]) as ollama:
        with pytest.raises(MissingModel):
            guarded(ollama).complete("x")
        assert len(ollama.asked("/api/chat")) == 1


def test_a_stream_that_had_begun_is_not_begun_again():
    with FakeOllama("many words that come in several pieces", fault=Fault.CUT) as ollama:
        pieces = []
        with pytest.raises(ServiceUnavailable, match="broke off before"):
            pieces.extend(guarded(ollama).stream(ASKED))
        assert len(ollama.asked("/api/chat")) == 1


@pytest.mark.parametrize(("attempt", "least", "most"), [(1, 0.25, 0.5), (2, 0.5, 0.75), (3, 1, 1.25), (10, 8, 8.25)])
def test_waits_grow_and_stay_within_bounds(attempt, least, most):
    call = tenacity.RetryCallState(None, None, (), {})
    call.attempt_number = attempt
    assert all(least <= growing_wait()(call) <= most for _ in range(20))


# --- the budget -------------------------------------------------------------------------------------------------


def test_a_spent_budget_stops_before_the_call_and_says_what_to_do():
    with FakeOllama("four words are said") as ollama:
        chat = guarded(ollama, budget=10, ledger=InMemory(10))
        for ask in (lambda: chat.complete("x"), lambda: list(chat.stream(ASKED))):
            with pytest.raises(BudgetSpent, match="today's 10 tokens") as caught:
                ask()
            assert "AMEM_LLM_DAILY_TOKENS" in caught.value.hint
            assert "amem enrich" in caught.value.hint
        assert ollama.requests == []


def test_every_call_goes_into_the_ledger_with_what_it_cost():
    with FakeOllama("four words are said") as ollama:
        ledger = InMemory()
        chat = guarded(ollama, ledger=ledger)
        chat.complete("two words")
        assert list(chat.stream(ASKED))
        assert ledger.entries == [("ollama/llama3.2", Cost(1, 2, 4)), ("ollama/llama3.2", Cost(1, 6, 4))]


def test_a_stream_that_somebody_stops_reading_is_paid_for_too():
    with FakeOllama("a long answer that comes in pieces of a few words each and goes on and on") as ollama:
        ledger = InMemory()
        pieces = guarded(ollama, ledger=ledger).stream(ASKED)
        next(pieces)
        pieces.close()
        ((_, spent),) = ledger.entries
        assert spent.calls == 1
        assert spent.tokens_in >= 6
        assert spent.tokens_out >= 1


def test_a_stream_read_by_several_threads_is_counted_once():
    with FakeOllama("a long answer that comes in pieces of a few words each") as ollama:
        ledger = InMemory()
        pieces = guarded(ollama, ledger=ledger).stream(ASKED)
        while True:
            got = []
            ended = in_a_thread(lambda got=got: got.extend([piece for piece in [next(pieces, None)] if piece]))
            assert ended(5) is None
            if not got:
                break
        assert ledger.entries == [("ollama/llama3.2", Cost(1, 6, 12))]


def test_the_budget_holds_over_processes(tmp_path):
    clock = FrozenClock("2026-03-01T23:30")
    with FakeOllama("four words are said") as ollama:
        one, other = (Store(tmp_path / "notes", clock) for _ in range(2))
        chats = [guarded(ollama, budget=10, ledger=StoreLedger(store, clock, UTC)) for store in (one, other)]
        assert chats[0].complete("two words")
        assert chats[1].complete("two words")
        for chat in chats:
            with pytest.raises(BudgetSpent):
                chat.complete("x")
        clock.advance(hours=1)
        assert chats[0].complete("x")
        with one.read() as session:
            days = [(row.day, row.calls, row.tokens_in, row.tokens_out) for row in session.spending.report(7)]
            assert days == [("2026-03-02", 1, 1, 4), ("2026-03-01", 2, 4, 8)]
            assert [row.day for row in session.spending.report(1)] == ["2026-03-02"]
        one.close()
        other.close()


def test_a_day_is_that_of_the_collection_s_zone(tmp_path):
    clock = FrozenClock("2026-03-01T20:00")
    store = Store(None, clock)
    shanghai = StoreLedger(store, clock, timezone(timedelta(hours=8)))
    shanghai.add("m", Cost(1, 5, 5))
    assert (shanghai.today, shanghai.spent_today()) == ("2026-03-02", 10)
    assert StoreLedger(store, clock, UTC).spent_today() == 0
    store.close()


def test_a_cost_that_cannot_be_written_down_does_not_cost_the_answer(monkeypatch, caplog):
    clock = FrozenClock()
    store = Store(None, clock)
    ledger = StoreLedger(store, clock, UTC)
    with FakeOllama("four words are said") as ollama:
        chat = guarded(ollama, budget=7, ledger=ledger)
        with monkeypatch.context() as patch, caplog.at_level(logging.WARNING, "amem"):
            patch.setattr(store, "write", lambda **_: (_ for _ in ()).throw(StorageFull("the disk is full")))
            assert chat.complete("two words") == "four words are said"
        assert "the disk is full" in caplog.text
        assert ledger.spent_today() == 6
        assert chat.complete("two words") == "four words are said"
        with store.read() as session:
            assert session.spending.of(ledger.today) == 12
        with pytest.raises(BudgetSpent):
            chat.complete("x")
    store.close()


# --- the breaker ------------------------------------------------------------------------------------------------


class Ticks:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_server_that_hangs_is_left_alone_after_three_calls():
    ticks = Ticks()
    with FakeOllama("ok", fault=Fault.SLOW) as ollama:
        chat = guarded(ollama, timeout=0.1, breaker=Breaker(clock=ticks))
        for _ in range(3):
            with pytest.raises(ServiceUnavailable, match="did not answer within"):
                chat.complete("x")
        started = time.monotonic()
        for _ in range(1000):
            with pytest.raises(ServiceUnavailable, match="not asked again for 30 s, since 3 calls in a row failed"):
                chat.complete("x")
        assert time.monotonic() - started < 15
        assert len(ollama.asked("/api/chat")) == 3
        # One call may try after the rest. It fails, and the others go on failing at once.
        ticks.now = 31
        with pytest.raises(ServiceUnavailable, match="did not answer within"):
            chat.complete("x")
        with pytest.raises(ServiceUnavailable, match="not asked again"):
            chat.complete("x")
        ollama.fault = None
        ticks.now = 62
        assert chat.complete("x") == "ok"
        assert chat.complete("x") == "ok"


def test_a_person_who_waits_is_always_let_through_and_ends_the_rest():
    with FakeOllama("ok", fault=Fault.ERROR) as ollama:
        chat = guarded(ollama, retries=0)
        for _ in range(3):
            with pytest.raises(ServiceUnavailable):
                chat.complete("x")
        with pytest.raises(ServiceUnavailable, match="not asked again"):
            chat.complete("x")
        ollama.fault = None
        assert "".join(chat.stream(ASKED)) == "ok"
        assert chat.complete("x") == "ok"


def test_failures_with_answers_between_them_do_not_add_up():
    script = [Fault.ERROR, Fault.ERROR, "ok"] * 3
    with FakeOllama(script) as ollama:
        chat = guarded(ollama, retries=0)
        for said in script:
            if said == "ok":
                assert chat.complete("x") == "ok"
            else:
                with pytest.raises(ServiceUnavailable, match="terminated"):
                    chat.complete("x")


# --- being called off -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [Fault.SLOW, Fault.TRICKLE])
@pytest.mark.parametrize("how", ["complete", "stream"])
def test_a_slow_call_ends_at_once_when_it_is_called_off(fault, how):
    text = "a long answer that comes in many pieces of a few words each and goes on for quite a while " * 20
    with FakeOllama(text, fault=fault, pace=0.2) as ollama:
        cancelled = threading.Event()
        chat = guarded(ollama, timeout=60, cancelled=cancelled)
        ended = in_a_thread(lambda: chat.complete("x") if how == "complete" else list(chat.stream(ASKED)))
        until(lambda: ollama.requests)
        cancelled.set()
        asked = time.monotonic()
        assert isinstance(ended(15), Cancelled)
        assert time.monotonic() - asked < 15
        until(lambda: ollama.hung_up == 1)
        with pytest.raises(Cancelled):
            chat.complete("x")
        assert len(ollama.requests) == 1


def test_a_wait_between_two_attempts_ends_when_the_work_is_called_off():
    with FakeOllama("ok", fault=Fault.BUSY) as ollama:
        cancelled = threading.Event()
        chat = guarded(ollama, cancelled=cancelled, wait=tenacity.wait_fixed(60))
        ended = in_a_thread(lambda: chat.complete("x"))
        until(lambda: ollama.requests)
        cancelled.set()
        assert isinstance(ended(1), Cancelled)
        assert len(ollama.requests) == 1


def test_a_call_to_a_host_that_takes_no_connection_ends_too():
    import socket

    # A queue that is full takes no more connections, and refuses none.
    with socket.create_server(("127.0.0.1", 0), backlog=0) as deaf:
        address = deaf.getsockname()
        held = []
        for _ in range(3):
            each = socket.socket()
            each.setblocking(False)
            each.connect_ex(address)
            held.append(each)
        cancelled = threading.Event()
        chat = GuardedChat(OllamaChat("m", host=f"http://127.0.0.1:{address[1]}", timeout=1), cancelled=cancelled)
        with pytest.raises(ServiceUnavailable, match="no Ollama answers"):
            chat.complete("x")
        for each in held:
            each.close()


# --- made from the settings -------------------------------------------------------------------------------------


def test_what_the_settings_ask_for_is_guarded_as_they_say(tmp_path):
    with FakeOllama("four words are said") as ollama:
        settings = load_settings(
            tmp_path,
            llm_backend="ollama",
            llm_model="llama3.2",
            ollama_host=ollama.host,
            llm_daily_tokens=5,
            llm_retries=0,
            llm_context=4096,
            llm_keep_alive="-1",
        )
        ledger, cancelled = InMemory(), threading.Event()
        chat = make_chat(settings, ledger=ledger, cancelled=cancelled)
        assert (chat.window, chat.max_tokens) == (4096, 1024)
        assert chat.complete("two words", schema={"type": "object"}) == "four words are said"
        (request,) = ollama.asked("/api/chat")
        assert request["keep_alive"] == -1
        assert request["options"] == {"temperature": 0.0, "num_ctx": 4096, "num_predict": 1024}
        assert request["format"] == {"type": "object"}
        with pytest.raises(BudgetSpent):
            chat.complete("x")
        cancelled.set()
        with pytest.raises(Cancelled):
            chat.complete("x")
        assert make_analyst(settings, ledger=ledger).name == "ollama/llama3.2"
