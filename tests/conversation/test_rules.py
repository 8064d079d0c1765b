"""The rule file: what is always and what is never remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from learning_home import LearningHome

from amem.analysts.rules import OfflineAnalyst
from amem.conversation.admission import REMOVED
from amem.conversation.rule_file import FILE_NAME, default_rules, load_rules, read_rules
from amem.errors import InvalidInput
from amem.language.terms import tokens
from amem.retrieval.budget import RECALLED_END, RECALLED_START, as_recalled, without_recalled

if TYPE_CHECKING:
    from pathlib import Path

#: What a model is told of secrets, whatever a rule file says of other things.
PROTECTED = "never: api keys, passwords, card numbers"


def test_a_home_without_a_rule_file_has_amems_own_rules_in_english_and_chinese(tmp_path: Path) -> None:
    rules = load_rules(tmp_path)
    assert rules == load_rules(None) == read_rules(default_rules())
    assert "Worth remembering" in rules.text
    assert "值得记住" in rules.text
    assert "<!--" not in rules.text
    assert tokens(rules.text) < 160


def test_a_rule_file_in_the_home_takes_the_place_of_amems_own(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("Remember what I read.\nnever: politics\n", encoding="utf-8")
    rules = load_rules(tmp_path)
    assert rules.text == f"Remember what I read.\nnever: politics\n{PROTECTED}"
    assert rules.forbids("Politics bores me.") == "politics"
    assert not rules.demands("I'm allergic to nuts.")


@pytest.mark.parametrize("text", ["Be brief.", "never: politics", "从不：政治", "never: [passwords]", ""])
def test_secrets_are_protected_by_a_rule_file_that_does_not_speak_of_them(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text, encoding="utf-8")
    rules = load_rules(tmp_path)
    assert rules.without_secrets("my password is hunter2") == f"my password is {REMOVED}"
    assert rules.without_secrets("卡号4111111111111111") == f"卡号{REMOVED}"
    assert rules.allowed == ()


@pytest.mark.parametrize("line", ["allow: [passwords]", "- Allow: [Passwords]", "允许：[密码]"])
def test_secrets_that_a_rule_file_allows_are_kept_and_no_others(line: str) -> None:
    rules = read_rules(f"Be brief.\n{line}")
    assert rules.allowed == ("passwords",)
    assert rules.text == "Be brief.\nnever: api keys, card numbers"
    assert rules.without_secrets("my password is hunter2") == "my password is hunter2"
    assert rules.forbids("my password is hunter2") is None
    assert rules.without_secrets("卡号4111111111111111") == f"卡号{REMOVED}"


def test_all_secrets_can_be_allowed() -> None:
    rules = read_rules("允许：[密码]、[密钥]、[卡号]")
    assert rules.text == ""
    assert rules.without_secrets("card 4111 1111 1111 1111, PIN: 4821") == "card 4111 1111 1111 1111, PIN: 4821"


def test_a_secret_is_taken_out_wherever_it_is_said_again() -> None:
    rules = load_rules(None)
    said = "My password is hunter2. Is hunter2 any good? Not hunter22."
    assert rules.without_secrets(said) == f"My password is {REMOVED}. Is {REMOVED} any good? Not hunter22."
    echo = "“Hunter2” it is: hunter2的强度很低。"
    assert rules.without_secrets(echo, told=said) == f"“{REMOVED}” it is: {REMOVED}的强度很低。"
    assert rules.without_secrets(echo) == echo
    assert rules.without_secrets("Room 12 is free.", told="PIN: 12") == "Room 12 is free."


@pytest.mark.parametrize(
    ("line", "forbidden", "allowed"),
    [
        ("never: salary, my therapist", "I told My  Therapist about it", "The therapy room is blue"),
        ("never: salary", "My SALARY is low", "salaryman is a Japanese word"),
        ("- never: salary", "my salary", "my rent"),
        ("从不：工资、体检", "我的工资不高", "我的房租不低"),
        ("never：工资；体检", "上周做了体检", "上周做了蛋糕"),
        (r"never: rent, /\bproject \w+ X\b/, gossip", "Project Blue X starts", "project X starts"),
        (r"never: /a{1,2}\/b/", "it is aa/b", "it is ab"),
    ],
)
def test_never_lines_hold_words_and_regular_expressions_in_both_languages(
    line: str, forbidden: str, allowed: str
) -> None:
    rules = read_rules(line)
    assert rules.forbids(forbidden)
    assert rules.forbids(allowed) is None


def test_always_lines_say_which_sentences_have_to_be_kept() -> None:
    rules = read_rules("always: medication, 用药\n总是：体重")
    assert rules.demands("I take my medication at 8.")
    assert rules.demands("晚上八点用药。")
    assert rules.demands("我的体重是七十公斤。")
    assert not rules.demands("I take my time.")


def test_the_default_rules_keep_allergies_and_what_one_is_asked_to_remember() -> None:
    rules = load_rules(None)
    assert rules.demands("I'm allergic to nuts.")
    assert rules.demands("Please remember that we meet at noon.")
    assert rules.demands("我对花生过敏。")
    assert not rules.demands("I remember the summer of 1999.")


def test_a_model_is_told_the_words_of_the_rules_but_no_regular_expressions_and_no_comments() -> None:
    rules = read_rules("<!-- never: nothing\nhere -->\nBe brief.\n\nnever: salary, /s\\w+y/, [passwords]")
    assert rules.text == f"Be brief.\nnever: salary\n{PROTECTED}"
    assert rules.forbids("nothing") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fine\nnever: /(/", "line 2: /\\(/ is no regular expression"),
        ("never: [bank accounts]", r"line 1: \[bank accounts\]"),
        ("<!--\n-->\nalways: [passwords]", "line 3"),
        ("allow: salary", "line 1: salary cannot stand after allow:"),
        ("允许：[护照]", r"line 1: \[护照\]"),
        ("never: [passwords]\n允许：[密码]", r"\[passwords\] stands after never: and after allow:"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(text: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        read_rules(text)


def test_a_rule_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="cannot read the rule file"):
        load_rules(tmp_path)


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("my password is hunter2", f"my password is {REMOVED}"),
        ("The wifi password is swordfish.", f"The wifi password is {REMOVED}."),
        ("the password for the NAS is Tr0ub4dor&3!", f"the password for the NAS is {REMOVED}!"),
        ("PIN: 4821", f"PIN: {REMOVED}"),
        ("密码是abc123，别告诉别人", f"密码是{REMOVED}，别告诉别人"),
        ("验证码：884213。", f"验证码：{REMOVED}。"),
        ("key sk-proj-abcdefghijklmnop1234 works", f"key {REMOVED} works"),
        ("token AKIAIOSFODNN7EXAMPLE here", f"token {REMOVED} here"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123", REMOVED),
        ("API_KEY=4f9a8b7c6d5e4f3a2b1c", f"API_KEY={REMOVED}"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nthat's it", f"{REMOVED}\nthat's it"),
        ("card 4111 1111 1111 1111, exp 12/27", f"card {REMOVED}, exp 12/27"),
        ("卡号4111111111111111", f"卡号{REMOVED}"),
    ],
)
def test_secrets_are_taken_out_of_what_is_said(said: str, stored: str) -> None:
    rules = load_rules(None)
    assert rules.without_secrets(said) == stored
    assert rules.forbids(said) == rules.forbids(stored) == "secrets"


@pytest.mark.parametrize(
    "harmless",
    [
        "my password is too long",
        "The password is stored in the vault",
        "We changed the password policy to something stricter",
        "密码是什么",
        "my phone is 13812345678",
        "order 1234 5678 9012 3456 arrived",
        "The meeting is at 10:30 in room 4111",
        "The rows are 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40.",
        "The token budget is 2000 per turn",
        "https://example.com/a/very-long-path/with-many-parts-2026",
        "0000 0000 0000 0000",
    ],
)
def test_what_only_speaks_of_secrets_or_looks_like_a_number_stays(harmless: str) -> None:
    rules = load_rules(None)
    assert rules.without_secrets(harmless) == harmless
    assert rules.forbids(harmless) is None


def test_recalled_notes_are_taken_out_of_a_text_whatever_stands_in_them() -> None:
    block = as_recalled(f"[1] Ana likes tea {RECALLED_END} and {RECALLED_START} coffee")
    assert block.count(RECALLED_END) == block.count(RECALLED_START) == 1
    assert without_recalled(f"{block}\nWhat do I like?") == "What do I like?"
    assert without_recalled(f"Before.\n{block}\nBetween.\n{block}") == "Before.\n\n\nBetween."
    assert without_recalled(block.upper()) == ""
    assert without_recalled(f"Hello {RECALLED_START} cut off here") == "Hello"
    assert without_recalled(f"loose end {RECALLED_END}") == "loose end"


def test_what_find_related_memories_put_into_a_prompt_is_taken_out_of_it(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        home.memory.add("Ana hates cilantro.\n香菜不行。")
        home.memory.add("Ana likes mint.")
        related, ids = home.memory.find_related_memories("What does Ana like?", 2)
        assert len(ids) == 2
        assert without_recalled(f"Context:\n{related}\nWhat do I like?") == "Context:\n\nWhat do I like?"


def test_a_text_without_recalled_notes_stays_as_it_is() -> None:
    for text in ("  spaces stay \n", "<recalled>not ours</recalled>", "a < b", ""):
        assert without_recalled(text) == text
