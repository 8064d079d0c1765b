"""What a promise about tokens is made with: never fewer than any tokenizer on this machine takes."""

from __future__ import annotations

import random
import uuid
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amem.interop.demo_data import demo_folder
from amem.language.terms import most_tokens, tokens
from amem.llm.tokenizers import counter_for

if TYPE_CHECKING:
    from amem.llm.tokenizers import Counter

_LITELLM = find_spec("litellm")
assert _LITELLM is not None
assert _LITELLM.submodule_search_locations is not None
_CLAUDE_2 = Path(_LITELLM.submodule_search_locations[0], "litellm_core_utils", "tokenizers", "anthropic_tokenizer.json")
_HERE = Path(__file__).resolve().parents[2]

_ROLL = random.Random(7)
TEXTS = {
    "english": "The ferry to Barreiro leaves at nine from pier two, and on Sundays an hour later. " * 5,
    "chinese": "芝麻复查：肌酐一百六十八，体重四点五公斤，医生说肾很稳定，药和处方粮继续，半年后再来。" * 5,
    "traditional chinese": "昨天傍晚我們在廣場旁的咖啡館見面，討論搬到新公寓的事情，順便還了圖書館的書。" * 5,
    "rare chinese": "饕餮纛懿爨魑魅魍魉龘靐齉齾爩鱻麤灪蠿籱䶵䵒𠮷𡃁" * 3,
    "mixed": "从 PostgreSQL 15.3 迁到 MySQL 8.4：停写，用 COPY 导出 CSV，SRID 4326，LOAD DATA 导入。" * 5,
    "japanese": "昨日の夕方、新しいアパートへの引っ越しについて話すために喫茶店で会いました。" * 5,
    "korean": "어제 저녁에 새 아파트로 이사하는 것에 대해 이야기하려고 카페에서 만났습니다. " * 5,
    "russian": "Вчера вечером мы встретились в кафе на площади, чтобы поговорить о переезде. " * 5,
    "arabic": "التقينا مساء أمس في المقهى لنتحدث عن الانتقال إلى الشقة الجديدة. " * 5,
    "polish": "Wczoraj wieczorem spotkaliśmy się w kawiarni na rynku, żeby porozmawiać o przeprowadzce. " * 5,
    "german": "Die Versicherungsgesellschaften müssen ihre Geschwindigkeitsbegrenzungen überarbeiten. " * 5,
    "names": "Szczebrzeszyn Nguyễn Þórður Oyelaran Krzysztof Llanfairpwllgwyngyll Quetzalcoatl " * 5,
    "code": (_HERE / "amem" / "language" / "terms.py").read_text(encoding="utf-8"),
    "minified": "function a(b,c){return b===c?[].slice.call(b):{x:1,y:[2,3]}}if(!w.foo){w.foo=()=>{}} " * 5,
    "indented": "class A:\n        def f(self):\n                return [\n                    1,\n\t\t\t2]\n\n\n" * 5,
    "table": "| a | b |\n|---|---|\n| 1 | 2.5 |\n| foo_bar | -3 |\n" * 5,
    "addresses": "https://example.com/a/b?utm=x&id=12345#f http://192.168.1.20:8080/x.tar.gz me@mail.example.org " * 5,
    "ids": "\n".join(str(uuid.UUID(int=_ROLL.getrandbits(128))) for _ in range(20)),
    "times": "\n".join(f"[2026-05-{day} 14:{day}] (trust: 0.{day})" for day in range(10, 30)),
    "emoji": "Nice 😀👍🏽 family 👨‍👩‍👧‍👦 flag 🇵🇹 🏳️‍🌈 ok ❤️ " * 5,
    "rules": "====================\n--------------------\n********* ......... !!!!!!! ####\n" * 5,
    "diary": (demo_folder() / "year.jsonl").read_text(encoding="utf-8"),
    "nothing": "",
    "a letter": "a",
    "a space": " ",
}


@cache
def tokenizers() -> tuple[Counter, ...]:
    found = [counter_for("gpt-4"), counter_for("gpt-4o"), counter_for(str(_CLAUDE_2))]
    assert all(counter.exact for counter in found)
    return tuple(found)


@pytest.mark.parametrize("name", TEXTS)
def test_the_bound_is_never_below_what_a_tokenizer_takes(name: str) -> None:
    text = TEXTS[name]
    for counter in tokenizers():
        assert counter(text) <= most_tokens(text), counter.name


@pytest.mark.parametrize("name", ["english", "chinese", "diary", "times"])
def test_the_bound_leaves_most_of_a_budget_to_prose(name: str) -> None:
    text = TEXTS[name]
    assert most_tokens(text) <= 1.6 * max(counter(text) for counter in tokenizers())


def test_an_estimate_would_not_do_for_a_promise() -> None:
    assert any(tokens(text) < max(counter(text) for counter in tokenizers()) for text in TEXTS.values())


_CJK = st.characters(min_codepoint=0x2E80, max_codepoint=0x9FFF) | st.characters(
    min_codepoint=0xAC00, max_codepoint=0xD7A3
)


@given(st.text(_CJK | st.sampled_from("的一是在不了有和人这中大为上个国我以要他，。、 \n0a")))
def test_the_bound_holds_for_any_cjk_text(text: str) -> None:
    for counter in tokenizers():
        assert counter(text) <= most_tokens(text), counter.name


@given(st.text(st.characters(min_codepoint=0x80, exclude_categories=("Cs",)) | st.sampled_from(" .,1\n")))
@example("\ufdfa" * 20)
def test_the_bound_holds_for_any_text_outside_ascii(text: str) -> None:
    for counter in tokenizers():
        assert counter(text) <= most_tokens(text), counter.name
