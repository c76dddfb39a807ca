"""The public names are pinned: one that comes or goes is a decision, made in the list."""

import theory


def test_public_names_are_the_pinned_ones(root):
    pinned = (root / "tests" / "theory" / "public_names.txt").read_text("utf-8").split()
    assert sorted(theory.__all__) == sorted(pinned)
    assert all(hasattr(theory, name) for name in theory.__all__)


def test_every_public_name_is_on_the_api_page(root):
    page = (root / "docs" / "api.md").read_text("utf-8")
    for name in theory.__all__:
        assert f"`{name}`" in page or f"`{name}(" in page, f"{name} is not in docs/api.md"


def test_pages_of_theorems_hold_their_statements(root):
    """The page of a theorem and its module say the same."""
    for name, one in theory.THEOREMS.items():
        page = root / "docs" / "theory" / f"{name.lower().replace('.', '-')}.md"
        text = " ".join(page.read_text("utf-8").replace("\n> ", " ").split())
        for said in (one.printed, one.repaired, one.proof, one.title):
            assert " ".join(said.split()) in text, (name, said)


def test_ties_have_the_values_of_stability():
    import stability.log.ties

    ours = {one.name: one.value for one in theory.Ties}
    assert ours == {one.name: one.value for one in stability.log.ties.Ties}
