# Two commands: `make run` shows the product, `make test` checks it. Both set up everything they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: run test lint lock docs bench soak clean

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) -e '.[plots]'
	@touch $@

$(VENV)/tested: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) -e '.[test]'
	@touch $@ $(VENV)/installed

run: $(VENV)/installed
	$(BIN)/tauforge reproduce --out reports

lint: $(VENV)/tested
	$(BIN)/ruff check src tests tools benchmarks
	$(BIN)/ruff format --check src tests tools benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/python -m pytest -n 2

# Compares with the best of the others and writes benchmarks/results; the C++ core builds once, in five minutes.
# roboticstoolbox-python and adam-robotics take part where they are installed. A short look: make bench BENCH=--quick
bench: $(VENV)/tested
	-@$(BIN)/python -c 'import matplotlib' 2>/dev/null || $(INSTALL) matplotlib
	cd benchmarks && ../$(BIN)/python run.py $(BENCH)

# The faults that the package must survive, at full counts (an hour or so); TAUFORGE_SOAK=1 for the usual ones.
soak: $(VENV)/tested
	$(BIN)/python tools/soak.py

# Rewrites the generated tables of the README and docs/complexity.md.
docs: $(VENV)/installed
	$(BIN)/python tools/generated_docs.py
	$(BIN)/python tools/console_blocks.py

# Renews the held versions from what the ranges of pyproject.toml resolve to today.
lock:
	rm -rf $(VENV)/lock && $(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/python -m pip install --quiet -e '.[test]'
	$(VENV)/lock/bin/python -m pip freeze --exclude-editable > constraints.txt

clean:
	rm -rf $(VENV) build src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
