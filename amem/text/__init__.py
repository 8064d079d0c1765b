"""Text as amem sees it: the terms it is found by, its sentences, its pieces and its normal form."""

from __future__ import annotations

from amem.text.hashtags import hashtags
from amem.text.normal import normalize
from amem.text.quotes import Quotes
from amem.text.scripts import cjk_share, is_cjk, written_in_cjk
from amem.text.searched import asked_terms, search_terms
from amem.text.sentences import sentences
from amem.text.splitting import split_text
from amem.text.terms import FTS5_TOKENIZE, index_terms, located_terms, query_terms
from amem.text.typed import Typed, typed_words

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
