"""A certificate: a stopping rule with a promise, and everything needed to run and distrust it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

from stability._check import check_choice, check_fields, check_int, check_real
from stability.evaluate.losses import LOSSES
from stability.rules import Rule, rule_from_dict, rule_to_text

FORMAT = 1
METHODS = ("learn-then-test", "conformal")


@dataclass(frozen=True)
class Tested:
    """One rule that was tested.

    Attributes
    ----------
    family : str
    rule : Rule
    losses : int
        Debates, of all that were used, that the rule cost something.
    p_value : float
        P(Bin(M, max_risk) <= losses); of the conformal method the bound on the mean loss.
    passed : bool
        Whether it and all rules before it in its family passed.
    saved : float
        Share of the rounds that it saves on the log.
    """

    family: str
    rule: Rule
    losses: int
    p_value: float
    passed: bool
    saved: float


@dataclass(frozen=True)
class Certificate:
    """What `certify` returns.

    Attributes
    ----------
    rule : Rule or None
        The rule that may be run, in any loop; None when none can be certified.
    max_risk, confidence : float
        The promise. The confidence means nothing for the conformal method.
    loss : {"answer_changed", "harm"}
    method : {"learn-then-test", "conformal"}
    n_items, losses : int
        Debates used, one a cluster, and how many of them the rule cost something.
    p_value : float
    risk_high : float
        Upper limit of the rule's risk at the error of its family; 1 without a rule.
    saved : float
        Share of the rounds that the rule saves on the log.
    n_agents, n_rounds : int
        Of the debates; the promise is for such debates only.
    ties : str
        How ties are settled.
    population : str
        SHA-256 of the log (`fingerprint`).
    seed : int
        Of the draw of one debate a cluster.
    families : tuple of str
    tested : tuple of Tested
        All rules, family by family, in the order in which they were to be tested.
    """

    rule: Rule | None
    max_risk: float
    confidence: float
    loss: str
    method: str
    n_items: int
    losses: int
    p_value: float
    risk_high: float
    saved: float
    n_agents: int
    n_rounds: int
    ties: str
    population: str
    seed: int
    families: tuple[str, ...]
    tested: tuple[Tested, ...]

    @property
    def sentence(self) -> str:
        """The promise in words, or why there is none."""
        cost = (
            "the set of leading answers at the stop differs from that of the full debate"
            if self.loss == "answer_changed"
            else "the full debate is right and the stop is wrong"
        )
        if self.rule is None:
            saving = [one for one in self.tested if one.saved > 0.0]
            if not saving:
                return "Nothing can be certified: no rule of the families saves a round here."
            safest = min(saving, key=lambda one: one.losses)
            needed = self.max_risk
            if self.method != "conformal":
                needed = (1.0 - self.confidence) / len(self.families)
            why = f", too many for a risk of {self.max_risk:g}"
            why += f" (p {safest.p_value:.4f}, at most {needed:.4g} needed)"
            if safest.p_value <= needed:
                why = ", but a rule before it in its family failed"
            return (
                "Nothing can be certified: of the rules that save rounds, the safest cost "
                f"{safest.losses} of {self.n_items} debates something ({cost}){why}."
            )
        held = f"debates of {self.n_agents} agents and {self.n_rounds} rounds"
        if self.method == "conformal":
            promise = (
                f"On average only: over many logs like this one, the share of debates in which "
                f"{cost} is at most {self.max_risk:g}; for this log nothing is promised."
            )
        else:
            promise = (
                f"With confidence {self.confidence:g}, {cost} in at most {100 * self.max_risk:g} % "
                "of such debates."
            )
        return (
            f"{rule_to_text(self.rule)}: {promise} Seen: {self.losses} of {self.n_items} "
            f"independent {held}, {100 * self.saved:.1f} % of the rounds saved. Valid for the same "
            "agents, length, ties and population of questions only; a changed answer need not be "
            "a worse one, nor a kept one right."
        )

    def summary(self) -> str:
        """Return a readable account: the promise, then every rule that was tested."""
        rows = [("family", "rule", "losses", "p", "passed", "saved")]
        rows += [
            (
                one.family,
                rule_to_text(one.rule),
                str(one.losses),
                f"{one.p_value:.4f}",
                "yes" if one.passed else "no",
                f"{100 * one.saved:.1f} %",
            )
            for one in self.tested
        ]
        width = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
        lines = [
            "  ".join(
                cell.ljust(size) if c < 2 else cell.rjust(size)
                for c, (cell, size) in enumerate(zip(row, width, strict=True))
            )
            for row in rows
        ]
        return "\n".join([self.sentence, *lines])

    def __str__(self) -> str:
        return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        data["rule"] = None if self.rule is None else self.rule.to_dict()
        data["families"] = list(self.families)
        data["tested"] = [asdict(one) | {"rule": one.rule.to_dict()} for one in self.tested]
        return {"format": FORMAT, **data, "sentence": self.sentence}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build the certificate that ``to_dict`` wrote.

        Raises
        ------
        ValueError
            Naming the field that is missing, unknown or damaged.
        """
        names = [field.name for field in fields(cls)]
        check_fields("certificate", data, ("format", *names, "sentence"))
        if data["format"] != FORMAT:
            raise ValueError(f"`format` of a certificate must be {FORMAT}, got {data['format']!r}")
        values = {name: data[name] for name in names}
        for name in ("max_risk", "confidence", "p_value", "risk_high", "saved"):
            values[name] = check_real(name, data[name], low=0.0, high=1.0)
        for name, least in (
            ("n_items", 1),
            ("losses", 0),
            ("n_agents", 1),
            ("n_rounds", 2),
            ("seed", 0),
        ):
            check_int(name, data[name], minimum=least)
        check_choice("loss", data["loss"], LOSSES)
        check_choice("method", data["method"], METHODS)
        values["rule"] = None if data["rule"] is None else rule_from_dict(data["rule"])
        try:
            values["families"] = tuple(str(name) for name in data["families"])
            values["tested"] = tuple(
                Tested(**{**one, "rule": rule_from_dict(one["rule"])}) for one in data["tested"]
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"`tested` of a certificate is damaged: {error}") from None
        found = cls(**values)
        if found.sentence != data["sentence"]:
            raise ValueError("`sentence` of a certificate must be that of its figures")
        return found

    def save(self, path: str | Path) -> None:
        """Write it as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what ``save`` wrote.

        Raises
        ------
        ValueError
            When the file is no certificate; the message names it and what is wrong.
        """
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path} is no certificate: {error}") from None
        try:
            return cls.from_dict(data)
        except ValueError as error:
            raise ValueError(f"{path} is no certificate: {error}") from None
