"""Human text, English and Chinese: terms, sentences, numbers, times, names, statements and their intervals."""

from __future__ import annotations

from amem.language.markup import hashtags
from amem.language.quotes import Quotes
from amem.language.scripts import cjk_share, is_cjk, normalize, written_in_cjk
from amem.language.sentences import sentences, split_text
from amem.language.terms import (
    FTS5_TOKENIZE,
    Typed,
    asked_terms,
    index_terms,
    located_terms,
    query_terms,
    search_terms,
    typed_words,
)

__all__ = [
    "FTS5_TOKENIZE",
    "Quotes",
    "Typed",
    "asked_terms",
    "cjk_share",
    "hashtags",
    "index_terms",
    "is_cjk",
    "located_terms",
    "normalize",
    "query_terms",
    "search_terms",
    "sentences",
    "split_text",
    "typed_words",
    "written_in_cjk",
]
