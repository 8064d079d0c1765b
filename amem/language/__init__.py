"""Human text, English and Chinese: terms, sentences, numbers, times, names, statements and their intervals.

The names below are imported when they are first used: what only shows notes need not compile the patterns that read
them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amem.language.scripts import cjk_share as cjk_share
    from amem.language.scripts import hashtags as hashtags
    from amem.language.scripts import is_cjk as is_cjk
    from amem.language.scripts import normalize as normalize
    from amem.language.scripts import written_in_cjk as written_in_cjk
    from amem.language.sentence_parts import Quotes as Quotes
    from amem.language.sentence_parts import sentences as sentences
    from amem.language.sentence_parts import split_text as split_text
    from amem.language.terms import FTS5_TOKENIZE as FTS5_TOKENIZE
    from amem.language.terms import Typed as Typed
    from amem.language.terms import asked_terms as asked_terms
    from amem.language.terms import held_terms as held_terms
    from amem.language.terms import index_terms as index_terms
    from amem.language.terms import located_terms as located_terms
    from amem.language.terms import query_terms as query_terms
    from amem.language.terms import search_terms as search_terms
    from amem.language.terms import typed_words as typed_words

_HOMES = {
    "FTS5_TOKENIZE": "terms",
    "Quotes": "sentence_parts",
    "Typed": "terms",
    "asked_terms": "terms",
    "cjk_share": "scripts",
    "hashtags": "scripts",
    "held_terms": "terms",
    "index_terms": "terms",
    "is_cjk": "scripts",
    "located_terms": "terms",
    "normalize": "scripts",
    "query_terms": "terms",
    "search_terms": "terms",
    "sentences": "sentence_parts",
    "split_text": "sentence_parts",
    "typed_words": "terms",
    "written_in_cjk": "scripts",
}
__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
