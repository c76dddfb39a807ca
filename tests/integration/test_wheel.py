"""The wheel: what lies in it, and whether it works where the sources are not."""

import subprocess
import sys
import zipfile

import pytest

pytestmark = pytest.mark.integration
PACKAGES = {"stability", "theory", "sims"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory, root):
    folder = tmp_path_factory.mktemp("wheel")
    code = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(folder)], cwd=root, check=True)
    (path,) = folder.glob("*.whl")
    return path


def test_three_packages_with_types_and_data(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES
    assert len(tops) == 4
    assert {f"{package}/py.typed" for package in PACKAGES} <= names
    data = "stability/datasets/data"
    assert {f"{data}/smollm2-local.csv.gz", f"{data}/count_tables.json"} <= names
    assert not [name for name in names if name.endswith((".pyc", ".nbi", ".nbc"))]


def test_commands_and_metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (info,) = {name.split("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        entries = archive.read(f"{info}/entry_points.txt").decode()
        metadata = archive.read(f"{info}/METADATA").decode()
        assert f"{info}/licenses/LICENSE" in archive.namelist()
    assert {f"{name} = {name}.__main__:main" for name in PACKAGES} <= set(entries.splitlines())
    assert "\nName: debate-stability\n" in metadata
    assert "\nRequires-Python: >=3.11\n" in metadata


def test_a_packaged_recording_opens_from_the_wheel(wheel, tmp_path, monkeypatch):
    # Unpacked, as an installer does it: numba keeps no cache of functions inside an archive.
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    monkeypatch.setenv("PYTHONPATH", str(site))
    code = "import stability, sims; print(stability.__file__, stability.load_smollm_debates())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    place = site / "stability" / "__init__.py"
    assert done.stdout == f"{place} DebateLog(4 rounds, 72 items, 5 agents, graded)\n"
