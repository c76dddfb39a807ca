"""``sims check``: theorems by simulated debates, beside their exact checks."""

import argparse
import json
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from sims._check import check_whole
from sims.checks import SIMULATED, check_by_simulation
from sims.debates.embedding import Embedding
from sims.debates.scenario import Scenario
from theory import THEOREMS, AgentType, DebateModel, Verdict

# Statements that draws do not reach.
EXACT_ONLY = {("EL-5.2", "printed"), ("EL-R6.3", "repaired")}
# Statements whose exact margin is the least mean itself, not a bound, a rate or a sign.
SAME = {(name, "printed") for name in ("EL-5.4", "EL-6.1", "EL-6.2", "EL-R6.3", "EL-6.4", "HT-1")}
SAME |= {("EL-5.4", "repaired"), ("EL-6.4", "repaired"), ("HT-2", "printed")}
SAME |= {("HT-2", "repaired"), ("EL-OBJ", "printed")}
FAR = 5.0
_BLIND = "The wrong kernel was not seen by any: more --debates are needed."
FLATTENED = 0.2


@dataclass(frozen=True)
class Row:
    """A statement on a model, exact and simulated, and simulated with a wrong kernel."""

    theorem: str
    statement: str
    what: str
    exact: Verdict | None
    found: Verdict
    control: Verdict | None = None

    def distance(self, verdict: Verdict | None) -> float | None:
        """Estimate less exact margin in standard errors, where both are the same quantity."""
        if self.exact is None or verdict is None or verdict.margin is None:
            return None
        if (self.theorem, self.statement) not in SAME or self.exact.margin is None:
            return None
        return (verdict.margin - self.exact.margin) / float(verdict.evidence["standard error"])

    def contradicts(self) -> bool:
        """Whether both decide, and differently, or the estimate is far from the margin."""
        far = self.distance(self.found)
        if self.exact is None:
            return False
        opposed = None not in (self.found.holds, self.exact.holds) and (
            self.found.holds != self.exact.holds
        )
        return opposed or (far is not None and abs(far) > FAR)


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser("check", help="theorems by simulation, beside their exact checks")
    one.add_argument("theorem", nargs="*", metavar="THEOREM", help="such as EL-5.4")
    one.add_argument(
        "--all",
        action="store_true",
        help="every theorem, and what only simulation reaches (so without names)",
    )
    one.add_argument("--debates", type=float, default=5e4, help="debates for each mean (5e4)")
    one.add_argument("--seed", type=int, default=0, help="(0)")
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=run)


def cases(theorem_id: str) -> list[tuple[str, str, DebateModel, dict[str, Any]]]:
    """Return the models that are simulated: the counterexamples, and random ones."""
    theorem = THEOREMS[theorem_id]
    found = [
        ("printed", case.name, case.model, dict(case.options))
        for case in theorem.counterexamples()
        if (theorem_id, "printed") not in EXACT_ONLY
    ]
    if (theorem_id, "repaired") not in EXACT_ONLY:
        for seed in (7, 8):
            model = theorem.sample(np.random.default_rng(seed), "repaired")
            found.append(("repaired", f"random model {seed}", model, {}))
    return found


def beyond() -> list[tuple[str, str, Scenario, dict[str, Any]]]:
    """Return debates that no exact chain covers, with the printed statement to check on them."""
    echo = DebateModel.echo_chamber(6, 3)
    shared = DebateModel.shared_misconception(7, 3, weight=0.9, misled=0.3, right=0.8, wrong=0.3)
    weak = DebateModel.shared_misconception(7, 4, weight=0.95, misled=0.49, right=0.8, wrong=0.3)
    strong = DebateModel.shared_misconception(7, 6, weight=0.8, misled=0.05, right=0.8, wrong=0.3)
    able = DebateModel.binary(7, 0.8, 0.8, 0.3)
    found: list[tuple[str, str, Scenario, dict[str, Any]]] = [
        ("EL-5.1", f"{graph} graph", Scenario(echo, graph=graph), {})
        for graph in ("complete", "ring", "star", "groups")
    ]
    found += [
        ("EL-5.4", f"errors correlated by {rho}", Scenario(shared, error_correlation=rho), {})
        for rho in (0.3, 0.9)
    ]
    found += [("EL-5.4", "a ring", Scenario(shared, graph="ring"), {})]
    for name, model in (("weak", weak), ("strong", strong)):
        found += [
            (
                "EL-6.1",
                f"{name} misconception, spread {spread}",
                Scenario(model, embedding=Embedding(4, spread)),
                {},
            )
            for spread in (0.0, 0.3, 3.0)
        ]
    return found + [
        (
            "EL-6.2",
            f"the best three, spread {spread}",
            Scenario(able, embedding=Embedding(3, spread, method="quality")),
            {},
        )
        for spread in (0.0, 1.0, 3.0)
    ]


