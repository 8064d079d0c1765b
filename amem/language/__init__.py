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

_NAMES = {
    "terms": "FTS5_TOKENIZE Typed asked_terms held_terms index_terms located_terms query_terms search_terms"
    " typed_words",
    "sentence_parts": "Quotes sentences split_text",
    "scripts": "cjk_share hashtags is_cjk normalize written_in_cjk",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
