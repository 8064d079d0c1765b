"""One name for everybody: the user, us, somebody by name, and what is somebody's."""

from __future__ import annotations

import pytest

from amem.language.predicates import canonical_subject, subject_key


@pytest.mark.parametrize("name", ["I", "me", "My", "user", "The user", "我", "本人", "用户", "Wen", "wen "])
def test_the_user_is_the_user_under_whatever_name(name: str):
    assert canonical_subject(name, user="Wen") == "user"


@pytest.mark.parametrize("name", ["we", "Our team", "the project", "THE TEAM", "我们", "项目", "我们的项目", "公司"])
def test_a_group_that_the_speaker_belongs_to_is_we(name: str):
    assert canonical_subject(name) == "we"
    assert canonical_subject(name, speaker="Ana") == "we"


def test_i_is_whoever_speaks():
    assert canonical_subject("I", speaker="Ana") == "Ana"
    assert canonical_subject("我", speaker="阿敏") == "阿敏"
    assert canonical_subject("I", speaker="Wen", user="Wen") == "user"
    assert canonical_subject("I", speaker="user") == canonical_subject("I", speaker="I") == "user"
    assert canonical_subject("the user", speaker="Ana") == "user"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("my sister", "user's sister"),
        ("My  older sister", "user's older sister"),
        ("Ana's sister", "Ana's sister"),
        ("Wen's sister", "user's sister"),
        ("我妹妹", "user的妹妹"),
        ("我的妹妹", "user的妹妹"),
        ("小王的妹妹", "小王的妹妹"),
        ("the billing service", "billing service"),
        ("our billing service", "billing service"),
        ("我们的计费服务", "计费服务"),
        ("这个服务", "服务"),
        ("the Heron project", "Heron"),
        ("Heron 项目", "Heron"),
        ("Project Heron", "Heron"),
        ("Osprey repo", "Osprey"),
        ("my Heron project", "Heron"),
        ("苍鹭项目", "苍鹭"),
        ("支付项目", "支付项目"),
        ("the Billing service", "Billing service"),
        ("the Android app", "Android app"),
        ("the Berlin team", "Berlin team"),
        ("Ana", "Ana"),
        ("  Ana   Silva ", "Ana Silva"),
    ],
)
def test_what_is_somebodys_is_named_after_them(name: str, expected: str):
    assert canonical_subject(name, user="Wen") == expected
    assert canonical_subject(expected, user="Wen") == expected


def test_possessions_of_whoever_speaks_are_theirs():
    assert canonical_subject("my sister", speaker="Ana") == "Ana's sister"
    assert canonical_subject("我妹妹", speaker="阿敏") == "阿敏的妹妹"


def test_a_key_folds_case_width_and_articles_but_no_letters_of_a_name():
    assert subject_key("The Old Mill") == subject_key("old mill") == subject_key("ＯＬＤ Mill")
    assert subject_key("Ana") == "ana"
    assert subject_key("本田") == "本田"
