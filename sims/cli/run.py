"""``sims run``: simulate a named scenario, or a model, scenario or panel from a file."""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from sims.characteristics import load
from sims.cli.files import check_picture, check_table, write_picture, write_table
from sims.debates.panel import Panel
from sims.debates.result import Simulation
from sims.debates.scenario import Scenario
from sims.debates.scenarios import SCENARIOS, named_scenario
from sims.debates.simulate import METHODS, simulate
from theory import ChainTooLargeError, CountChain, DebateModel, ablation

# the matrix of more counts takes longer than the debates
MOST_STATES = 2000
PICTURE = Path("out/run.png")
Debated = DebateModel | Scenario | Panel


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser("run", help="simulate a model or a scenario")
    one.add_argument(
        "what", metavar="SCENARIO", help="a name (`sims scenarios`), or a file of JSON"
    )
    one.add_argument("--agents", type=int, help="of a named scenario (7)")
    one.add_argument("--debates", type=float, default=1e5, help="debates to draw (1e5)")
    one.add_argument("--rounds", type=int, default=11, help="rounds, round 0 included (11)")
    one.add_argument("--seed", type=int, default=0, help="(0)")
    one.add_argument(
        "--intervention",
        action="append",
        metavar="NAME",
        help="none, quality, diversity, refutation, joined by + for several at once, or all of "
        "their combinations; may be repeated, to compare (a refutation alone is drawn agent by "
        "agent, all others by table: they do not share their numbers)",
    )
    one.add_argument("--method", choices=METHODS, default=METHODS[0], help=f"({METHODS[0]})")
    one.add_argument("--threads", type=int, help="(the cores that may be used)")
    one.add_argument(
        "--out", "-o", type=Path, metavar="FILE", help="write the table (csv or parquet)"
    )
    one.add_argument(
        "--plot",
        nargs="?",
        const=PICTURE,
        type=Path,
        metavar="FILE",
        help=f"draw accuracy by round ({PICTURE})",
    )
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do it."""
    check_table(arguments.out)
    check_picture(arguments.plot)
    if arguments.what in SCENARIOS:
        agents = 7 if arguments.agents is None else arguments.agents
        what: Debated = named_scenario(arguments.what, agents)
    elif arguments.agents is not None:
        raise ValueError(f"`--agents` goes with the name of a scenario, got {arguments.what}")
    elif Path(arguments.what).is_file():
        try:
            what = load(Path(arguments.what).read_text("utf-8"))
        except UnicodeDecodeError as error:
            raise ValueError(f"{arguments.what} is not text: {error}") from None
    else:
        raise ValueError(
            f"`SCENARIO` must be one of {', '.join(SCENARIOS)}, or a file, got {arguments.what!r}"
        )
    debates = {"": what}
    if arguments.intervention:
        debates = interventions(what, arguments.intervention)
    found = {
        name: simulate(
            one,
            debates=arguments.debates,
            rounds=arguments.rounds,
            seed=arguments.seed,
            record="accuracy",
            method=arguments.method,
            threads=arguments.threads,
        )
        for name, one in debates.items()
    }
    exact = {name: exact_accuracy(one) for name, one in found.items()}
    frame = _table(found, exact)
    if arguments.out is not None:
        write_table(frame, arguments.out)
    if arguments.plot is not None:
        _draw(arguments.plot, arguments.what, found, exact)
    if arguments.json:
        data = [
            ({"intervention": name} if arguments.intervention else {})
            | one.to_dict()
            | {"exact": exact[name], "method": one.method}
            for name, one in found.items()
        ]
        shown = data if arguments.intervention else data[0]
        print(json.dumps(shown, indent=2, allow_nan=False))
        return 0
    first = next(iter(found.values()))
    print(f"{first.debates} debates of {first.model.n_agents} agents, seed {first.seed}")
    print(frame.round(5).to_string(index=False))
    if "exact" not in frame:
        print("No exact chain to set beside it.")
    if arguments.out is not None:
        print(f"Table: {arguments.out}")
    if arguments.plot is not None:
        print(f"Picture: {arguments.plot}")
    return 0


def interventions(what: Debated, names: list[str]) -> dict[str, Debated]:
    """Return the debates that are asked for, by the names of `theory.ablation`."""
    model = what
    if isinstance(what, Scenario) and what == Scenario(what.model):
        model = what.model
    if not isinstance(model, DebateModel):
        raise ValueError(
            "`--intervention` goes with a debate that is the model's own (without graph, "
            "stickiness, memory and so on)"
        )
    every = ablation(replace(model, view=None, rewrite=None))
    every |= {key: one for key, one in ablation(model).items() if key != "none"}
    found: dict[str, Debated] = {}
    for name in names:
        if name == "all":
            found |= every
            continue
        words = {word.strip() for word in name.split("+")}
        key = next((key for key in every if set(key.split(" + ")) == words), None)
        if key is None:
            raise ValueError(
                f"`--intervention` must be one of {', '.join(every)}, or all, got {name!r}"
            )
        found[key] = every[key]
    return found


def exact_accuracy(found: Simulation) -> list[float] | None:
    """Return the exact accuracy by round, None where there is no chain, or a large one."""
    if isinstance(found.model, Panel):
        return [found.model.accuracy(t) for t in range(found.rounds)]
    if found.scenario is not None:
        return None
    try:
        chain = CountChain(found.model)
        if len(chain.states) > MOST_STATES:
            return None
        return [chain.accuracy(t) for t in range(found.rounds)]
    except ChainTooLargeError:
        return None


def _table(found: dict[str, Simulation], exact: dict[str, list[float] | None]) -> Any:
    """Rows of all debates, with a column that names them where they have names."""
    import pandas as pd

    parts = []
    for name, one in found.items():
        part = one.to_frame()
        if name:
            part.insert(0, "intervention", name)
        values = exact[name]
        if values is not None:
            part["exact"] = values
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _draw(
    path: Path,
    what: str,
    found: dict[str, Simulation],
    exact: dict[str, list[float] | None],
) -> None:
    """Accuracy by round, with the exact one where there is one line."""
    from sims import plots

    if len(found) > 1:
        ax = plots.ablation(found)
    else:
        known = {name: values for name, values in exact.items() if values is not None}
        ax = plots.accuracy_by_round(found, known)
    first = next(iter(found.values()))
    ax.set_title(f"{Path(what).stem}: {first.debates:,} debates of {first.model.n_agents} agents")
    write_picture(ax, path)