def flattened(model: DebateModel, share: float = FLATTENED) -> DebateModel:
    """Return the model with a wrong kernel: so much of every row is spread evenly."""
    kinds = tuple(
        AgentType(kind.prior, kind.likelihood, (1.0 - share) * kind.kernel + share / kind.n_answers)
        for kind in model.types
    )
    return model.with_(types=kinds)


def run(arguments: argparse.Namespace) -> int:
    """Do it; 3 when a simulated verdict contradicts the exact one, or the control does not."""
    for name in arguments.theorem:
        if name not in SIMULATED:
            raise ValueError(f"`theorem` must be one of {', '.join(SIMULATED)}, got {name!r}")
    if arguments.all and arguments.theorem:
        raise ValueError(f"`--all` goes without names, got {' '.join(arguments.theorem)}")
    debates = check_whole("debates", arguments.debates, 2)
    options = {"debates": debates, "seed": arguments.seed}
    rows = [
        _row(name, *case, options)
        for name in arguments.theorem or SIMULATED
        for case in cases(name)
    ]
    others = [
        Row(
            name,
            "printed",
            what,
            None,
            check_by_simulation(name, scenario, statement="printed", **options, **extra),
        )
        for name, what, scenario, extra in beyond()
        if not arguments.theorem or name in arguments.theorem
    ]
    broken = [row for row in rows if row.contradicts()]
    seen = [row.distance(row.control) for row in rows]
    far = [abs(value) > FAR for value in seen if value is not None]
    blind = bool(far) and not any(far)
    if arguments.json:
        print(json.dumps([_plain(row) for row in rows + others], indent=2, allow_nan=False))
        if blind:
            print(_BLIND, file=sys.stderr)
        return 3 if broken or blind else 0
    _table(rows, ("exact", "margin", "simulated", "estimate", "SE", "z", "z, wrong kernel"))
    print(
        "\nThe estimate is the least of the means compared. z, its distance from the exact margin "
        "in standard errors, stands where both are the same quantity; the wrong kernel has "
        f"{FLATTENED:.0%} of each row spread evenly: {sum(far)} of {len(far)} see it by more than "
        f"{FAR:g}."
    )
    print("\nBeyond the exact chain, the printed statements:\n")
    _table(others, ("simulated", "estimate", "SE"))
    for row in broken:
        print(f"\nContradiction: {row.theorem}, {row.statement}, {row.what}.")
    if blind:
        print(f"\n{_BLIND}")
    return 3 if broken or blind else 0


def _row(
    name: str,
    statement: str,
    what: str,
    model: DebateModel,
    extra: dict[str, Any],
    options: dict[str, Any],
) -> Row:
    """Check one model three ways."""
    given = options | extra | {"statement": statement}
    control = None
    if (name, statement) in SAME:
        control = check_by_simulation(name, flattened(model), **given)
    exact = THEOREMS[name].check(model, statement=statement, **extra)
    return Row(name, statement, what, exact, check_by_simulation(name, model, **given), control)


def _plain(row: Row) -> dict[str, Any]:
    """A row in plain JSON types."""
    return {
        "theorem": row.theorem,
        "statement": row.statement,
        "model": row.what,
        "exact": None if row.exact is None else _finite(row.exact.to_dict()),
        "simulated": _finite(row.found.to_dict()),
        "z": row.distance(row.found),
        "z_wrong_kernel": row.distance(row.control),
        "contradiction": row.contradicts(),
    }


def _finite(value: Any) -> Any:
    """The same with None for what JSON has no number for."""
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _table(rows: list[Row], columns: tuple[str, ...]) -> None:
    """Print some columns of the rows, aligned."""
    heads = ("theorem", "statement", "model", *columns)
    body = []
    for row in rows:
        cells = {
            "exact": _word(row.exact),
            "margin": _number(None if row.exact is None else row.exact.margin, 4),
            "simulated": _word(row.found),
            "estimate": _number(row.found.margin, 4),
            "SE": _number(row.found.evidence.get("standard error"), 4),
            "z": _number(row.distance(row.found), 1),
            "z, wrong kernel": _number(row.distance(row.control), 1),
        }
        body.append((row.theorem, row.statement, row.what, *(cells[one] for one in columns)))
    wide = [max(len(row[c]) for row in (heads, *body)) for c in range(len(heads))]
    for line in (heads, *body):
        cells_ = [
            cell.ljust(size) if c < 3 or heads[c] in ("exact", "simulated") else cell.rjust(size)
            for c, (cell, size) in enumerate(zip(line, wide, strict=True))
        ]
        print("  ".join(cells_).rstrip())


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None or not np.isfinite(value) else f"{value:.{digits}f}"


def _word(verdict: Verdict | None) -> str:
    return (
        "-"
        if verdict is None
        else {True: "holds", False: "violated", None: "undecided"}[verdict.holds]
    )
