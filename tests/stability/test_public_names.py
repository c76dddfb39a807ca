"""The public names are pinned: one that comes or goes is a decision, made in the list."""

import stability


def test_public_names_are_the_pinned_ones(root):
    pinned = (root / "tests" / "stability" / "public_names.txt").read_text("utf-8").split()
    assert sorted(stability.__all__) == sorted(pinned)
    assert len(set(stability.__all__)) == len(stability.__all__)


def test_every_public_name_exists_and_is_documented_on_the_api_page(root):
    page = (root / "docs" / "api.md").read_text("utf-8")
    for name in stability.__all__:
        assert hasattr(stability, name)
        assert f"`{name}`" in page or f"`{name}(" in page, f"{name} is not in docs/api.md"


def test_errors_can_be_caught_as_value_errors():
    errors = [name for name in stability.__all__ if name.endswith("Error")]
    assert len(errors) == 4
    assert all(issubclass(getattr(stability, name), ValueError) for name in errors)
