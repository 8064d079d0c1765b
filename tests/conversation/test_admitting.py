"""Whatever a model says it learnt: nothing of it breaks learning, and only what was shown can be cited."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from amem.analysis import Extraction, KnownProcedure, Passage, Procedure, Statement
from amem.conversation.admission import admit
from amem.conversation.rule_file import load_rules
from amem.note import Kind, Message, Role

RULES = load_rules(None)
PASSAGE = Passage(
    said=(
        Message(Role.USER, "I moved to Lisbon with 2 cats. 我对花生过敏。", speaker="Ana"),
        Message(Role.ASSISTANT, "Lisbon has 7 hills."),
        Message(Role.TOOL, '{"weather": "sunny"}'),
        Message(Role.USER, "Yes. To deploy: stop, migrate, start."),
    ),
    procedures=(KnownProcedure("p1", "Deploy", "on release", ("stop", "start")),),
)
handles = st.lists(st.sampled_from(["m1", "m2", "m3", "m4", "m0", "m99", "n1", ""]) | st.text(max_size=4)).map(tuple)
pieces = st.sampled_from(
    [
        "Ana",
        "Lisbon",
        "2 cats",
        "moved",
        "1999",
        "Porto",
        "花生",
        "过敏",
        "三千",
        "3,000.50",
        "¼",
        "²",
        "٣",
        "\x00",
        "\ud800",
    ]
)
texts = st.lists(pieces | st.text(max_size=12), max_size=6).map(" ".join)
statements = st.builds(Statement, texts, st.sampled_from(Kind), handles)
procedures = st.builds(
    Procedure,
    texts,
    texts,
    st.lists(texts, max_size=3).map(tuple),
    handles,
    st.sampled_from([None, "p1", "p2", ""]),
)
extractions = st.builds(
    Extraction,
    texts,
    st.lists(statements, max_size=4).map(tuple),
    st.lists(procedures, max_size=2).map(tuple),
)


@given(extractions)
def test_nothing_a_model_answers_breaks_learning_and_all_of_it_is_kept_or_dropped_with_a_reason(
    extraction: Extraction,
) -> None:
    admitted = admit(extraction, PASSAGE, RULES, ["user"])
    # The rules always keep what a person says of an allergy, whether the model does or not.
    kept = [statement for statement, _ in admitted.statements if statement.text != "我对花生过敏。"]
    asked = [statement for statement in extraction.statements if statement.text.strip() != "我对花生过敏。"]
    refused = len(asked) - len(kept) + len(extraction.procedures) - len(admitted.procedures)
    assert refused <= len(admitted.dropped)
    for statement, messages in admitted.statements:
        assert messages
        assert all(message.role is Role.USER for message in messages)
        assert not any(number in statement.text for number in ("1999", "3,000", "三千"))
        assert "Porto" not in statement.text
    for procedure, messages in ((each.procedure, each.messages) for each in admitted.procedures):
        assert any(message.role is Role.USER for message in messages)
        assert procedure.updates in (None, "p1")
