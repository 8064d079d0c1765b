"""English notes state facts: who, what, and whether it is so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Stated = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Lisbon.", "user lives_in Lisbon"),
        ("I've just moved back to Lisbon!", "user lives_in Lisbon"),
        ("We relocated to Berlin.", "user lives_in Berlin"),
        ("I moved away from Porto.", "not user lives_in Porto"),
        ("I don't live in Lisbon anymore.", "not user lives_in Lisbon"),
        ("I used to live in Rome.", "not user lives_in Rome"),
        ("i live in lisbon", "user lives_in lisbon"),
        ("I work at Kestrel Freight.", "user works_at Kestrel Freight"),
        ("Ana joined OpenAI.", "Ana works_at OpenAI"),
        ("I got a job at Marulho.", "user works_at Marulho"),
        ("Started the new job at Marulho today, as a technician.", "user works_at Marulho since 2026-06-15"),
        ("Decided on Svelte for the front end.", "user uses Svelte"),
        ("We settled on Svelte for the front end.", "we uses Svelte"),
        ("Decided to use TimescaleDB for the pump telemetry.", "pump telemetry uses TimescaleDB"),
        ("First day at Marulho in Lisbon.", "user works_at Marulho"),
        ("First day at Roundhay Academy as head of science.", "user works_at Roundhay Academy"),
        ("Last day at Kestrel Freight.", "not user works_at Kestrel Freight"),
        ("I left Google.", "not user works_at Google"),
        ("I was laid off from Stripe.", "not user works_at Stripe"),
        ("I quit my job.", "not user works_at"),
        ("Bob resigned.", "not Bob works_at"),
        ("The billing service uses Redis for caching.", "billing service uses Redis"),
        ("We've been using Slack since the merger.", "we uses Slack"),
        ("We decided to use MySQL.", "we uses MySQL"),
        ("We no longer use Jenkins.", "not we uses Jenkins"),
        ("I dropped Emacs.", "not user uses Emacs"),
        ("Production runs on Python 3.12.", "production uses Python 3.12"),
        ("The API is written in Go.", "API uses Go"),
        ("Our primary database is MySQL.", "we uses MySQL"),
        ("MySQL is our database.", "we uses MySQL"),
        ("I love my job.", "user likes job"),
        ("I hate early meetings.", "user dislikes early meetings"),
        ("I prefer tea to coffee.", "user prefers tea"),
        ("My favourite drink is tea.", "user prefers tea"),
        ("I'm not allergic to nuts.", "not user allergic_to nuts"),
        ("I'm no longer allergic to shrimp.", "not user allergic_to shrimp"),
        ("I have a peanut allergy.", "user allergic_to peanut"),
        ("I'm married to Ben.", "user married_to Ben"),
        ("I got divorced.", "not user married_to"),
        ("Ana's manager is Priya.", "Ana manager Priya"),
        ("Pieter is my manager.", "user manager Pieter"),
        ("Priya is no longer my manager.", "not user manager Priya"),
        ("I report to Priya.", "user manager Priya"),
        ("Got a new boss, Lena.", "user manager Lena"),
        ("New boss: Lena", "user manager Lena"),
        ("We have a new landlord, Pedro.", "user landlord Pedro"),
        ("I quit smoking.", "not user likes smoking"),
        ("I quit coffee.", "not user likes coffee"),
        ("I've given up sugar.", "not user likes sugar"),
        ("I've stopped drinking coffee.", "not user likes coffee"),
        ("I don't smoke.", "not user likes smoking"),
        ("My salary is 4,200 a month.", "user salary 4,200"),
        ("Ana's pay is 3,100 euros.", "Ana salary 3,100 euros"),
        ("I earn 52,000 a year.", "user salary 52,000 a year"),
        ("i work at marulho now", "user works_at marulho"),
        ("I got a raise to 5,000 euros.", "user salary 5,000 euros"),
        ("Tern's queue is NATS.", "Tern uses NATS"),
        ("Larder: SQLite with FTS5.", "Larder uses SQLite"),
        ("I was prescribed metformin.", "user takes_medication metformin"),
        ("Ana's doctor put her on losartan.", "Ana takes_medication losartan"),
        ("My office is in Alcântara.", "user office Alcântara"),
        ("My office moved to room 811.", "user office room 811"),
        ("She told me nothing. I was promoted to staff engineer.", "user job_title staff engineer"),
        ("I joined the platform team.", "user team platform"),
        ("I'm on the payments team.", "user team payments"),
        ("I'm vegetarian.", "user diet vegetarian"),
        ("Ana went vegan.", "Ana diet vegan"),
        ("I eat meat again.", "user diet meat"),
        ("My cat is called Mochi.", "user's cat named Mochi"),
        ("The deadline is 3 May.", "we deadline 3 May"),
        ("The release deadline is 3 May.", "release deadline 3 May"),
        ("The release was moved to 5 June.", "release date 5 June"),
        ("Our release is on 3 May.", "release date 3 May"),
        ("Dmitri's school play is on 16 January.", "Dmitri's school play date 16 January"),
        ("Moved to Lisbon.", "user lives_in Lisbon"),
        ("Switched to Vim.", "user uses Vim"),
        ("We use SQLite in the mobile app.", "mobile app uses SQLite"),
        ("In the mobile app we use SQLite.", "mobile app uses SQLite"),
        ("For the mobile app, we use SQLite.", "mobile app uses SQLite"),
        ("We use Postgres (in the mobile app).", "mobile app uses Postgres"),
        ("I use Vim on my laptop.", "user's laptop uses Vim"),
        ("We no longer use Redis in the billing service.", "not billing service uses Redis"),
        ("We use Slack for the project.", "we uses Slack"),
        ("We use Slack for the moment.", "we uses Slack"),
        ("We use Python for data analysis.", "we uses Python"),
        ("We use Postgres in production.", "we uses Postgres"),
        ("We rolled back to Postgres.", "we uses Postgres"),
        ("The team meeting moved to Tuesdays.", "team meeting date Tuesdays"),
        ("Since yesterday my boss is Bob.", "user manager Bob since 2026-06-14"),
        ("I stopped eating meat.", "not user likes meat"),
        ("I work at St. Mary's.", "user works_at St. Mary's"),
    ],
)
def test_a_clause_states_a_fact(stated: Stated, text: str, expected: str):
    assert stated(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I left Google and joined OpenAI.", ["not user works_at Google", "user works_at OpenAI"]),
        (
            "I am allergic to penicillin, to hazelnuts and to latex.",
            ["user allergic_to penicillin", "user allergic_to hazelnuts", "user allergic_to latex"],
        ),
        ("Ana's allergies: latex and nuts.", ["Ana allergic_to latex", "Ana allergic_to nuts"]),
        ("I switched to Dr. Haddad, because Dr. Okafor retired.", ["user doctor Dr. Haddad"]),
        ("I don't like tea any more.", ["not user likes tea", "not user prefers tea"]),
        ("I left Google for OpenAI.", ["not user works_at Google", "user works_at OpenAI"]),
        ("We switched from Jira to Linear.", ["we uses Linear", "not we uses Jira"]),
        ("We replaced Redis with Valkey.", ["we uses Valkey", "not we uses Redis"]),
        ("PostgreSQL was replaced by MySQL.", ["we uses MySQL", "not we uses PostgreSQL"]),
        (
            "Decision: we move the buoy catalogue from PostgreSQL 15.3 to MySQL 8.4.",
            ["buoy catalogue uses MySQL 8.4", "not buoy catalogue uses PostgreSQL 15.3"],
        ),
        (
            "We switched the clinic scheduler from Postgres to MySQL.",
            ["clinic scheduler uses MySQL", "not clinic scheduler uses Postgres"],
        ),
        ("We moved CI from Jenkins to GitHub Actions.", ["we uses GitHub Actions", "not we uses Jenkins"]),
        ("For the app we use React, but for the API we use Go.", ["app uses React", "API uses Go"]),
        ("Tom and Sarah are divorced.", ["not Tom married_to Sarah", "not Sarah married_to Tom"]),
        ("My wife and I live in Leeds.", ["user's wife lives_in Leeds", "user lives_in Leeds"]),
        (
            "I work as a nurse at St Mary's hospital.",
            ["user job_title nurse", "user works_at St Mary's hospital"],
        ),
        ("I gave up Vim for VS Code.", ["not user uses Vim", "user uses VS Code"]),
        ("I moved from Porto to Lisbon.", ["user lives_in Lisbon", "not user lives_in Porto"]),
        ("I work as a nurse at Mercy Hospital.", ["user job_title nurse", "user works_at Mercy Hospital"]),
        ("I started as a nurse at Leeds General.", ["user job_title nurse", "user works_at Leeds General"]),
        ("Priya's baby came early: a girl, 2.9 kg.", ["Priya child a baby", "not Priya pregnancy"]),
        (
            "Our daughter was born this morning.",
            ["user child our daughter since 2026-06-15", "not user pregnancy since 2026-06-15"],
        ),
        ("I'm a data scientist at Google.", ["user job_title data scientist", "user works_at Google"]),
        (
            "I'm allergic to peanuts, eggs and milk.",
            ["user allergic_to peanuts", "user allergic_to eggs", "user allergic_to milk"],
        ),
        (
            "We upgraded Python from 3.11 to 3.12.",
            ["Python version 3.12", "not Python version 3.11", "we uses Python 3.12"],
        ),
        ("Pedro is vegan and allergic to peanuts.", ["Pedro diet vegan", "Pedro allergic_to peanuts"]),
    ],
)
def test_a_sentence_may_state_several(stated: Stated, text: str, expected: list[str]):
    assert sorted(stated(text)) == sorted(expected)


def test_whoever_speaks_is_meant_by_i(stated: Stated):
    assert stated("I live in Porto", speaker="Ana") == ["Ana lives_in Porto"]
    assert stated("My sister lives in Porto", speaker="Ana") == ["Ana's sister lives_in Porto"]
    assert stated("Ana: I moved to Porto.\nBen: I live in Faro.") == ["Ana lives_in Porto", "Ben lives_in Faro"]


def test_a_pronoun_is_the_one_person_named_before(stated: Stated):
    assert stated("Ana lives in Porto. She works at Google.")[1] == "Ana works_at Google"
    assert stated("My brother visited us. He lives in Porto.") == ["user's brother lives_in Porto"]
    assert stated("Ana told me she moved to Berlin.") == ["Ana lives_in Berlin"]


@pytest.mark.parametrize(
    "text",
    [
        "She lives in Porto.",
        "Ana and Maria met. She lives in Porto.",
        "Ana met Maria. She lives in Porto.",
        "Thanks, Ana! She moved to Porto.",
    ],
)
def test_a_pronoun_that_may_be_anybody_is_nobody(stated: Stated, text: str):
    assert stated(text) == []


def test_an_own_predicate_is_read_from_what_is_somebodys(tmp_path):
    from amem.analysis import Draft
    from amem.language.predicates import load_predicates
    from amem.language.statements import facts_in
    from amem.note import Fact

    (tmp_path / "predicates.toml").write_text('[drives]\none = true\naliases = ["car"]\n', encoding="utf-8")
    found = facts_in(Draft("My car is a Volvo. Ana's car is a Fiat."), load_predicates(tmp_path))
    assert found == (Fact("user", "drives", "Volvo"), Fact("Ana", "drives", "Fiat"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Mia's retest: pistachio outgrown, cashew still strongly positive.",
            ["not Mia allergic_to pistachio", "Mia allergic_to cashew"],
        ),
        ("Mia came home. She has outgrown her egg allergy.", ["not Mia allergic_to egg"]),
        ("Mia outgrew her allergy to eggs.", ["not Mia allergic_to eggs"]),
        ("Mia can eat eggs again.", ["not Mia cannot_eat eggs", "not Mia allergic_to eggs"]),
        ("I'm allergic to bee stings and carry an EpiPen.", ["user allergic_to bee stings"]),
        ("I have type 1 diabetes and wear a pump.", ["user has_condition type 1 diabetes"]),
        ("Ella eats pork again.", ["not Ella avoids pork"]),
        ("I joined PureGym.", ["user gym PureGym"]),
        ("We got rid of the Volvo.", ["not user drives Volvo"]),
        ("Leo is in the football team at Oak School.", ["Leo team football"]),
        ("No meat on Mondays.", []),
        ("Mia's retest: pistachio not outgrown, cashew positive.", []),
        ("My test: COVID positive.", []),
        ("Mia has not outgrown her egg allergy yet.", []),
        ("Mia will outgrow her egg allergy.", []),
        ("Mia can eat eggs again next year.", []),
    ],
)
def test_an_allergy_that_is_outgrown_ends(stated: Stated, text: str, expected: list[str]):
    assert stated(text) == expected
