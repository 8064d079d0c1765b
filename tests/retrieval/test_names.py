"""Names that a good part of the notes carry: left out of what meaning is asked, and telling who spoke."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem.retrieval.router import spans, without

if TYPE_CHECKING:
    from asking import Collection


def chat(collection: Collection, one: str = "Ana", other: str = "Ben", turns: int = 30) -> None:
    for turn in range(turns):
        speaker = one if turn % 2 else other
        collection.add(f"Word {turn} of small talk.", speaker=speaker, conversation_id="chat", ordinal=10 * turn)


def meant(collection: Collection, question: str) -> str:
    reading = collection.ask(question, k=1)[0].explanation.reading
    assert reading is not None
    return reading.meaning or reading.text


def who(collection: Collection, question: str) -> str | None:
    reading = collection.ask(question, k=1)[0].explanation.reading
    assert reading is not None
    return reading.speaker


@pytest.mark.parametrize(
    ("text", "names", "rest"),
    [
        ("What did Ana paint?", ["ana"], "What did paint?"),
        ("What is Ana's dog called?", ["ana"], "What is dog called?"),
        ("What are Jonas’ plans?", ["jonas"], "What are plans?"),
        ("Where did Ana Ruiz go?", ["ana ruiz", "ana"], "Where did go?"),
        ("Analysis of bananas", ["ana"], "Analysis of bananas"),
        ("小明喜欢什么茶？", ["小明"], "喜欢什么茶？"),
        ("Ana?", ["ana"], ""),
        ("小明？", ["小明"], ""),
    ],
)
def test_names_are_taken_out_with_their_possessives(text: str, names: list[str], rest: str) -> None:
    assert without(text, names) == rest


def test_a_name_that_half_of_the_notes_carry_is_not_asked_of_meaning(collection: Collection) -> None:
    chat(collection)
    assert meant(collection, "What did Ana paint?") == "What did paint?"


def test_a_rare_name_is_kept(collection: Collection) -> None:
    chat(collection)
    collection.add("Zoe came by.", entities=["Zoe"])
    assert meant(collection, "What did Zoe paint?") == "What did Zoe paint?"


def test_a_question_that_is_nothing_but_the_name_stays_whole(collection: Collection) -> None:
    chat(collection)
    assert meant(collection, "Ana?") == "Ana?"


def test_in_a_handful_of_notes_no_name_is_common(collection: Collection) -> None:
    chat(collection, turns=6)
    assert meant(collection, "What did Ana paint?") == "What did Ana paint?"


@pytest.mark.parametrize(
    ("speakers", "question", "named"),
    [
        (("Ana", "Ben"), "What did Ana paint?", "ana"),
        (("Ana Ruiz", "Ben Okri"), "What did Ana paint?", "ana ruiz"),
        (("Ana Ruiz", "Ana Lopes"), "What did Ana paint?", None),
        (("Ana", "Ben"), "What did Ana and Ben paint?", None),
        (("Ana", "Ben"), "What was painted?", None),
        (("小明", "小红"), "小明画了什么？", "小明"),
        (("user", "assistant"), "What did the user report?", None),
        (("user", "assistant"), "What did I tell you about the boat?", "user"),
        (("user", "assistant"), "我说过什么关于船的事？", "user"),
        (("user", "assistant"), "我们说过什么？", None),
    ],
)
def test_who_is_named_among_those_who_speak(
    collection: Collection, speakers: tuple[str, str], question: str, named: str | None
) -> None:
    chat(collection, *speakers)
    assert who(collection, question) == named


@pytest.mark.parametrize(
    ("speakers", "said", "question"),
    [
        (("Ana", "Ben"), "The boat is painted green.", "What boat does Ana have?"),
        (("小明", "小红"), "那条船漆成绿色了。", "小明的船是什么颜色？"),
    ],
)
def test_of_two_who_say_the_same_the_one_named_comes_first(
    collection: Collection, speakers: tuple[str, str], said: str, question: str
) -> None:
    chat(collection, *speakers)
    named = collection.add(said, speaker=speakers[0])
    other = collection.add(said, speaker=speakers[1])
    first, second = collection.ask(question, k=2)
    assert (first.id, second.id) == (named, other)
    assert "speaker" in first.matched_by
    assert "speaker" not in second.matched_by


def test_who_is_named_only_leans_and_does_not_decide(collection: Collection) -> None:
    chat(collection)
    collection.add("I bought new shoes.", speaker="Ana")
    told = collection.add("The green boat is called Zephyr.", speaker="Ben")
    assert collection.found("What is Ana's green boat called?", k=1) == [told]


@pytest.mark.parametrize(
    ("text", "name", "question"),
    [
        ("Closed on Mondays.", "Gulbenkian Museum", "when is the gulbenkian museum open?"),
        ("She likes it.", "Ana", "What is Ana's favourite?"),
        ("他住在上海。", "王小明", "请问王小明的电话"),
        ("部署在那里。", "PostgreSQL", "我们用PostgreSQL做什么？"),
    ],
)
def test_a_name_that_a_note_is_about_finds_it_though_its_text_does_not_spell_it(
    collection: Collection, text: str, name: str, question: str
) -> None:
    wanted = collection.add(text, entities=[name])
    for n in range(9):
        collection.add(f"Something else {n}.")
    assert collection.found(question, legs=("lexical",)) == [wanted]


def test_function_words_alone_are_no_names() -> None:
    assert "where" not in spans("Where is the Old Mill?")
    assert {"old mill", "the old mill", "mill"} <= set(spans("Where is the Old Mill?"))
