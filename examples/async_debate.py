"""Three questions at a time with asynchronous agents; one of them hangs and is left out."""

import asyncio

from stability import Unanimity, async_debate_loop

QUESTIONS = {"2 + 2": "4", "3 * 3": "9", "7 - 5": "2"}


async def good(view):
    await asyncio.sleep(0)  # here a model would be asked
    return QUESTIONS[view.item]


async def swayed(view):
    return "4" if view.round == 0 else view.messages[0].label


async def hangs(view):
    if view.item == "7 - 5":
        await asyncio.sleep(60)
    return QUESTIONS[view.item]


async def main():
    debate = await async_debate_loop(
        [good, swayed, hangs], Unanimity(), QUESTIONS, max_rounds=4, timeout=0.2, workers=9
    )
    answers = dict(zip(QUESTIONS, debate.decision.answers, strict=True))
    print(answers, "rounds:", debate.log.n_rounds)
    for failure in debate.failures:
        print(f"item {failure.item}, t = {failure.round}, agent {failure.agent}: {failure.kind}")


if __name__ == "__main__":
    asyncio.run(main())
