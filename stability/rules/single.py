"""What to run on one live debate, where there are neither labels nor other items to compare."""

from stability._check import check_int
from stability.rules.base import Rule
from stability.rules.consensus import PluralityUnchanged, Unanimity
from stability.rules.limits import MaxRounds
from stability.rules.sequential import BetaPosterior


def single_debate_rule(n_agents: int, max_rounds: int = 8) -> Rule:
    """Return the rule that did best on recorded debates, by the number of agents.

    n >= 3: unanimity. Measured on the recorded sources with n >= 3 and full-length debates, at
    most 1.4 % of the final answers differ from those at the stop and 1 to 52 % of the rounds
    are saved (held one more round, ``Unanimity(hold=1)``, at most .4 %).
    n = 2: the vote pooled over rounds at >= .99, since two agents that read each other agree
    too easily: it takes three rounds in which both give the same answer, or more with dissent.
    n = 1: nobody to agree with; the agent must repeat its answer in two further rounds. This is
    a choice, not a measurement.

    The rule is uncertified: consensus is not correctness, and the figures are of other agents
    than yours.

    Parameters
    ----------
    n_agents : int
        >= 1.
    max_rounds : int
        >= 1, rounds held at most, round 0 included.

    Raises
    ------
    ValueError
        When a parameter is not a whole number in its range.

    Examples
    --------
    >>> single_debate_rule(3)
    AnyOf(rules=(Unanimity(hold=0), MaxRounds(rounds=8)))
    """
    check_int("n_agents", n_agents, minimum=1)
    cap = MaxRounds(max_rounds)
    if n_agents == 1:
        return PluralityUnchanged(patience=2) | cap
    if n_agents == 2:
        return BetaPosterior(confidence=0.99, pool="all") | cap
    return Unanimity() | cap
