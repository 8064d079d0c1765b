# Each target sets up what it needs in .venv and is quick the second time.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip --disable-pip-version-check
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))

# The first Python found that is new enough; name another with PYTHON=/path/to/python3.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$python && break; done)
# What to hand on: make test ARGS="tests/language -k chinese", make demo ARGS="--help".
ARGS ?=
# make install QUIET= shows what pip is doing.
QUIET ?= -q

.DEFAULT_GOAL := help
.PHONY: help install demo test test-all lint format bench pins clean

help: ## list what make can do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

demo: $(READY) ## watch a year of notes become a linked, searchable collection
	@echo "==> amem demo"
	@$(BIN)/amem demo $(ARGS)

test: $(READY) ## run the tests that a change is likely to break (six minutes on two cores)
	@echo "==> tests; make test-all runs the thorough ones too"
	@$(BIN)/python -m pytest -n auto -m "not thorough" $(ARGS)

# Random histories and kills are tried seven times as often as in CI, which has twenty-five minutes.
test-all: export AMEM_ROUNDS ?= 7
test-all: $(READY) ## run every test: kills, terminals, large collections, pictures as well
	@echo "==> all tests"
	@$(BIN)/python -m pytest -n auto --hypothesis-profile=thorough $(ARGS)

lint: $(READY) ## check style, types and the direction of imports
	@echo "==> ruff"
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@echo "==> mypy"
	@$(BIN)/mypy
	@echo "==> import-linter"
	@$(BIN)/lint-imports

format: $(READY) ## put the code into shape
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

bench: $(READY) ## print the benchmark tables (minutes; needs a quiet machine)
	@set -e; for script in benchmarks/[!_]*.py; do echo "==> $$script"; $(BIN)/python "$$script" $(ARGS); done

install: $(READY) ## set up .venv and nothing else

pins: ## write constraints.txt anew from the newest versions that pyproject.toml allows
	@$(PYTHON) -m venv --clear build/pins
	@build/pins/bin/python -m pip --disable-pip-version-check install $(QUIET) -e ".[all,dev]" "torch==$(TORCH)"
	@sed -n '/^#/p' constraints.txt > build/constraints.txt
	@build/pins/bin/python -m pip freeze --all --exclude pip --exclude-editable | sed 's/+cpu$$//' | LC_ALL=C sort -f >> build/constraints.txt
	@mv build/constraints.txt constraints.txt

clean: ## remove .venv, caches and builds; never a note
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find amem tui tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

# The torch that a fresh constraints.txt is made with; see README for its CPU build.
TORCH ?= $(shell sed -n 's/^torch==//p' constraints.txt)

$(READY): pyproject.toml constraints.txt | $(BIN)/python
	@echo "==> installing the pinned packages (minutes the first time)"
	@$(PIP) install $(QUIET) -c constraints.txt -e ".[dev,offline]"
	@touch $@

$(BIN)/python:
	@test -n "$(PYTHON)" && $(PYTHON) -c '$(NEW_ENOUGH)' 2>/dev/null || \
		{ echo "amem needs Python 3.11 or newer; name yours: make PYTHON=/path/to/python3 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) lacks its venv module; on Debian and Ubuntu: sudo apt install python3-venv" >&2; exit 1; }
	@echo "==> making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV)
