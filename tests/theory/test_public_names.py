"""The public names are pinned: one that comes or goes is a decision, made in the list."""

import theory


def test_public_names_are_the_pinned_ones(root):
    pinned = (root / "tests" / "theory" / "public_names.txt").read_text("utf-8").split()
    assert sorted(theory.__all__) == sorted(pinned)
    assert all(hasattr(theory, name) for name in theory.__all__)


def test_ties_have_the_values_of_stability():
    import stability.log.ties

    ours = {one.name: one.value for one in theory.Ties}
    assert ours == {one.name: one.value for one in stability.log.ties.Ties}
