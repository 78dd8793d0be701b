# `make run` shows the product, `make check` looks at a change in two minutes, `make test` checks everything. Each sets up
# what it needs.
PYTHON ?= python3
SINCE ?= main
VENV := .venv
BIN := $(VENV)/bin
LOWEST := $(VENV)/lowest
# As many processes as there are processors and memory for; a file stays in one, for its fixtures; the longest come first.
PARALLEL := -n auto --dist loadfile --no-loadscope-reorder
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: run check test test-narrow plain times test-lowest matrix lint lock docs bench soak mutants clean

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
	$(BIN)/ruff check src tests tools benchmarks docs/conf.py docs/extensions examples
	$(BIN)/ruff format --check src tests tools benchmarks docs/conf.py docs/extensions examples
	$(BIN)/mypy
	$(BIN)/lint-imports

# Lint, types, all cheap tests, and those of the folders that have changed since main as far as two minutes have room.
check: lint
	$(BIN)/python tools/check.py $(SINCE)

test: lint
	$(BIN)/python -m pytest $(PARALLEL)

# Renews tests/seconds.json, by which `check` chooses and `test` begins with the longest files; half an hour.
times: $(VENV)/tested
	$(BIN)/python tools/times.py

# The tests that run kernels, as a processor without AVX runs them.
test-narrow: $(VENV)/tested
	TAUFORGE_VECTOR_BITS=128 $(BIN)/python -m pytest $(PARALLEL) --on-kernels

# The package in an environment without extras.
plain:
	rm -rf $(VENV)/plain && $(PYTHON) -m venv $(VENV)/plain
	$(VENV)/plain/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt .
	$(VENV)/plain/bin/python tools/plain_install.py

# The whole suite at every vector width, without kernels, shuffled, in foreign and hostile surroundings; over an hour.
# Some of it: make matrix MATRIX="width-256 clean"
matrix: $(VENV)/tested
	$(BIN)/python tools/matrix.py $(MATRIX)

$(LOWEST)/tested: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-lowest.txt -e '.[test]'
	@touch $@

# The suite with the lowest versions that pyproject.toml allows, on Python 3.11. Some of it: make test-lowest TESTS=tests/cli/test_app.py
test-lowest: $(LOWEST)/tested
	$(LOWEST)/bin/python -m pytest $(PARALLEL) $(TESTS)

# Compares with the best of the others and writes benchmarks/results; the C++ core builds once, in five minutes.
# roboticstoolbox-python and adam-robotics take part where they are installed. A short look: make bench BENCH=--quick
bench: $(VENV)/tested
	cd benchmarks && ../$(BIN)/python run.py $(BENCH)
	cd benchmarks && ../$(BIN)/python mechanisms.py $(BENCH)
	cd benchmarks && ../$(BIN)/python mechanism_rollouts.py $(BENCH)
	cd benchmarks && ../$(BIN)/python time_loop.py $(BENCH)
	cd benchmarks && ../$(BIN)/python compile_times.py $(BENCH)

# The faults that the package must survive, at full counts (an hour or so); TAUFORGE_SOAK=1 for the usual ones.
soak: $(VENV)/tested
	$(BIN)/python tools/soak.py

# Small faults put into copies of the source, and whether a test sees each of them (an hour or so); verdicts go to
# tools/mutants.json. Another choice of faults: make mutants MUTANTS="--seed 7"
mutants: $(VENV)/tested
	$(BIN)/python tools/mutants.py $(MUTANTS)

# Renews the generated tables and outputs of README and docs, then builds the site into build/docs.
docs: $(VENV)/tested
	$(BIN)/python tools/generated_docs.py
	$(BIN)/python tools/layer_picture.py
	$(BIN)/python tools/paper_verdicts.py
	$(BIN)/python tools/paper_systems.py
	$(BIN)/python tools/console_blocks.py
	$(BIN)/sphinx-build --quiet -W --keep-going -b html docs build/docs
	@echo "open build/docs/index.html"

# Renews the held versions from what the ranges of pyproject.toml resolve to today, in an environment with all extras but
# torch and CUDA, which are large and not in our tests. PYTHON: the lowest that pyproject.toml allows; a later one takes
# versions that the lowest cannot install.
lock:
	rm -rf $(VENV)/lock && $(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/python -m pip install --quiet -e '.[test]'
	$(VENV)/lock/bin/python -m pip freeze --all --exclude pip --exclude-editable > constraints.txt

clean:
	rm -rf $(VENV) build src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
