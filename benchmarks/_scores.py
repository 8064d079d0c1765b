"""How LoCoMo's question answering is scored: F1 over stemmed words, by rules for each category, and BLEU-1.

After the evaluation that comes with the data set (Maharana et al., 2024). README.md says how A-Mem's differs; there an
adversarial question is right when the tempting answer is given, here when the answer says that it was not mentioned.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

MULTI_HOP, TEMPORAL, OPEN_DOMAIN, SINGLE_HOP, ADVERSARIAL = 1, 2, 3, 4, 5
CATEGORIES = {
    MULTI_HOP: "multi-hop",
    TEMPORAL: "temporal",
    OPEN_DOMAIN: "open-domain",
    SINGLE_HOP: "single-hop",
    ADVERSARIAL: "adversarial",
}
NOT_MENTIONED = "Not mentioned in the conversation"

_REFUSALS = ("not mentioned", "no information available")
_LITTLE_WORDS = re.compile(r"\b(?:a|an|the|and)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    """Lower case, without punctuation, articles, "and" and superfluous spaces."""
    return " ".join(_LITTLE_WORDS.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def f1(answer: str, gold: str) -> float:
    """Harmonic mean of precision and recall over stemmed words, each counted as often as it stands in both."""
    said, wanted = _stems(answer), _stems(gold)
    common = (Counter(said) & Counter(wanted)).total()
    if not common:
        return 0.0
    precision, recall = common / len(said), common / len(wanted)
    return 2 * precision * recall / (precision + recall)


def f1_of_parts(answer: str, gold: str) -> float:
    """The same for answers with several parts between commas: each part wanted takes the best part said."""
    said = answer.split(",")
    return _mean([max(f1(part, wanted) for part in said) for wanted in gold.split(",")])


def bleu1(answer: str, gold: str) -> float:
    """Sentence BLEU on single words (clipped precision times the brevity penalty), in lower case."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    # Smoothing has no say on single words without a match (that is 0); it is named because the protocol names it.
    smoothing = SmoothingFunction().method1
    return float(sentence_bleu([_words(gold)], _words(answer), weights=(1.0,), smoothing_function=smoothing))


def gold_answer(category: int, answer: str) -> str:
    """What an answer is held against: of open-domain answers the part before the explanation."""
    if category == ADVERSARIAL:
        return NOT_MENTIONED
    return answer.split(";")[0].strip() if category == OPEN_DOMAIN else answer


def score(category: int, answer: str, gold: str) -> tuple[float, float]:
    """(F1, BLEU-1) of one answer, `gold` as `gold_answer` gives it; of adversarial questions the first is 1 or 0."""
    bleu = bleu1(answer, gold)
    if category == ADVERSARIAL:
        return float(any(each in answer.lower() for each in _REFUSALS)), bleu
    return (f1_of_parts if category == MULTI_HOP else f1)(answer, gold), bleu


def _stems(text: str) -> list[str]:
    return [_stemmer().stem(word) for word in normalised(text).split()]


@cache
def _stemmer() -> Any:
    from nltk.stem import PorterStemmer

    return PorterStemmer()


def _words(text: str) -> list[str]:
    # nltk's word_tokenize cuts sentences first, with data that would have to be downloaded; answers are short phrases.
    from nltk.tokenize import NLTKWordTokenizer

    words: list[str] = NLTKWordTokenizer().tokenize(text.lower())
    return words


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
