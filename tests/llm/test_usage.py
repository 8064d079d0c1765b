"""Counting what model calls cost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from amem.llm.guarded import Usage
from amem.note import Cost


def test_threads_add_up_to_the_total_and_each_knows_its_own_share():
    usage = Usage()

    def work(calls: int) -> Cost:
        before = usage.here
        for _ in range(calls):
            usage.add(tokens_in=10, tokens_out=1)
        return usage.here - before

    with ThreadPoolExecutor(4) as pool:
        shares = list(pool.map(work, [100, 200, 300, 400]))
    assert shares == [Cost(n, 10 * n, n) for n in (100, 200, 300, 400)]
    assert usage.total == Cost(1000, 10_000, 1000)
    assert (usage.calls, usage.tokens_in, usage.tokens_out) == (1000, 10_000, 1000)
    assert usage.here == Cost()
