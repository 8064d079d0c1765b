"""Times that a text names, resolved against the day it was said: the one place where amem reads them."""

from __future__ import annotations

from amem.text.times.bare import bare
from amem.text.times.dates import MONTH, MONTHS, mentions
from amem.text.times.relative import with_dates
from amem.text.times.spans import Named, Span, before, iso, longest, month_of, weekday_of

__all__ = [
    "MONTH",
    "MONTHS",
    "Named",
    "Span",
    "bare",
    "before",
    "iso",
    "longest",
    "mentions",
    "month_of",
    "weekday_of",
    "with_dates",
]
