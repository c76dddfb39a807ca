"""Assumptions that several theorems share, as predicates on a model."""

import numpy as np

from theory.model.concepts import AgentType, DebateModel


def common_kernel(model: DebateModel) -> bool:
    """Whether all types answer alike under each concept."""
    return all(np.array_equal(one.kernel, model.types[0].kernel) for one in model.types)


def plain(model: DebateModel) -> bool:
    """Whether agents read all answers as they were given, as evidence of full weight."""
    return model.view is None and model.rewrite is None and model.tempering == 1.0


def truth_gives_correct(model: DebateModel) -> bool:
    """Whether R(theta*, y) >= R(theta, y) for all theta, in every type."""
    y = model.correct
    return all(bool((one.kernel[:, y] <= one.kernel[model.truth, y]).all()) for one in model.types)


def likeliest_under_truth(model: DebateModel) -> bool:
    """Whether y is the likeliest answer under theta*, in every type: (x, y) ~ D(theta*)."""
    return all(
        bool((one.kernel[model.truth] <= one.kernel[model.truth, model.correct]).all())
        for one in model.types
    )


def paper_assumptions(model: DebateModel) -> dict[str, bool]:
    """Assumptions 4.1 to 4.3 of Hu et al. (arXiv 2510.12697), by name."""
    truth, y = model.truth, model.correct
    others = [theta for theta in range(model.n_concepts) if theta != truth]
    return {
        "two concepts or more": bool(others),
        "(4.1) y is likeliest under theta*": all(
            bool((one.kernel[others, y] < one.kernel[truth, y]).all()) for one in model.types
        ),
        "(4.2) the task is likeliest under theta*": all(
            bool((one.likelihood[others] <= one.likelihood[truth]).all()) for one in model.types
        ),
        "(4.3) positive priors": all(bool((one.prior > 0.0).all()) for one in model.types),
    }


def rival(model: DebateModel, kind: AgentType) -> int:
    """Return theta', the likeliest wrong concept of a type given the task."""
    weight = kind.weight.copy()
    weight[model.truth] = -1.0
    return int(weight.argmax())


def misled(model: DebateModel, kind: AgentType) -> bool:
    """Whether a type has a misconception: w(theta') > w(theta*) for some theta'."""
    return kind.n_concepts > 1 and kind.misconception(model.truth, rival(model, kind)) > 0.0


def named_answer(model: DebateModel, concept: int) -> int:
    """Return the answer that a concept favours: the likeliest in the first type's kernel."""
    return int(model.types[0].kernel[concept].argmax())
