"""Blocks run one after the other, by threads, or by processes that may die.

An engine yields each block with its rows as they are finished, in any order. It ends early only by
an exception; what was yielded before is finished work.
"""

import os
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ThreadPoolExecutor, wait
from typing import Any

from sims.montecarlo.work import Block, Cell, CellError, Row, run_block

ENGINES = ("threads", "loky")
_DEATHS = 3
Finished = Iterator[tuple[Block, list[Row]]]


def run_blocks(blocks: list[Block], cell: Cell, engine: str, workers: int) -> Finished:
    """Yield (block, rows) of every block.

    Raises
    ------
    CellError
        Of the cell that failed, or that killed its process three times.
    """
    if engine == "loky":
        return _processes(blocks, workers)
    if workers == 1:
        return ((block, block.run(cell)) for block in blocks)
    return _threads(blocks, cell, workers)


def _threads(blocks: list[Block], cell: Cell, workers: int) -> Finished:
    waiting = deque(blocks)
    running: dict[Future[list[Row]], Block] = {}
    with ThreadPoolExecutor(workers) as pool:
        try:
            while waiting or running:
                while waiting and len(running) < workers:
                    block = waiting.popleft()
                    running[pool.submit(block.run, cell)] = block
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield running.pop(future), future.result()
        except (Exception, KeyboardInterrupt):
            # what the other threads finish is not lost
            wait(running)
            for future, block in running.items():
                if future.exception() is None:
                    yield block, future.result()
            raise


def _processes(blocks: list[Block], workers: int) -> Finished:
    waiting, suspects = deque(blocks), deque[Block]()
    deaths: Counter[str] = Counter()
    pool = _pool(workers)
    running: dict[Future[list[Row]], Block] = {}
    try:
        while waiting or suspects or running:
            broken = False
            # after a death those that were running then run alone, so that the guilty one is known
            queue, most = (suspects, 1) if suspects else (waiting, workers)
            while queue and len(running) < most and not broken:
                try:
                    running[pool.submit(run_block, queue[0])] = queue[0]
                    queue.popleft()
                except BrokenExecutor:
                    broken = True
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            broken = broken or any(isinstance(one.exception(), BrokenExecutor) for one in done)
            if broken:
                # the others end too: finished, or with their pool
                done, _ = wait(running)
            for future in done:
                block = running.pop(future)
                error = future.exception()
                if error is None:
                    yield block, future.result()
                elif not isinstance(error, BrokenExecutor):
                    raise error
                else:
                    deaths[block.key("")] += 1
                    if deaths[block.key("")] >= _DEATHS:
                        raise CellError(
                            f"the process of the cell {block.cell} died {_DEATHS} times with "
                            f"{block.parameters}, repeats {block.first}..{block.last - 1}"
                        )
                    suspects.append(block)
            if broken:
                pool.shutdown(wait=True, kill_workers=True)
                pool = _pool(workers)
    finally:
        pool.shutdown(wait=True, kill_workers=True)


def _pool(workers: int) -> Any:
    from loky import ProcessPoolExecutor

    return ProcessPoolExecutor(max_workers=workers, initializer=_end_with, initargs=(os.getpid(),))


def _end_with(parent: int) -> None:
    """Let a worker end when its parent was killed: nobody else would end it."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
