"""One live debate, from start to stop, with scripted agents in place of a model."""

from stability import Response, debate_loop, single_debate_rule

QUESTION = "Is 221 a prime number?"


def stubborn(view):
    return Response("no", text=f"{view.item} No: 221 = 13 x 17.")


def follower(view):
    if view.round == 0:
        return "yes"
    heard = [message.label for message in view.messages]
    return max(heard, key=heard.count)


def careful(view):
    """Cannot decide at first (None: it spoke, but gave no answer), then checks what it read."""
    proofs = [message.text for message in view.messages if message.text]
    return "no" if proofs else None


def main():
    agents = {"stubborn": stubborn, "follower": follower, "careful": careful}
    debate = debate_loop(agents, single_debate_rule(len(agents)), [QUESTION], progress=print)
    decision = debate.decision
    print(f"{QUESTION} {decision.answer!r} after {debate.log.n_rounds} rounds ({decision.reason})")
    print(f"Calls that failed: {len(debate.failures)}")


if __name__ == "__main__":
    main()
