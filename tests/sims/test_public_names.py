"""The public names are pinned: one that comes or goes is a decision, made in the list."""

import sims


def test_public_names_are_the_pinned_ones(root):
    pinned = (root / "tests" / "sims" / "public_names.txt").read_text("utf-8").split()
    assert sorted(sims.__all__) == sorted(pinned)
    assert all(hasattr(sims, name) for name in sims.__all__)


def test_every_public_name_is_on_the_api_page(root):
    page = (root / "docs" / "api.md").read_text("utf-8")
    for name in sims.__all__:
        assert f"`{name}`" in page or f"`{name}(" in page, f"{name} is not in docs/api.md"
