"""What goes into a model's window."""

from __future__ import annotations

import time

import pytest

from amem.conversation.context_window import CUT, Fitted, Past, Shares, Summary, cut, fit
from amem.language.terms import tokens
from amem.note import Role

WINDOW, ANSWER = 8192, 1024
ENGLISH = "We talked about the buoy catalogue, the ferry from Lisbon and what to cook on Sunday. " * 3
CHINESE = "我们聊了浮标目录、从里斯本出发的渡轮，还有星期天做什么菜。" * 3


def long_chat(turns: int, per_episode: int = 10, text: str = "") -> tuple[list[Past], list[Summary]]:
    """A chat whose episodes are summed up but for the last; every other turn is Chinese unless `text` is given."""
    past = []
    for number in range(1, turns + 1):
        said = text or (CHINESE if number % 2 else ENGLISH)
        block = (number - 1) // per_episode
        ended = block < (turns - 1) // per_episode
        past.append(Past(number, f"{number}: {said}", f"answer {number}: {said}", f"e{block}" if ended else None))
    blocks = sorted({each.episode for each in past if each.episode}, key=lambda id: int(id[1:]))
    return past, [Summary(id, f"- {id}: what was said there. {CHINESE[:40]}", 0.5 + int(id[1:]) / 100) for id in blocks]


def ask(past: list[Past], summaries: list[Summary], **given: object) -> Fitted:
    how = {"window": WINDOW, "answer": ANSWER, "system": "Be brief.", "question": "And now?"} | given
    return fit(past=past, summaries=summaries, **how)


def shown(fitted: Fitted, past: list[Past]) -> list[int]:
    """The numbers of the turns that stand in the messages, whole or cut."""
    asked = [message.content[:20] for message in fitted.messages[1:-1:2]]
    return [each.number for each in past if each.question[:20] in asked]


def test_500_turns_in_two_languages_fit_at_every_length() -> None:
    past, summaries = long_chat(500)
    for length in range(0, 501, 7):
        fitted = ask(past[:length], summaries[: length // 10], recalled="notes " * 800)
        assert fitted.size <= WINDOW - ANSWER
        assert fitted.messages[0].role is Role.SYSTEM
        assert fitted.messages[-1].content.endswith("And now?")
        tail = shown(fitted, past)
        assert tail == list(range(length - len(tail) + 1, length + 1)), "the tail is the freshest turns, in order"
        assert tail or not length


def test_older_turns_are_stood_for_by_their_episodes_in_the_order_of_the_chat() -> None:
    past, summaries = long_chat(500)
    fitted = ask(past, summaries)
    assert len(shown(fitted, past)) >= 10
    system = fitted.messages[0].content
    assert len(fitted.summaries) > 20
    assert list(fitted.summaries) == sorted(fitted.summaries, key=lambda id: int(id[1:]))
    assert [system.index(f"- {id}:") for id in fitted.summaries] == sorted(
        system.index(f"- {id}:") for id in fitted.summaries
    )


def test_the_weakest_episodes_go_first_and_of_equals_the_oldest() -> None:
    past, summaries = long_chat(120)
    strong = [Summary(each.note, each.text * 12, 0.9 if each.note in ("e0", "e5") else 0.1) for each in summaries]
    fitted = ask(past, strong, window=4096)
    assert {"e0", "e5"} <= set(fitted.summaries)
    weak = [int(id[1:]) for id in fitted.summaries if id not in ("e0", "e5")]
    gone = {int(each.note[1:]) for each in strong} - {0, 5} - set(weak)
    tail = (shown(fitted, past)[0] - 1) // 10
    assert gone, "the window is too small for all"
    assert max(id for id in gone if id <= tail) < min([*weak, 10**6])


def test_an_episode_wholly_in_the_tail_is_not_summed_up_as_well() -> None:
    past, summaries = long_chat(12)
    fitted = ask(past, summaries)
    assert shown(fitted, past) == list(range(1, 13))
    assert fitted.summaries == ()


@pytest.mark.parametrize("word", ["word ", "词", "0123456789", "a", " \n"])
def test_one_enormous_message_is_cut_with_a_mark_and_keeps_its_end(word: str) -> None:
    past, summaries = long_chat(30)
    enormous = word * (1_000_000 // len(word)) + "So what is it?"
    began = time.perf_counter()
    fitted = ask(past, summaries, question=enormous, recalled="notes " * 1_000)
    assert time.perf_counter() - began < 60
    assert CUT in fitted.messages[-1].content
    assert fitted.messages[-1].content.endswith("So what is it?")
    assert fitted.size <= WINDOW - ANSWER


def test_an_enormous_turn_of_the_past_is_cut_and_does_not_push_out_all_others() -> None:
    past, summaries = long_chat(8)
    past[-1] = Past(8, "短问题", "x" * 10 + "很长的回答。" * 20_000)
    fitted = ask(past, summaries)
    assert fitted.size <= WINDOW - ANSWER
    assert len(shown(fitted, past)) > 3
    contents = [message.content for message in fitted.messages]
    assert CUT in contents[-2], "of the last turn the answer is cut"
    assert "短问题" in contents, "the shorter of question and answer stays whole"


def test_everything_too_large_at_once_still_fits() -> None:
    past, summaries = long_chat(50, text="word " * 5_000)
    fitted = ask(
        past, summaries, window=1024, answer=256, system="规则。" * 3_000, question="q " * 9_000, recalled="n " * 9_000
    )
    assert fitted.size <= 1024 - 256
    assert fitted.messages[0].role is Role.SYSTEM


def test_a_short_chat_is_given_as_it_was() -> None:
    fitted = ask([Past(1, "Hi", "Hello!")], [], recalled="<notes>")
    assert [(str(message.role), message.content) for message in fitted.messages] == [
        ("system", "Be brief."),
        ("user", "Hi"),
        ("assistant", "Hello!"),
        ("user", "<notes>\n\nAnd now?"),
    ]


def test_small_windows_shrink_what_settings_ask_for() -> None:
    assert Shares.of(8192, core=500, recalled=2000) == Shares(1024, 500, 2000)
    small = Shares.of(1024, core=500, recalled=2000)
    assert small.answer + small.core + small.recalled <= 1024 * 3 / 4


@pytest.mark.parametrize("most", [0, 1, 5, 50])
def test_cutting_keeps_to_the_limit(most: int) -> None:
    assert tokens(cut("量子退火 is not 模拟退火. " * 500, most)) <= max(most, tokens(CUT))
