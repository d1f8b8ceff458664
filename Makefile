PYTHON ?= python3
TEXT ?= The quick brown fox jumps over the lazy dog.
BIN := .venv/bin
SOURCES := $(shell find csrc src -type f ! -name '*.so' ! -name '*.pyc') CMakeLists.txt pyproject.toml
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check

.PHONY: say test lint bench clean

say: .venv/run
	$(BIN)/twinvox say "$(TEXT)" -o hello.wav

test: .venv/test
	$(BIN)/python -m pytest $(ARGS)

lint: .venv/lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PATH="$(BIN):$$PATH" cython-lint src/twinvox/_native

bench: .venv/bench
	$(BIN)/python -m pytest benchmarks --benchmark-only --benchmark-quiet --benchmark-autosave $(ARGS)

.venv/run: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(INSTALL) .
	touch $@

# basic-pitch is wanted for its model files only, not for what it depends on.
.venv/test .venv/lint .venv/bench: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(INSTALL) ".[test,$(@F)]"
	$(INSTALL) --no-deps basic-pitch==0.4.0
	touch $@ .venv/run

clean:
	rm -rf .venv build dist
