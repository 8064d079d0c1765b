"""Chinese notes state facts: who, what, and whether it is so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Stated = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我住在里斯本。", "user lives_in 里斯本"),
        ("我和芝麻住在鹿特丹北边的一间小阁楼里。", "user lives_in 鹿特丹"),
        ("搬到里斯本了。", "user lives_in 里斯本"),
        ("我们搬进天通苑的新家了。", "user lives_in 天通苑"),
        ("现在我们组由贺文带。", "user team_lead 贺文"),
        ("贺文现在带我们组。", "user team_lead 贺文"),
        ("上周末我们搬到了杨浦区。", "user lives_in 杨浦区 since 2026-06-13"),
        ("搬家了，现在住在通州果园。", "user lives_in 通州果园"),
        ("我又搬回成都了。", "user lives_in 成都"),
        ("我在波尔图定居了。", "user lives_in 波尔图"),
        ("咖啡戒掉了。", "not user likes 咖啡"),
        ("我把美式戒了。", "not user likes 美式"),
        ("咖啡不喝了。", "not user likes 咖啡"),
        ("我戒烟了。", "not user likes 烟"),
        ("我不抽烟。", "not user likes 烟"),
        ("我的月薪是两万。", "user salary 两万"),
        ("我工资涨到了两万五。", "user salary 两万五"),
        ("我年薪三十万。", "user salary 三十万一年"),
        ("我现在归周敏管。", "user manager 周敏"),
        ("来了个新领导，叫周敏。", "user manager 周敏"),
        ("公司新项目叫青鸟。", "新项目 named 青鸟"),
        ("Heron的队列是NATS。", "Heron uses NATS"),
        ("青鸟：用 SQLite。", "青鸟 uses SQLite"),
        ("我以前住在苏州。", "not user lives_in 苏州"),
        ("我在谷歌工作。", "user works_at 谷歌"),
        ("我以前在谷歌工作。", "not user works_at 谷歌"),
        ("小王入职了字节跳动。", "小王 works_at 字节跳动"),
        ("我加入了 OpenAI。", "user works_at OpenAI"),
        ("我从谷歌离职了。", "not user works_at 谷歌"),
        ("我辞职了。", "not user works_at"),
        ("我被裁了。", "not user works_at"),
        ("我不在谷歌工作了。", "not user works_at 谷歌"),
        ("项目使用 PostgreSQL。", "we uses PostgreSQL"),
        ("我们决定改用 MySQL。", "we uses MySQL"),
        ("我们的数据库是 MySQL。", "we uses MySQL"),
        ("MySQL 是我们的数据库。", "we uses MySQL"),
        ("缓存换成了 Redis。", "we uses Redis"),
        ("我们弃用了 Jenkins。", "not we uses Jenkins"),
        ("我们不用 Jenkins 了。", "not we uses Jenkins"),
        ("我放弃了 Vim。", "not user uses Vim"),
        ("计费服务使用 Redis。", "计费服务 uses Redis"),
        ("把服务迁到了腾讯云。", "服务 uses 腾讯云"),
        ("我喜欢爬山。", "user likes 爬山"),
        ("我特别喜欢吃香菜。", "user likes 香菜"),
        ("我讨厌香菜。", "user dislikes 香菜"),
        ("我更喜欢茶。", "user prefers 茶"),
        ("我不再对虾过敏。", "not user allergic_to 虾"),
        ("老陈对花生不过敏。", "not 老陈 allergic_to 花生"),
        ("原来我对草莓不过敏。", "not user allergic_to 草莓"),
        ("我对草莓并不过敏。", "not user allergic_to 草莓"),
        ("我花生过敏。", "user allergic_to 花生"),
        ("芒果没事了。", "not user allergic_to 芒果"),
        ("芒果不过敏了。", "not user allergic_to 芒果"),
        ("换到了何伟医生。", "user doctor 何伟医生"),
        ("我和小李结婚了。", "user married_to 小李"),
        ("我离婚了。", "not user married_to"),
        ("我的经理是王芳。", "user manager 王芳"),
        ("李雷是我的经理。", "user manager 李雷"),
        ("我向 Pieter 汇报。", "user manager Pieter"),
        ("我的办公室在三楼。", "user office 三楼"),
        ("我是一名后端工程师。", "user job_title 后端工程师"),
        ("我吃素。", "user diet 素"),
        ("我开始吃纯素。", "user diet 纯素"),
        ("我又吃肉了。", "user diet 肉"),
        ("我是素食者。", "user diet 素"),
        ("我不再吃素了。", "not user diet 素"),
        ("我在支付团队。", "user team 支付"),
        ("我叫王小明。", "user named 王小明"),
        ("版本升级到 2.0。", "we version 2.0"),
        ("截止日期改到6月1日。", "we deadline 6月1日"),
        ("报告的截止日期是5月3日。", "报告 deadline 5月3日"),
        ("发布改到6月5日。", "发布 date 6月5日"),
        ("我妹妹住在波尔图。", "user的妹妹 lives_in 波尔图"),
        ("岳母住在苏州。", "user的岳母 lives_in 苏州"),
        ("我对海鲜也过敏。", "user allergic_to 海鲜"),
        ("我最喜欢的颜色是蓝色。", "user prefers 蓝色"),
        ("我不吃辣了。", "not user likes 辣"),
        ("我不喜欢吃辣了。", "not user likes 辣"),
        ("我们现在用 Redis。", "we uses Redis"),
        ("支付服务用Go写的。", "支付服务 uses Go"),
        ("支付服务是用 Go 写的。", "支付服务 uses Go"),
        ("订单服务改用Kotlin了。", "订单服务 uses Kotlin"),
        ("我们在支付服务里用 Redis。", "支付服务 uses Redis"),
        ("移动端我们用 SQLite。", "移动端 uses SQLite"),
        ("项目里我们用 Redis。", "we uses Redis"),
        ("我们项目里用的是 Redis。", "we uses Redis"),
        ("我们的前端用 React。", "前端 uses React"),
    ],
)
def test_a_clause_states_a_fact(stated: Stated, text: str, expected: str):
    assert stated(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我从阿里跳槽到腾讯。", ["user works_at 腾讯", "not user works_at 阿里"]),
        ("从谷歌离职了，加入了 OpenAI。", ["not user works_at 谷歌", "user works_at OpenAI"]),
        ("我们从 PostgreSQL 迁移到 MySQL 8.4。", ["we uses MySQL 8.4", "not we uses PostgreSQL"]),
        ("我们用 Valkey 替换了 Redis。", ["we uses Valkey", "not we uses Redis"]),
        ("我们把 Redis 换成了 Valkey。", ["we uses Valkey", "not we uses Redis"]),
        ("前端从 Vue 换成了 React。", ["前端 uses React", "not 前端 uses Vue"]),
        ("我们不再使用 Jira，换成了飞书项目。", ["not we uses Jira", "we uses 飞书项目"]),
        ("我对虾和蟹过敏，两项都是阳性。", ["user allergic_to 虾", "user allergic_to 蟹"]),
        ("Python 从 3.11 升级到 3.12。", ["Python version 3.12", "not Python version 3.11"]),
        ("我在谷歌做数据科学家。", ["user works_at 谷歌", "user job_title 数据科学家"]),
        ("小王在华为上班。他住在深圳。", ["小王 works_at 华为", "小王 lives_in 深圳"]),
    ],
)
def test_a_sentence_may_state_several(stated: Stated, text: str, expected: list[str]):
    assert sorted(stated(text)) == sorted(expected)


def test_what_somebody_says_of_himself_is_so(stated: Stated):
    assert stated("王芳说她搬到了柏林。") == ["王芳 lives_in 柏林"]
    assert stated("小王：我搬到上海了。") == ["小王 lives_in 上海"]
    assert stated("我住在南京。", speaker="阿敏") == ["阿敏 lives_in 南京"]
    assert stated("我妹妹住在南京。", speaker="阿敏") == ["阿敏的妹妹 lives_in 南京"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "豆豆吃了花生酱以后全身起疹子，医生确诊花生过敏，以后花生一律不能碰。",
            ["豆豆 allergic_to 花生", "豆豆 cannot_eat 花生"],
        ),
        ("医生诊断我青霉素过敏。", ["user allergic_to 青霉素"]),
        ("女儿在儿童医院查出对青霉素过敏。", ["user的女儿 allergic_to 青霉素"]),
        ("豆豆昨天去复查。医生说她对花生过敏。", ["豆豆 allergic_to 花生"]),
        ("医生确诊花生过敏。", []),
        ("我的医生对花生过敏。", []),
        ("医生花生过敏。", []),
    ],
)
def test_who_finds_an_allergy_out_does_not_have_it(stated: Stated, text: str, expected: list[str]):
    assert stated(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "复查结果出来了，豆豆鸡蛋已经脱敏，可以正常吃鸡蛋了；但是查出腰果也过敏。",
            ["not 豆豆 allergic_to 鸡蛋", "not 豆豆 cannot_eat 鸡蛋", "豆豆 allergic_to 腰果"],
        ),
        ("豆豆鸡蛋不过敏了。", ["not 豆豆 allergic_to 鸡蛋"]),
        ("女儿现在能吃牛奶了。", ["not user的女儿 allergic_to 牛奶", "not user的女儿 cannot_eat 牛奶"]),
        ("豆豆等脱敏以后就可以吃鸡蛋了。", []),
        ("明年豆豆可以吃鸡蛋了。", []),
        ("豆豆正在做鸡蛋脱敏治疗。", []),
        ("日志已经脱敏了。", []),
    ],
)
def test_an_allergy_that_is_over_ends(stated: Stated, text: str, expected: list[str]):
    assert stated(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "终于搬完家了！从上海搬到杭州滨江，新房子房租六千二一个月。",
            ["user lives_in 杭州", "not user lives_in 上海", "user rent 六千二"],
        ),
        ("新家房租五千八一个月。", ["user rent 五千八"]),
        ("现在的房东是老陈。", ["user landlord 老陈"]),
        ("隔壁房租三千五。", []),
        ("老房子房租三千。", []),
        ("从上海搬到杭州要三天。", []),
        ("服务器从上海搬到杭州。", []),
    ],
)
def test_the_new_flat_is_that_of_whoever_writes(stated: Stated, text: str, expected: list[str]):
    assert stated(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "爸爸开始吃氨氯地平，脚肿，医生给换成了缬沙坦。",
            [
                "user的爸爸 takes_medication 氨氯地平",
                "user的爸爸 takes_medication 缬沙坦",
                "not user的爸爸 takes_medication 氨氯地平",
            ],
        ),
        (
            "医生把爸爸的氨氯地平换成了缬沙坦。",
            ["user的爸爸 takes_medication 缬沙坦", "not user的爸爸 takes_medication 氨氯地平"],
        ),
        ("爸爸不吃氨氯地平了。", ["not user的爸爸 takes_medication 氨氯地平"]),
        ("医生给换成了缬沙坦。", []),
        ("医生建议爸爸换成缬沙坦。", []),
        ("咖啡戒掉了，现在只喝绿茶。", ["not user likes 咖啡"]),
        ("我把咖啡戒了。", ["not user likes 咖啡"]),
        ("我想把咖啡戒了。", []),
        ("老王戒了。", []),
        ("陈浩是青鸟项目负责人。", ["青鸟 owner 陈浩"]),
        (
            "陈浩调去了海外组，青鸟项目现在由周敏负责。",
            ["青鸟 owner 周敏", "not 青鸟 owner 陈浩", "not we owner 陈浩"],
        ),
        ("青鸟项目可能由周敏负责。", []),
    ],
)
def test_what_takes_the_place_of_another_ends_it(stated: Stated, text: str, expected: list[str]):
    assert stated(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Lantern 是我自己的 side project，前端用 React，后端用 Python 的 FastAPI，部署在 AWS 上。",
            [
                "Lantern的前端 uses React",
                "Lantern的后端 uses FastAPI",
                "Lantern的后端 uses Python",
                "Lantern uses AWS",
            ],
        ),
        (
            "Lantern 前端从 React 迁到 Svelte。",
            ["Lantern的前端 uses Svelte", "not Lantern的前端 uses React"],
        ),
        ("AWS 太贵，Lantern 整个搬到阿里云了。", ["Lantern uses 阿里云"]),
        ("我们搬到三楼了。", []),
        ("小王是好人，前端用 Vue。", ["前端 uses Vue"]),
    ],
)
def test_the_parts_of_a_project_are_those_of_the_project_named_before(stated: Stated, text: str, expected: list[str]):
    assert stated(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "太太林悦在市儿童医院当护士。",
            ["user的太太 named 林悦", "user的太太 works_at 市儿童医院", "user的太太 job_title 护士"],
        ),
        ("爸爸王强住在苏州。", ["user的爸爸 named 王强", "user的爸爸 lives_in 苏州"]),
        ("同事王芳在谷歌工作。", ["王芳 works_at 谷歌"]),
        ("女儿豆豆花生过敏。", ["豆豆 allergic_to 花生"]),
        ("我太太是护士。", ["user的太太 job_title 护士"]),
        ("我老公在华为上班。", ["user的老公 works_at 华为"]),
        ("表妹和大学同学结婚了。", []),
        ("女儿对鸡蛋轻度过敏。", ["user的女儿 allergic_to 鸡蛋"]),
        ("我不吃内脏和肥肉。", ["user avoids 内脏", "user avoids 肥肉"]),
        ("我妈妈周一在家。", []),
        ("我在医院工作。", []),
    ],
)
def test_a_relative_may_be_given_with_a_name(stated: Stated, text: str, expected: list[str]):
    assert stated(text) == expected
