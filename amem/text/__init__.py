"""Text as amem sees it: the terms it is found by, its sentences, its pieces and its normal form."""

from __future__ import annotations

from amem.text.markup import hashtags
from amem.text.quotes import Quotes
from amem.text.scripts import cjk_share, is_cjk, normalize, written_in_cjk
from amem.text.sentences import sentences, split_text
from amem.text.terms import (
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
