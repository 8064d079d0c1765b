"""Several new notes analysed and held against old ones in one call: what a chat turn or a conversation has taught.

Asked for one after the other each note costs two calls. Together they cost one, and the model sees that they belong to
one conversation. What the answer leaves out, the rules fill in; what it says is held against the notes as elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amem.analysis import Described
from amem.errors import BadModelAnswer
from amem.llm import showing
from amem.llm.answers import confidence_in, read_analysis
from amem.llm.grounding import ground_analysis, ground_evolution
from amem.llm.ladder import Question
from amem.llm.prompts import language_of
from amem.llm.proposals import Proposals
from amem.llm.schemas import batch_schema
from amem.llm.shown import Dropped, Handles, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.analysis import Analysis, Draft, Evolution, Neighbour
    from amem.llm.ladder import Ladder
    from amem.protocols import Vocabulary

FIELDS = frozenset(("notes", "links", "rewrites"))
#: Words of each new note that are shown: a statement is one sentence, a procedure has steps.
_NOTE_WORDS = 60
#: How many of the collection's own tags a model is offered.
_TAGS_OFFERED = 12


def most_used(vocabulary: Vocabulary) -> list[str]:
    """The tags that the most notes carry, at most `_TAGS_OFFERED`."""
    counted = vocabulary.tags()
    return sorted(counted, key=lambda tag: (-counted[tag], tag))[:_TAGS_OFFERED]


def analyze_all(
    ladder: Ladder,
    drafts: Sequence[Draft],
    neighbours: Sequence[Neighbour],
    vocabulary: Vocabulary,
    *,
    again: int,
) -> list[Described]:
    """Ask once for all `drafts`, shown as ``s1``, ``s2``, ...; no call without any. Raises what `Ladder.ask` raises."""
    if not drafts:
        return []
    shown = neighbours[: showing.MOST_NEIGHBOURS]
    names = tuple(f"s{number}" for number in range(1, len(drafts) + 1))
    handles = tuple(neighbour.handle for neighbour in shown)
    language = language_of(" ".join(draft.content for draft in drafts))
    when = next((draft.at for draft in drafts if draft.at), None)
    named = dict(zip(names, drafts, strict=True))
    lines = (f"{name} <<<{showing.line(draft.content, _NOTE_WORDS)}>>>" for name, draft in named.items())
    question = Question(
        prompt="analyze_all",
        values={
            "notes": "\n".join(lines),
            "neighbours": showing.neighbours(shown, language) or "-",
            "handles": ", ".join(handles) or "-",
            "tags": showing.listed(most_used(vocabulary)),
            "when": showing.when(when, language),
        },
        schema=batch_schema(names, handles),
        fields=FIELDS,
        read=lambda answer: _read(answer, named, shown),
        language=language,
        again=again,
    )
    answered = ladder.ask(question)
    return [_answered(each, answered.prompt) for each in answered.value]


def _answered(each: Described, prompt: str) -> Described:
    analysis = None if each.analysis is None else replace(each.analysis, prompt=prompt)
    return Described(analysis, replace(each.evolution, prompt=prompt))


def _read(answer: dict[str, Any], drafts: Mapping[str, Draft], shown: Sequence[Neighbour]) -> list[Described]:
    if not isinstance(answer.get("notes"), list):
        raise BadModelAnswer("notes has to be a list")
    dropped = Dropped()
    analyses = _analyses(answer, drafts, dropped)
    if not analyses:
        raise BadModelAnswer("the answer describes none of the notes that were shown")
    evolutions = _evolutions(answer, drafts, shown, dropped)
    first = next(iter(drafts))
    evolutions[first] = replace(evolutions[first], dropped=(*dropped.sentences, *evolutions[first].dropped))
    return [Described(analyses.get(name), evolutions[name]) for name in drafts]


def _analyses(answer: dict[str, Any], drafts: Mapping[str, Draft], dropped: Dropped) -> dict[str, Analysis]:
    names = Handles(drafts)
    found: dict[str, Analysis] = {}
    for item in dropped.objects(answer, "notes"):
        name = names.find(item.get("note"))
        if name is None or name in found:
            dropped.add(f"a description of {quoted(item.get('note'))}, which was not shown or is described already")
            continue
        draft = drafts[name]
        try:
            known_words = "\n".join((draft.content, draft.speaker or "", *draft.previous))
            found[name] = ground_analysis(read_analysis(item), known_words)
        except BadModelAnswer as error:
            dropped.add(f"the description of {name}: {error}")
    return found


def _evolutions(
    answer: dict[str, Any], drafts: Mapping[str, Draft], shown: Sequence[Neighbour], dropped: Dropped
) -> dict[str, Evolution]:
    """What the answer proposes for each new note. A rewrite goes with the first note that is linked to the old one."""
    names, contents = Handles(drafts), {neighbour.handle: neighbour.content for neighbour in shown}
    proposals = {name: Proposals(list(contents)) for name in drafts}
    linked: dict[str, str] = {}
    for item in dropped.objects(answer, "links"):
        name = names.find(item.get("from"))
        if name is None:
            dropped.add(f"a link from {quoted(item.get('from'))}, which was not shown")
            continue
        quote = item.get("quote")
        proposals[name].link(item.get("to"), item.get("type"), item.get("reason"), confidence_in(item), quote)
        linked.setdefault(str(item.get("to")).casefold(), name)
    for item in dropped.objects(answer, "rewrites"):
        name = linked.get(str(item.get("note")).casefold(), next(iter(drafts)))
        context, tags, quote = item.get("context"), item.get("tags"), item.get("quote")
        proposals[name].rewrite(item.get("note"), context, tags, item.get("reason"), confidence_in(item), quote)
    return {name: ground_evolution(each.evolution(), contents) for name, each in proposals.items()}
