"""Models: what is refused, and JSON there and back."""

import json

import numpy as np
import pytest

from theory import (
    AgentType,
    DebateModel,
    DiversityPruning,
    QualityPruning,
    Refutation,
    ablation,
    random_model,
)

KERNEL = [[0.8, 0.2], [0.3, 0.7]]


def kind(**changes):
    return AgentType(**{"prior": [0.5, 0.5], "likelihood": [1, 1], "kernel": KERNEL} | changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"prior": [0.5, 0.6]}, "`prior` must sum to 1, got 1.1"),
        ({"prior": [0.5, -0.5]}, r"prior\[1\]=-0.5"),
        ({"prior": [np.nan, 1]}, "must be finite"),
        ({"prior": [1.0]}, "got 1, 2 and 2"),
        ({"prior": "even"}, "`prior` must hold numbers"),
        ({"likelihood": [0, 0]}, "leave a concept"),
        ({"kernel": [[0.8, 0.3], [0.3, 0.7]]}, "`kernel` row 0 must sum to 1"),
        ({"kernel": [0.8, 0.2]}, "2 dimensions"),
        ({"kernel": []}, "not be empty"),
        ({"smoothing": 2.0}, "`smoothing` must lie in"),
        ({"smoothing": 1.0}, "nothing of the kernel is left"),
        ({"smoothing": True}, "`smoothing` must be a number"),
    ],
)
def test_types_refuse(changes, words):
    with pytest.raises(ValueError, match=words):
        kind(**changes)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"types": ()}, "at least one"),
        ({"types": ("judge",)}, "must hold AgentTypes"),
        ({"sizes": (0,)}, r"`sizes\[0\]` must be >= 1"),
        ({"sizes": (1, 2)}, "must hold 1 numbers"),
        ({"truth": 2}, "`truth` must be >= 0 and <= 1"),
        ({"correct": -1}, "`correct`"),
        ({"tempering": 0.0}, "`tempering` must lie in"),
        ({"tempering": np.inf}, "`tempering` must lie in"),
        ({"view": "prune"}, "must be a pruning"),
        ({"view": DiversityPruning(9)}, "must be <= 5"),
        ({"view": (QualityPruning(2), DiversityPruning(3))}, r"view\[1\] has k=3"),
        ({"view": QualityPruning(2, evaluator=1)}, "`evaluator`"),
        ({"rewrite": [[1, 0], [0, 1]]}, "must be a Refutation"),
        ({"rewrite": Refutation(np.eye(3))}, r"shape \(2, 2\)"),
        (
            {"rewrite": Refutation(np.array([np.eye(2)])), "view": QualityPruning(2)},
            "do not tell who gave an answer",
        ),
    ],
)
def test_models_refuse(arguments, words):
    with pytest.raises(ValueError, match=words):
        DebateModel(**{"types": (kind(),), "sizes": (5,)} | arguments)
    other = AgentType([1.0], [1], [[0.5, 0.5]])
    with pytest.raises(ValueError, match="same concepts"):
        DebateModel((kind(), other), (1, 1))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: DiversityPruning(0), "`k` must be >= 1"),
        (lambda: DiversityPruning(2, ties="previous"), "`ties` must be one of share"),
        (lambda: DiversityPruning(2, divergence="tv"), "`divergence`"),
        (lambda: QualityPruning(2, evaluator="judge"), "`evaluator`"),
        (lambda: Refutation([[0.5, 0.6], [0, 1]]), "`matrix` row 0 must sum to 1"),
        (lambda: Refutation([[1.0, 0.0]]), "square"),
        (lambda: random_model(np.random.default_rng(0), n=0), "`n` must be >= 1"),
        (lambda: random_model(np.random.default_rng(0), n=(5, 2)), "low <= high"),
    ],
)
def test_parts_refuse(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_json_there_and_back():
    for seed in range(6):
        model = random_model(np.random.default_rng(seed), n=(2, 6))
        for changes in (
            {},
            {"view": DiversityPruning(1, ties="minority", divergence="sqrt-js"), "tempering": 0.5},
            {"view": (QualityPruning(2, evaluator=0), DiversityPruning(1))},
            {"rewrite": Refutation(np.eye(model.n_answers))},
        ):
            one = model.with_(**changes)
            again = DebateModel.from_json(one.to_json())
            assert again == one
            assert hash(again) == hash(one)
    short = {"types": [kind().to_dict()], "sizes": [3]}
    assert DebateModel.from_dict(short) == DebateModel((kind(),), (3,))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "`model` must have the fields"),
        ({"types": []}, r"missing \['sizes'\]"),
        ({"types": {}, "sizes": []}, "must be lists"),
        ({"types": [{}], "sizes": [1]}, "`type` must have the fields"),
        ({"types": [], "sizes": [], "agents": 3}, r"unknown \['agents'\]"),
        ({"view": {"kind": "Best", "k": 1}}, "`kind` of a view"),
        ({"view": {"kind": "QualityPruning"}}, r"missing \['k'\]"),
        ({"rewrite": {"rows": []}}, "`rewrite` must have the fields"),
    ],
)
def test_damaged_json_is_refused(data, words):
    if isinstance(data, dict) and ("view" in data or "rewrite" in data):
        data = {"types": [kind().to_dict()], "sizes": [3]} | data
    with pytest.raises(ValueError, match=words):
        DebateModel.from_json(json.dumps(data))


def test_text_that_is_no_json_is_refused():
    with pytest.raises(ValueError, match="not JSON"):
        DebateModel.from_json("{")


def test_named_models():
    model = DebateModel.shared_misconception(7, 4, weight=0.95, misled=0.49, right=0.8, wrong=0.3)
    assert model.sizes == (3, 4)
    assert model.types[1].misconception(0, 1) == pytest.approx(np.log(0.51 / 0.49))
    assert DebateModel.shared_misconception(7, 0).sizes == (7,)
    assert DebateModel.shared_misconception(7, 7).sizes == (7,)
    assert DebateModel.diverse(7, 3).sizes == (3, 2, 2)
    assert DebateModel.diverse(2, 3).sizes == (1, 1)
    assert DebateModel.echo_chamber(4, 3).first_law == pytest.approx([1 / 3] * 3)
    with pytest.raises(ValueError, match="`m` must be >= 0 and <= 7"):
        DebateModel.shared_misconception(7, 8)
    with pytest.raises(ValueError, match="`weight`"):
        DebateModel.binary(3, weight=1.2)


def test_the_ablation_has_all_eight_debates():
    model = DebateModel.binary(7, 0.6)
    found = ablation(model, k=3, mend=0.2)
    assert len(found) == 8
    assert found["none"] == model
    both = found["quality + diversity + refutation"]
    assert both.view == (QualityPruning(5), DiversityPruning(3))
    assert both.rewrite == Refutation.binary(0.2)
    own = model.with_(view=DiversityPruning(2, ties="first"), rewrite=Refutation.binary(0.5))
    assert ablation(own)["diversity"].view == (DiversityPruning(2, ties="first"),)
    assert ablation(own)["refutation"].rewrite == own.rewrite
    assert ablation(own)["none"].view is None
