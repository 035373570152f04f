# Everything a newcomer needs is here: `make demo`, `make test`, `make install`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: install demo test test-slow lint types layers check lock lowest clean

install: $(STAMP)

# The lock names exact versions; pip checks them against pyproject's bounds.
$(STAMP): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Retain needs Python 3.11 or newer; set PYTHON=…")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: install
	$(BIN)/retain demo

test: install
	$(BIN)/python -m pytest

test-slow: install
	RETAIN_TEST_ROUNDS=full $(BIN)/python -m pytest tests/journeys

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

layers: install
	$(BIN)/lint-imports

check: test lint types layers

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache .hypothesis
