"""Families of rules to certify: fixed before a log is seen, the safest rule first.

Testing goes down a family until a rule fails, so that the order decides what can be reached; it may
follow what other debates taught, but not the log at hand.
"""

from stability.rules import BetaPosterior, MaxRounds, Rule, StableMargin

FAMILIES = ("margin", "posterior", "fixed")
_CONFIDENCES = (0.9999, 0.999, 0.995, 0.99, 0.98, 0.95, 0.9, 0.85, 0.8, 0.75)


def family(name: str, n_agents: int, n_rounds: int) -> tuple[Rule, ...]:
    """Return the rules of a family, for debates of n agents and T rounds; each ends at T.

    Parameters
    ----------
    name : {"margin", "posterior", "fixed"}
        ``margin``: `StableMargin`, first unanimity held for three rounds, then for each margin from
        n down a leader that held two rounds, and one that did not: on recorded debates an answer
        that all agents give at once is left more rarely than one that some of them give twice.
        ``posterior``: `BetaPosterior` of the votes of all rounds, from .9999 down.
        ``fixed``: `MaxRounds`, from T - 1 rounds down; no rule of the debate, for comparison.
    n_agents, n_rounds : int
        >= 1 and >= 2.

    Examples
    --------
    >>> from stability.rules import rule_to_text
    >>> for rule in family("margin", 2, 4)[:3]:
    ...     print(rule_to_text(rule))
    StableMargin(margin=2, held=3) | MaxRounds(rounds=4)
    StableMargin(margin=2, held=2) | MaxRounds(rounds=4)
    StableMargin(margin=2, held=1) | MaxRounds(rounds=4)
    """
    rules: list[Rule]
    if name == "fixed":
        return tuple(MaxRounds(rounds) for rounds in range(n_rounds - 1, 0, -1))
    if name == "posterior":
        rules = [BetaPosterior(confidence=value, pool="all") for value in _CONFIDENCES]
    else:
        # a leader that is asked to have led in all T rounds saves none
        steps = [(n_agents, 3), *((m, h) for m in range(n_agents, 0, -1) for h in (2, 1))]
        rules = [StableMargin(margin=m, held=h) for m, h in steps if h < n_rounds]
    return tuple(rule | MaxRounds(n_rounds) for rule in rules)
