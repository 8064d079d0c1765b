"""``#tags`` count in both languages, and nothing that merely has a # in it."""

from __future__ import annotations

import pytest

from amem.language import hashtags


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("今天去爬山#户外#周末", ["户外", "周末"]),
        ("今天去爬山，#户外 #周末。", ["户外", "周末"]),
        ("读完了《三体》#读书/科幻", ["读书/科幻"]),
        ("看了＃电影", ["电影"]),
        ("Pruned the roses #garden, (#spring)", ["garden", "spring"]),
        ("#Garden first, then #garden again", ["garden"]),
        ("照片见 https://example.org/山#地图，#户外", ["户外"]),
    ],
)
def test_a_tag_is_found_with_or_without_a_space_before_it(text: str, tags: list[str]) -> None:
    assert hashtags(text) == tags


@pytest.mark.parametrize(
    "text",
    [
        "用C#写的，F#也行",
        "见 issue#12 和 #34",
        "fixed in page.html#part and https://example.org/a#b",
        "https://zh.example.org/北京#历史",
        "见[[北京#历史]]和[地图](山.md#路线)",
        "# A heading\n\n## Another",
        "the wall is #ff8800, the door #fff",
        "`#define` and\n```c\n#include <stdio.h>\n```",
        "第#1名",
    ],
)
def test_what_merely_holds_a_number_sign_is_no_tag(text: str) -> None:
    assert hashtags(text) == []
