import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def recorded() -> Path:
    root = Path(__file__).parents[3]
    folder = Path(os.environ.get("DEBATE_DATA", root.parent / "shared")) / "debates"
    if not folder.is_dir():
        pytest.skip(f"no recorded debates in {folder}; set DEBATE_DATA to the folder above it")
    return folder
