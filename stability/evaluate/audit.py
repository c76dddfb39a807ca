"""Watching a certificate after it was issued: some later debates run to their full length.

A random share of later debates is not stopped, so that their loss is seen: what the certified rule
would have cost. If the risk is at most r = max_risk, then for every p > r

    E = (p / r)^x ((1 - p) / (1 - r))^(N - x)

of x losses among N audited debates is a nonnegative supermartingale that starts at 1, and so is the
mean over a fixed set of p. By Ville's inequality it ever reaches 1 / level with probability at most
``level``, however long one looks: a betting e-process (Waudby-Smith and Ramdas, J. R. Stat. Soc. B
86, 2024, 1-27). When it does, the promise is withdrawn for good. Half of the stake is on p = 2 r.
"""

import hashlib
import json
from collections.abc import Mapping
from math import exp, inf, log
from typing import Any, Self, final

import numpy as np

from stability._check import check_fields, check_int, check_real
from stability.evaluate.certificate import Certificate
from stability.evaluate.losses import losses_by_round
from stability.evaluate.stops import stops
from stability.log import DebateLog

# p as multiples of the promised risk, and the share of the stake on each
_STAKES = ((1.5, 0.2), (2.0, 0.5), (3.0, 0.15), (5.0, 0.1), (10.0, 0.05))


@final
class Audit:
    """The running audit of a certificate; its state is JSON.

    Parameters
    ----------
    certificate : Certificate
        With a rule.
    share : float
        In (0, 1], of later debates that run to their full length.
    level : float
        In (0, 1): probability of a false alarm, ever.
    seed : int
        >= 0, of the draw of the audited debates.

    Raises
    ------
    ValueError
        When the certificate has no rule, or a parameter is out of range.

    Examples
    --------
    >>> from stability.datasets import load_smollm_debates
    >>> from stability.evaluate.certify import certify
    >>> audit = Audit(certify(load_smollm_debates(), max_risk=.1))
    >>> for lost in [False] * 40 + [True] * 12:
    ...     audit.update(lost)
    >>> audit.audited, audit.losses, audit.flagged
    (52, 12, True)
    """

    def __init__(
        self, certificate: Certificate, *, share: float = 0.1, level: float = 0.05, seed: int = 0
    ) -> None:
        if certificate.rule is None:
            raise ValueError("`certificate` must have a rule; nothing was promised")
        self.certificate = certificate
        self.share = check_real("share", share, low=0.0, high=1.0, closed_low=False)
        self.level = check_real(
            "level", level, low=0.0, high=1.0, closed_low=False, closed_high=False
        )
        self.seed = check_int("seed", seed, minimum=0)
        self.audited = 0
        self.losses = 0
        self.highest = 1.0

    def due(self, debate: int | str) -> bool:
        """Say whether this debate must run to its full length; a function of seed and name."""
        digest = hashlib.sha256(f"{self.seed}:{debate}".encode()).digest()
        return int.from_bytes(digest[:8], "big") < self.share * 2**64

    def update(self, lost: bool) -> None:
        """Take in the loss of one audited debate: would the certified stop have cost something?"""
        if not isinstance(lost, bool | np.bool_):
            raise ValueError(f"`lost` must be True or False, got {lost!r}")
        self.audited += 1
        self.losses += bool(lost)
        self.highest = max(self.highest, self.wealth)

    def observe(self, log: DebateLog) -> None:
        """Take in audited debates of full length, in the order of the log.

        Raises
        ------
        ValueError
            When they have other agents or another length than those of the certificate.
        """
        own = self.certificate
        assert own.rule is not None
        if log.carried.any() or (log.n_agents, log.n_rounds) != (own.n_agents, own.n_rounds):
            raise ValueError(
                f"`log` must hold debates of {own.n_agents} agents and {own.n_rounds} rounds in "
                f"full length, got {log!r}, {int(log.carried.any(axis=0).sum())} ended early"
            )
        by_round = losses_by_round(log, own.loss)
        held = stops(log, own.rule).held
        for lost in by_round[held - 1, np.arange(log.n_items)].tolist():
            self.update(lost)

    @property
    def wealth(self) -> float:
        """The e-value now: evidence against the promise, 1 at the start."""
        risk, total = self.certificate.max_risk, 0.0
        for multiple, stake in _STAKES:
            p = min(multiple * risk, (1.0 + risk) / 2.0)
            gain = self.losses * log(p / risk)
            gain += (self.audited - self.losses) * log((1.0 - p) / (1.0 - risk))
            total += stake * exp(gain) if gain < 700.0 else inf
        return total

    @property
    def flagged(self) -> bool:
        """Whether the promise is withdrawn: the wealth has reached 1 / level at some time."""
        return self.highest >= 1.0 / self.level

    @property
    def sentence(self) -> str:
        """What was seen, in words."""
        seen = f"{self.losses} losses in {self.audited} audited debates"
        risk = f"a risk of at most {self.certificate.max_risk:g}"
        if self.flagged:
            return (
                f"Withdrawn: {seen} are not those of {risk} (evidence {self.highest:.3g}, "
                f"{1 / self.level:g} needed; false alarms at most {self.level:g}, ever)."
            )
        return f"Stands: {seen} do not contradict {risk} (evidence {self.wealth:.3g})."

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, the certificate included."""
        return {
            "certificate": self.certificate.to_dict(),
            "share": self.share,
            "level": self.level,
            "seed": self.seed,
            "audited": self.audited,
            "losses": self.losses,
            "highest": None if self.highest == inf else self.highest,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build the audit that ``to_dict`` wrote.

        Raises
        ------
        ValueError
            Naming the field that is missing, unknown or damaged.
        """
        names = ("certificate", "share", "level", "seed", "audited", "losses", "highest")
        check_fields("audit", data, names)
        found = cls(
            Certificate.from_dict(data["certificate"]),
            share=data["share"],
            level=data["level"],
            seed=data["seed"],
        )
        found.audited = check_int("audited", data["audited"], minimum=0)
        found.losses = check_int("losses", data["losses"], minimum=0, maximum=found.audited)
        high = inf if data["highest"] is None else data["highest"]
        found.highest = check_real("highest", high, low=1.0, high=inf)
        return found

    def __repr__(self) -> str:
        return f"Audit({json.dumps({**self.to_dict(), 'certificate': '...'})})"


def audit(
    certificate: Certificate,
    log: DebateLog | None = None,
    *,
    share: float = 0.1,
    level: float = 0.05,
    seed: int = 0,
) -> Audit:
    """Begin the audit of a certificate, with the audited debates so far if there are some.

    Parameters
    ----------
    certificate, share, level, seed
        As in `Audit`.
    log : DebateLog, optional
        Audited debates, all in full length, one a question, in the order in which they were held.

    Examples
    --------
    >>> from stability.datasets import load_smollm_debates
    >>> from stability.evaluate.certify import certify
    >>> log = load_smollm_debates()
    >>> audit(certify(log, max_risk=.1), log).sentence[:62]
    'Stands: 2 losses in 72 audited debates do not contradict a ris'
    """
    found = Audit(certificate, share=share, level=level, seed=seed)
    if log is not None:
        found.observe(log)
    return found
