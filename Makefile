# Everything runs in .venv, which the first command makes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint bench docs clean

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(STAMP)

demo: $(STAMP)  ## the main job on the packaged real recording
	$(BIN)/stability demo --plot out/demo.png

# The kernels and their NumPy twins run a second time as plain Python: what numba compiles must be
# what is written.
TWINS := tests/stability/log/test_votes.py tests/stability/fit tests/stability/rules

# Benchmarks are not part of the suite, and their plugin does not run beside xdist.
test: $(STAMP)  ## the default suite, on two workers
	$(BIN)/python -m pytest -q -n 2 --dist worksteal
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q $(TWINS) -k twin

lint: $(STAMP)  ## style, types, import direction
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports

bench: $(STAMP)  ## speed, beside rivals
	$(BIN)/python -m pytest benchmarks -q --benchmark-enable --benchmark-only --override-ini addopts=--import-mode=importlib

docs: $(STAMP)  ## the documentation as a site, its pictures drawn anew
	$(BIN)/python docs/pictures/make.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site

clean:
	rm -rf $(VENV) out site .numba_cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
