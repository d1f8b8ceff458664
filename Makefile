PYTHON ?= python3
TEXT ?= The quick brown fox jumps over the lazy dog.
BIN := .venv/bin
SOURCES := $(shell find csrc src -type f ! -name '*.so' ! -name '*.pyc') CMakeLists.txt pyproject.toml
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check

# $(call venv,LAST,WORDS): .venv, of Python 3.11 to 3.LAST.
define venv
@python=$(BIN)/python; test -x $$python || python="$(PYTHON)"; \
  $$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, $(1)))' || \
  { echo "Python 3.11 $(2) is needed, and $$python is no such; make clean, then give one:" \
    "make PYTHON=python3.13 and what you want" >&2; exit 2; }
test -x $(BIN)/python || $(PYTHON) -m venv .venv
endef

.PHONY: say test lint bench macos-wheel check-macos clean

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

# Cross-built and inspected on Linux, where nothing in it can run. Needs apt's llvm-19. The C tests
# are compiled too: a warning would keep check-macos from running them.
macos-wheel: .venv/macos-wheel
	rm -rf build/macos-wheel build/macos-tests build/cp311-abi3-macosx_14_0_arm64
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S . -B build/macos-tests -G Ninja \
	  -DCMAKE_TOOLCHAIN_FILE=$(CURDIR)/cmake/macos-arm64-zig.cmake >/dev/null
	$(BIN)/cmake --build build/macos-tests
	PATH="$(CURDIR)/$(BIN):$$PATH" _PYTHON_HOST_PLATFORM=macosx-14.0-arm64 \
	  CMAKE_TOOLCHAIN_FILE=$(CURDIR)/cmake/macos-arm64-zig.cmake CMAKE_EXPORT_COMPILE_COMMANDS=ON \
	  $(BIN)/python -m build --wheel --no-isolation -Cinstall.strip=false --outdir build/macos-wheel
	$(BIN)/python tools/macos_wheel/check.py build/macos-wheel/*.whl
	$(BIN)/python tools/macos_wheel/faults.py build/macos-wheel/*.whl build/cp311-abi3-macosx_14_0_arm64

# What only a Mac can settle; see tools/check_macos.
check-macos:
	@test "$$(uname -sm)" = "Darwin arm64" || \
	  { echo "make check-macos needs a Mac with Apple silicon; this is $$(uname -sm)" >&2; exit 2; }
	$(MAKE) .venv/test
	$(INSTALL) "cmake<4.2"
	$(BIN)/python tools/check_macos/run.py

.venv/run: $(SOURCES)
	$(call venv,99,or newer)
	$(INSTALL) .
	touch $@

# coremltools has no wheel for Python 3.14. basic-pitch is wanted for its model files only, not for
# what it depends on.
.venv/test .venv/lint .venv/bench: $(SOURCES)
	$(call venv,13,to 3.13)
	$(INSTALL) ".[test,onnx,$(@F)]"
	$(INSTALL) --no-deps basic-pitch==0.4.0
	touch $@ .venv/run

.venv/macos-wheel: tools/macos_wheel/build.txt tools/macos_wheel/inspect.txt
	$(call venv,99,or newer)
	$(INSTALL) $(^:%=-r %)
	touch $@

clean:
	rm -rf .venv build dist
