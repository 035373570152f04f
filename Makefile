# Everything a newcomer needs is here: `make demo`, `make test`, `make install`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: install demo test judge judge-anew repair journeys surreal surreal-short e2e e2e-short lint types layers check lock lowest clean

install: $(STAMP)

# The lock names exact versions; pip checks them against pyproject's bounds.
$(STAMP): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Retain needs Python 3.11 or newer; set PYTHON=…")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python .ci/one_install.py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: install
	$(BIN)/retain demo

test: install
	$(BIN)/python -m pytest -n auto

# Trains the judge and puts it into the package: minutes on a GPU, one to two hours on two cores. What it needs has an
# environment of its own. An interrupted run goes on where it was; `make judge-anew` forgets it first.
TRAINING = training/.venv
$(TRAINING)/.installed: training/requirements.lock
	$(PYTHON) -m venv $(TRAINING)
	$(TRAINING)/bin/python -m pip install --quiet --disable-pip-version-check -r training/requirements.lock
	@touch $@

judge: $(TRAINING)/.installed
	$(TRAINING)/bin/python training/judge.py --held

judge-anew:
	rm -rf training/.work
	$(MAKE) judge

# Crashes, crowds and cuts at length; `make test` has a short form of each.
journeys: install
	RETAIN_TEST_ROUNDS=long $(BIN)/python -m pytest -n auto tests/journeys tests/stores/test_stores_agree.py \
	  tests/stores/test_stores_agree_on_code.py

# What comes back of 500 damaged stores; `make test` has 40 of them.
repair: install
	RETAIN_TEST_ROUNDS=long $(BIN)/python -m pytest -n auto tests/stores/test_sqlite_damage.py

# The tests of the engine in memory, those of the five sets each on a database of its own behind a socket, and the long
# journeys.
ON_SURREALDB = RETAIN_TEST_STORE=surrealdb $(BIN)/python -m pytest -n auto
SETS = default* scoped_* graph_* capture_tools* bank_* audrey_* properties resources errors code_tools code_server \
  rpc* disputes_shown mcp_server
surreal: install
	RETAIN_TEST_ROUNDS=long $(BIN)/python -m pytest -n auto tests/contracts -k surreal
	$(ON_SURREALDB) tests/engine $(wildcard $(SETS:%=tests/surfaces/test_%.py))

surreal-short: install
	$(ON_SURREALDB) $(patsubst %,tests/surfaces/test_%.py,scoped_store graph_lists capture_tools bank_list audrey_resolve)

# The client in its cache folder; without it the tests of the provider that asks it are skipped, and say so.
WITH_CLIENT = RETAIN_TEST_CLAUDE=$$(cd tests && ../$(BIN)/python -c 'from e2e.client import installed; print(installed())' || true)

# With the real Claude Code client, which npm puts into a cache folder, and a scripted model.
e2e: install
	$(BIN)/python -m pytest tests/e2e -m e2e -rs -n auto
	$(WITH_CLIENT) $(BIN)/python -m pytest tests/llm -k claude -rs

e2e-short: install
	$(BIN)/python -m pytest tests/e2e -m 'e2e and not slow' -rs -n auto
	$(WITH_CLIENT) $(BIN)/python -m pytest tests/llm -k claude -rs

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

layers: install
	$(BIN)/lint-imports

check: test lint types layers

lock:
	rm -rf .lock && $(PYTHON) -m venv .lock
	$(PYTHON) .ci/bounds.py > .lock/bounds.txt
	.lock/bin/python -m pip install --quiet --disable-pip-version-check -r .lock/bounds.txt
	echo '# Exact versions for development, tests and the demo; `make lock` writes this file from pyproject.toml.' > requirements.lock
	.lock/bin/python -m pip freeze --disable-pip-version-check >> requirements.lock
	rm -rf .lock

# The suite with the oldest versions that pyproject allows.
lowest:
	rm -rf .lowest && $(PYTHON) -m venv .lowest
	$(PYTHON) .ci/bounds.py --lowest > .lowest/bounds.txt
	.lowest/bin/python -m pip install --quiet --disable-pip-version-check -r .lowest/bounds.txt
	.lowest/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	.lowest/bin/python -m pytest
	rm -rf .lowest

clean:
	rm -rf $(VENV) .lock .lowest .mypy_cache .ruff_cache .import_linter_cache .hypothesis
