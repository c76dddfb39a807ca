"""The Beta posterior of the majority: our rule beside the published quadrature.

Debates of 5 agents and 8 rounds with independent votes for two answers, the first with probability
p. At p = .5 no answer has the majority and every stop is a false alarm; at p = .7 a stop with the
first answer is a detection. Both rules look after every round at all votes so far, at confidence
.95: with eight looks the share of false alarms is far above .05, whoever computes the integral.

The rival computes P(p > 1/2) by two integrals of p^a (1 - p)^b, as the code of adaptive consistency
does (Aggarwal et al., arXiv 2305.11860). Its powers underflow: at 700 against 600 votes it has no
number. Run: python -m benchmarks.posterior_rivals
"""

import time

import numpy as np
from scipy.integrate import quad
from scipy.special import betainc

from stability import BetaPosterior, Round

DEBATES, AGENTS, ROUNDS = 500, 5, 8


def by_quadrature(a, b):
    def likelihood(p):
        return p**a * (1 - p) ** b

    return quad(likelihood, 0.5, 1)[0] / quad(likelihood, 0, 1)[0]


def ours(codes):
    """Round of the stop and the answer of each debate, and seconds a look at one debate."""
    rule = BetaPosterior(confidence=0.95, pool="all")
    state, begun = rule.start(AGENTS), time.perf_counter()
    for answers in codes:
        state, decision = rule.step(state, Round.from_codes(answers, ("A", "B")))
    taken = time.perf_counter() - begun
    return decision.stop_rounds, decision.winner, taken / (ROUNDS * DEBATES)


def published(codes):
    stopped, answer = np.full(DEBATES, -1), np.full(DEBATES, -1)
    looks, begun = 0, time.perf_counter()
    for debate in range(DEBATES):
        first = 0
        for t in range(ROUNDS):
            first += int((codes[t, debate] == 0).sum())
            second = AGENTS * (t + 1) - first
            looks += 1
            if by_quadrature(max(first, second), min(first, second)) >= 0.95:
                stopped[debate], answer[debate] = t, int(second > first)
                break
    return stopped, answer, (time.perf_counter() - begun) / looks


def main():
    print("| method | false alarms (p = .5) | found (p = .7) | us a look |")
    print("|---|---|---|---|")
    for name, rule in (("BetaPosterior(pool='all')", ours), ("quadrature", published)):
        shares = []
        for p in (0.5, 0.7):
            rng = np.random.default_rng(1)
            codes = (rng.random((ROUNDS, DEBATES, AGENTS)) >= p).astype(np.int32)
            rule(codes)
            stopped, answer, seconds = rule(codes)
            right = answer == 0 if p > 0.5 else True
            shares.append(np.mean((stopped >= 0) & right))
        print(f"| {name} | {shares[0]:.3f} | {shares[1]:.3f} | {1e6 * seconds:.3g} |")
    try:
        rival = by_quadrature(700, 600)
    except ZeroDivisionError as error:
        rival = f"{type(error).__name__}: {error}"
    print(f"700 against 600 votes: {betainc(601, 701, 0.5):.6f}; by quadrature {rival}")


if __name__ == "__main__":
    main()
