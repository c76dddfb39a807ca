"""``sims run``: simulate a model or a scenario from a file."""

import argparse
import json
from pathlib import Path
from typing import Any

from sims.characteristics import load
from sims.debates.panel import Panel
from sims.debates.scenarios import SCENARIOS
from sims.debates.simulate import METHODS, simulate
from theory import ChainTooLargeError, CountChain


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser("run", help="simulate a model or a scenario")
    one.add_argument(
        "what", metavar="SCENARIO", help="a name (`sims scenarios`), or a file of JSON"
    )
    one.add_argument("--debates", type=float, default=1e5, help="debates to draw (1e5)")
    one.add_argument("--rounds", type=int, default=11, help="rounds, round 0 included (11)")
    one.add_argument("--seed", type=int, default=0, help="(0)")
    one.add_argument("--method", choices=METHODS, default=METHODS[0], help=f"({METHODS[0]})")
    one.add_argument("--threads", type=int, help="(the cores that may be used)")
    one.add_argument("--out", type=Path, metavar="FILE", help="write the table (csv or parquet)")
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do it."""
    if arguments.out is not None and arguments.out.suffix not in (".csv", ".parquet"):
        raise ValueError(f"`--out` must end in .csv or .parquet, got {arguments.out}")
    named = SCENARIOS.get(arguments.what)
    what = load(Path(arguments.what).read_text("utf-8")) if named is None else named
    found = simulate(
        what,
        debates=arguments.debates,
        rounds=arguments.rounds,
        seed=arguments.seed,
        record="accuracy",
        method=arguments.method,
        threads=arguments.threads,
    )
    exact: list[float] | None = None
    if isinstance(found.model, Panel):
        exact = [found.model.accuracy(t) for t in range(found.rounds)]
    elif found.scenario is None:
        try:
            chain = CountChain(found.model)
            exact = [chain.accuracy(t) for t in range(found.rounds)]
        except ChainTooLargeError:
            exact = None
    frame = found.to_frame()
    if exact is not None:
        frame["exact"] = exact
    if arguments.out is not None:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        if arguments.out.suffix == ".csv":
            frame.to_csv(arguments.out, index=False)
        else:
            frame.to_parquet(arguments.out, index=False)
    if arguments.json:
        data = found.to_dict() | {"exact": exact, "method": found.method}
        print(json.dumps(data, indent=2, allow_nan=False))
        return 0
    print(f"{found.debates} debates of {found.model.n_agents} agents, seed {found.seed}")
    print(frame.round(5).to_string(index=False))
    if exact is None:
        print("No exact chain to set beside it.")
    if arguments.out is not None:
        print(f"Table: {arguments.out}")
    return 0
