"""The debate of `test_simulate` as a plain model of Mesa: an agent an object, a step a round."""

import mesa
import numpy as np

from theory import next_law


class Debater(mesa.Agent):
    """An agent that answers from its task alone, and then from the answers of the round before."""

    def __init__(self, model, kind):
        super().__init__(model)
        self.kind, self.answer = kind, None

    def say(self):
        read = self.model.read
        law = self.kind.first_law if read is None else next_law(self.kind, read)
        self.answer = self.model.random.choices(range(len(law)), law)[0]


class Debate(mesa.Model):
    """All agents speak at once; what they said is read in the next round."""

    def __init__(self, debate, seed):
        super().__init__(seed=seed)
        self.width, self.read = debate.n_answers, None
        for kind, size in zip(debate.types, debate.sizes, strict=True):
            for _ in range(size):
                Debater(self, kind)

    def step(self):
        self.agents.do("say")
        self.read = np.bincount([agent.answer for agent in self.agents], minlength=self.width)


def by_mesa(debate, debates, rounds):
    """Return the accuracy of the last round."""
    right = 0
    for seed in range(debates):
        model = Debate(debate, seed)
        for _ in range(rounds):
            model.step()
        right += int(model.read[debate.correct])
    return right / (debates * debate.n_agents)
