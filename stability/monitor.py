"""The monitor: the mutable shell of a stopping rule, for loops that are written elsewhere.

A rule is a pure function of its state; a monitor holds the state between two rounds, takes
answers in whatever form the loop has them, and can be saved and loaded as plain JSON types.
"""

from collections.abc import Mapping
from typing import Any

from stability._check import check_fields
from stability.log.round import Round
from stability.rules import Decision, Rule, RuleState


class Monitor:
    """The mutable shell of a rule: give it each round, ask it for the decision.

    Parameters
    ----------
    rule : Rule
    n_agents : int, optional
        n; None takes it from the first round.

    Attributes
    ----------
    rule : Rule
    state : RuleState or None
    decision : Decision or None
        The last one; None before the first round.

    Examples
    --------
    >>> from stability.rules import single_debate_rule
    >>> monitor = Monitor(single_debate_rule(3))
    >>> monitor.update(["A", "B", None]).stop
    False
    >>> monitor.update(["A", "A", "A"]).stop, monitor.decision.answer
    (True, 'A')
    """

    def __init__(self, rule: Rule, n_agents: int | None = None) -> None:
        if not isinstance(rule, Rule):
            raise ValueError(f"`rule` must be a Rule, got {rule!r}")
        self.rule = rule
        self._n_agents = n_agents
        self.state: RuleState | None = None
        self.decision: Decision | None = None
        self.reset()

    def update(self, answers: Any) -> Decision:
        """Take in one round and return what the rule says.

        Parameters
        ----------
        answers : Round, array-like of labels (M, n), or a list of n labels for one debate
            As in ``Round.from_answers``.

        Raises
        ------
        ValueError
            Whatever ``Round.from_answers`` and ``Rule.step`` refuse; the monitor is then as it
            was.
        """
        round_ = answers if isinstance(answers, Round) else Round.from_answers(answers)
        state = self.state
        if state is None:
            state = self.rule.start(round_.n_agents)
        self.state, self.decision = self.rule.step(state, round_)
        return self.decision

    def reset(self) -> None:
        """Forget all rounds."""
        self.state = None if self._n_agents is None else self.rule.start(self._n_agents)
        self.decision = None

    def state_dict(self) -> dict[str, Any]:
        """Plain JSON types: rule, state and last decision."""
        return {
            "rule": self.rule.to_dict(),
            "state": None if self.state is None else self.state.to_dict(),
            "decision": None if self.decision is None else self.decision.to_dict(),
        }

    def load_state_dict(self, data: Mapping[str, Any]) -> None:
        """Go on from what ``state_dict`` of a monitor with the same rule wrote.

        Raises
        ------
        ValueError
            When it is the state of another rule, or damaged; the monitor is then as it was.
        """
        check_fields("data", data, ("rule", "state", "decision"))
        if data["rule"] != self.rule.to_dict():
            raise ValueError(f"this is the state of {data['rule']}, not of {self.rule.to_dict()}")
        state, decision = data["state"], data["decision"]
        loaded = None if state is None else self.rule.state_from_dict(state)
        self.decision = None if decision is None else Decision.from_dict(decision)
        self.state = loaded
