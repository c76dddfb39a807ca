"""Monte Carlo debates of latent-concept agents.

Two paths have the same law. *Direct* draws every answer of every agent; *tabulated* draws the
counts of a round at once from the exact matrix of the chain on counts, one draw a round, and is
chosen where no answers are asked for and the matrix is small. Draws are functions of seed, debate,
round and agent (`sims._kernels.debates`): the result is the same, bit for bit, for every number of
threads and every size of block.
"""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sims._check import check_whole
from sims._kernels import debates as kernels
from sims.debates.cores import cores
from sims.debates.embedding import Embedding
from sims.debates.panel import Panel
from sims.debates.result import Simulation
from sims.debates.scenario import Scenario
from theory import ChainTooLargeError, CountChain, DebateModel, next_law

RECORDS = ("accuracy", "counts", "answers")
METHODS = ("auto", "direct", "tabulated")
_MOST_STATES = 2000
_MOST_KEYS = 2**18
_BLOCK = 16_384
# of debates of which nothing is kept: few blocks for a thousand million
_LONG_BLOCK = 2**18
# answers of a block
_CELLS = 2**24

Fill = Callable[[int, int], npt.NDArray[np.int64]]


def simulate(
    model: DebateModel | Scenario | Panel,
    *,
    debates: int,
    rounds: int,
    seed: int = 0,
    first: int = 0,
    record: Literal["accuracy", "counts", "answers"] = "counts",
    method: Literal["auto", "direct", "tabulated"] = "auto",
    threads: int | None = None,
) -> Simulation:
    """Simulate debates.

    Parameters
    ----------
    model : theory.DebateModel, Scenario or Panel
        Views need the tabulated path, a refutation of all answers the direct one. A scenario that
        changes nothing is its model. A debate of a panel is an item.
    debates : int
        1..2^32.
    rounds : int
        >= 1, round 0 included.
    seed : int
        0..2^64 - 1.
    first : int
        Index of the first debate, so that a run can be made in parts; first + debates <= 2^32.
    record : {"counts", "accuracy", "answers"}
        What is kept: counts of answers, sums by round only, or every answer.
    method : {"auto", "direct", "tabulated"}
    threads : int, optional
        None takes the cores that this process may use.

    Returns
    -------
    Simulation

    Raises
    ------
    ValueError
        When an argument is out of range, or the method cannot do what is asked.

    Examples
    --------
    >>> from theory import ChainTooLargeError, CountChain
    >>> model = DebateModel.binary(n=7, weight=.6, right=.75)
    >>> found = simulate(model, debates=20_000, rounds=3, seed=1)
    >>> bool(abs(found.accuracy[2] - CountChain(model).accuracy(2)) < 5 * found.standard_error[2])
    True
    """
    scenario = model if isinstance(model, Scenario) else None
    if scenario is not None:
        model = scenario.model
        # one that changes nothing has the law of its model, and the faster paths
        scenario = None if scenario == Scenario(model) else scenario
    if not isinstance(model, DebateModel | Panel):
        raise ValueError(
            f"`model` must be a theory.DebateModel, a Scenario or a Panel, got {model!r}"
        )
    total = check_whole("debates", debates, 1, 2**32)
    begin = check_whole("first", first, 0, 2**32 - total)
    length = check_whole("rounds", rounds, 1, 2**32)
    key = check_whole("seed", seed, 0, 2**64 - 1)
    for name, value, options in (("record", record, RECORDS), ("method", method, METHODS)):
        if value not in options:
            raise ValueError(f"`{name}` must be one of {', '.join(options)}, got {value!r}")
    workers = cores() if threads is None else check_whole("threads", threads, 1, 256)
    if scenario is None and isinstance(model, DebateModel):
        how = _method(model, record, method)
    else:
        how = _agent_by_agent(method)
    width, n = model.n_answers, model.n_agents
    counts = np.zeros((total, length, width), np.int32) if record == "counts" else None
    answers = np.zeros((total, length, n), np.int32) if record == "answers" else None
    held = None
    if scenario is not None:
        if scenario.stop_unanimous:
            held = np.zeros(total, np.int32)
        fill = _scenario(scenario, begin, length, key, counts, answers, held)
    elif isinstance(model, Panel):
        fill = _panel(model, begin, length, key, counts, answers)
    else:
        make = _tabulated if how == "tabulated" else _direct
        fill = make(model, begin, length, key, counts, answers)
    # a block of rounds that are drawn agent by agent holds each answer
    most = max(64, _CELLS // (length * max(n, width)))
    size = _LONG_BLOCK if how == "tabulated" and counts is None else min(_BLOCK, most)
    starts = range(0, total, size)
    ends = [min(start + size, total) for start in starts]
    # right, spoke, right^2, right * spoke, spoke^2
    sums = np.zeros((5, length), np.int64)
    if workers == 1 or len(ends) == 1:
        for start, end in zip(starts, ends, strict=True):
            sums += fill(start, end)
    else:
        sums += _by_threads(fill, starts, ends, workers)
    for array in (sums, counts, answers, held):
        if array is not None:
            array.setflags(write=False)
    return Simulation(
        model=model,
        scenario=scenario,
        debates=total,
        rounds=length,
        seed=key,
        first=begin,
        record=record,
        right=sums[0],
        spoke=sums[1],
        moments=sums[2:],
        counts=counts,
        answers=answers,
        held=held,
        method=how,
    )


def _by_threads(
    fill: Fill, starts: Sequence[int], ends: Sequence[int], workers: int
) -> npt.NDArray[np.int64]:
    """Sum all blocks; few are handed out at a time, so that an interrupt is heard."""
    blocks = zip(starts, ends, strict=True)
    total: Any = 0
    with ThreadPoolExecutor(workers) as pool:
        running = deque(pool.submit(fill, *block) for block in islice(blocks, 2 * workers))
        try:
            while running:
                total = total + running.popleft().result()
                running.extend(pool.submit(fill, *block) for block in islice(blocks, 1))
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    found: npt.NDArray[np.int64] = total
    return found


def _method(model: DebateModel, record: str, method: str) -> str:
    """Choose the path, and say why one cannot be taken."""
    states, no_table = None, None
    if method != "direct":
        try:
            states = CountChain(model).states
        except ChainTooLargeError as error:
            no_table = str(error)
    if record == "answers":
        no_table = "record='answers' needs every agent"
    elif model.rewrite is not None and model.view is None:
        no_table = "a refutation of all answers has a chain on the rewritten ones only"
    elif states is not None and len(states) > _MOST_STATES:
        no_table = f"{len(states)} counts are more than {_MOST_STATES}"
    if method == "direct" or (method == "auto" and no_table is not None):
        if model.view is not None:
            raise ValueError(
                "`method` must be 'tabulated' for a model with a view"
                + (f", and cannot be: {no_table}" if no_table else "")
            )
        return "direct"
    if no_table is not None:
        raise ValueError(f"`method` must not be 'tabulated': {no_table}")
    return "tabulated"


def _tabulated(
    model: DebateModel,
    begin: int,
    rounds: int,
    seed: int,
    counts: Any,
    answers: Any,  # noqa: ARG001
) -> Fill:
    chain = CountChain(model)
    states = chain.states.astype(np.int32)
    matrix, first = np.ascontiguousarray(chain.transition()), chain.law(0)
    n = len(states)
    threshold, alias = np.empty((n, n)), np.empty((n, n), np.int32)
    kernels.alias_tables(matrix.copy(), threshold, alias)
    start_threshold, start_alias = np.empty((1, n)), np.empty((1, n), np.int32)
    kernels.alias_tables(first[None, :].copy(), start_threshold, start_alias)
    right = states[:, model.correct].astype(np.int64)

    def fill(start: int, end: int) -> npt.NDArray[np.int64]:
        places = np.empty((end - start if counts is not None else 0, rounds), np.int32)
        sums = np.zeros((2, rounds), np.int64)
        kernels.draw_from_table(
            begin + start,
            *_halves(seed),
            start_threshold[0],
            start_alias[0],
            threshold,
            alias,
            right,
            sums,
            places,
            end - start,
        )
        if counts is not None:
            counts[start:end] = states[places]
        return _all_spoke(sums[0], sums[1], end - start, model.n_agents)

    return fill


def _direct(
    model: DebateModel, begin: int, rounds: int, seed: int, counts: Any, answers: Any
) -> Fill:
    width, kinds = model.n_answers, model.types
    owner = np.repeat(np.arange(len(kinds)), model.sizes)
    kernel = np.array([one.kernel for one in kinds])
    with np.errstate(divide="ignore"):
        log_weight = np.log([one.weight for one in kinds])
    first = np.cumsum([one.first_law for one in kinds], axis=1)[:, :-1]
    rewrite = np.empty((0, width, width - 1))
    if model.rewrite is not None:
        matrices = [model.rewrite.of(e) for e in range(len(kinds))]
        rewrite = np.cumsum(matrices, axis=2)[:, :, :-1]
    laws = (np.ascontiguousarray(first), log_weight, np.log(kernel), kernel)
    strides = (model.n_agents + 1) ** np.arange(width)
    strides[-1] = 0
    table = None
    if model.rewrite is None and (model.n_agents + 1) ** (width - 1) <= _MOST_KEYS:
        table = _laws_by_key(model, first, strides)

    def fill(start: int, end: int) -> npt.NDArray[np.int64]:
        own = np.zeros((end - start, rounds, width), np.int32)
        kept = answers is not None
        said = np.empty((end - start, rounds, len(owner)) if kept else (0, 0, 0), np.int32)
        if table is not None:
            kernels.draw_by_state(
                begin + start, *_halves(seed), owner, table, strides, said, own, kept
            )
        else:
            kernels.draw_directly(
                begin + start,
                *_halves(seed),
                owner,
                *laws,
                model.tempering,
                np.ascontiguousarray(rewrite),
                said,
                own,
                kept,
            )
        if counts is not None:
            counts[start:end] = own
        if kept:
            answers[start:end] = said
        here = own[:, :, model.correct].astype(np.int64)
        sums = here.sum(axis=0), (here**2).sum(axis=0)
        return _all_spoke(*sums, end - start, model.n_agents)

    return fill


def _all_spoke(
    right: npt.NDArray[np.int64], squares: npt.NDArray[np.int64], debates: int, n: int
) -> npt.NDArray[np.int64]:
    """Return the five sums where all n agents spoke in every debate."""
    ones = np.ones_like(right)
    return np.stack([right, debates * n * ones, squares, n * right, debates * n**2 * ones])


def _agent_by_agent(method: str) -> str:
    if method == "tabulated":
        raise ValueError(
            "`method` must not be 'tabulated': scenarios and panels are drawn agent by agent"
        )
    return "direct"


def _panel(panel: Panel, begin: int, rounds: int, seed: int, counts: Any, answers: Any) -> Fill:
    def fill(start: int, end: int) -> npt.NDArray[np.int64]:
        own = np.zeros((end - start, rounds, panel.n_answers), np.int32)
        kept = answers is not None
        said = np.empty((end - start, rounds, panel.n_agents) if kept else (0, 0, 0), np.int32)
        p = panel.difficulties(begin + start, end - start, seed)
        kernels.draw_panel(
            begin + start,
            *_halves(seed),
            panel.n_agents,
            panel.fresh(p, rounds),
            panel.stickiness,
            panel.n_answers - 1,
            said,
            own,
            kept,
        )
        if counts is not None:
            counts[start:end] = own
        if kept:
            answers[start:end] = said
        here = own[:, :, panel.correct].astype(np.int64)
        sums = here.sum(axis=0), (here**2).sum(axis=0)
        return _all_spoke(*sums, end - start, panel.n_agents)

    return fill


def _scenario(
    scenario: Scenario, begin: int, rounds: int, seed: int, counts: Any, answers: Any, held: Any
) -> Fill:
    model = scenario.model
    width, kinds = model.n_answers, model.types
    owner = np.repeat(np.arange(len(kinds)), model.sizes)
    kernel = np.array([one.kernel for one in kinds])
    with np.errstate(divide="ignore"):
        log_weight = np.log([one.weight for one in kinds])
    first = np.ascontiguousarray(np.cumsum([one.first_law for one in kinds], axis=1)[:, :-1])
    listens = scenario.listens()
    # without an embedding all that is heard is read
    points = scenario.embedding or Embedding(keep=1, dimension=width)
    keep = 0 if scenario.embedding is None else points.keep

    def fill(start: int, end: int) -> npt.NDArray[np.int64]:
        said = np.empty((end - start, rounds, len(owner)), np.int32)
        lengths = np.empty(end - start, np.int32)
        kernels.draw_scenario(
            begin + start,
            *_halves(seed),
            owner,
            first,
            log_weight,
            np.log(kernel),
            kernel,
            model.tempering,
            listens,
            scenario.stickiness,
            scenario.error_correlation,
            scenario.unread,
            scenario.silent,
            scenario.memory == "last",
            scenario.stop_unanimous,
            keep,
            points.method == "diversity",
            model.correct,
            float(points.spread),
            points.dimension,
            said,
            lengths,
        )
        if counts is not None:
            counts[start:end] = np.stack([(said == a).sum(axis=2) for a in range(width)], axis=2)
        if answers is not None:
            answers[start:end] = said
        if held is not None:
            held[start:end] = lengths
        right = (said == model.correct).sum(axis=2)
        spoke = (said != -2).sum(axis=2)
        products = (right, spoke, right**2, right * spoke, spoke**2)
        return np.stack([part.sum(axis=0) for part in products])

    return fill


def _laws_by_key(
    model: DebateModel, first: npt.NDArray[np.float64], strides: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Cumulative laws of each type: in row 0 of round 0, in row 1 + key after such counts."""
    states = CountChain(model).states
    keys = states @ strides
    table = np.zeros((len(model.types), int(keys.max()) + 2, model.n_answers - 1))
    for e, kind in enumerate(model.types):
        table[e, 0] = first[e]
        table[e, 1 + keys] = np.cumsum(next_law(kind, states, model.tempering), axis=1)[:, :-1]
    return table


def _halves(seed: int) -> tuple[int, int]:
    return seed & 0xFFFFFFFF, seed >> 32
