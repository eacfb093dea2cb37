# Thin front of the scripts and of the CMake workflow presets. `make help` lists the targets.
.DEFAULT_GOAL := help
.PHONY: help demo test package notebooks soak bench gpu-check format lint fuzz leaks clean

# .venv first: it may hold the CMake that an old distribution lacks.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
FUZZ_SECONDS ?= 60
SOAK_PROGRAMS ?= 100000
CPP_FILES = $(shell git ls-files '*.cpp' '*.h' '*.cu')

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

demo: ## install what is missing, build, simulate the MNIST network and compare it with the CPU
	scripts/install_deps.sh
	cmake --workflow --preset demo
	build/release/tilewave run
	build/release/tilewave compare
	build/release/tilewave engines

test: ## install what is missing, build, run every C++ and Python test, the README and the notebooks
	scripts/install_deps.sh --tests
	scripts/setup_python.sh python/requirements-test.txt
	cmake --workflow --preset $(if $(CI),ci,release)
	scripts/check_readme.sh
	scripts/build_package.sh $(if $(CI),ON,OFF)
	.venv/bin/python -m pytest tests/python
	.venv/bin/python scripts/run_notebooks.py

package: ## of these, what concerns the Python package: its build, its tests, the notebooks
	scripts/install_deps.sh --tests
	scripts/setup_python.sh python/requirements-test.txt
	cmake --preset release
	cmake --build --preset release --target tilewave
	scripts/build_package.sh
	.venv/bin/python -m pytest tests/python/package
	.venv/bin/python scripts/run_notebooks.py

notebooks: ## build the Python package and run python/notebooks; what they show is in build/notebooks
	scripts/install_deps.sh
	scripts/setup_python.sh python/requirements-test.txt
	scripts/build_package.sh
	.venv/bin/python scripts/run_notebooks.py

soak: ## every engine on all test images, SOAK_PROGRAMS (100,000) random programs and as many networks
	scripts/install_deps.sh --tests
	cmake --preset release
	cmake --build --preset release --target tilewave test_systemc
	build/release/tilewave engines --images 10000
	TILEWAVE_RANDOM_PROGRAMS=$(SOAK_PROGRAMS) build/release/test_systemc "[soak]"

bench: ## build and run the benchmarks
	scripts/install_deps.sh --bench
	cmake --workflow --preset bench
	bench/run.sh

gpu-check: ## on a machine with an NVIDIA GPU: build, run every GPU test and the comparison table
	scripts/install_deps.sh --tests
	scripts/gpu_check.sh

format: ## rewrite the C++ files as .clang-format says
	clang-format -i $(CPP_FILES)
	scripts/setup_python.sh python/requirements-test.txt
	.venv/bin/ruff format python tests/python tests/package bench scripts

lint: ## formatting, clang-tidy, ruff and mypy; changes nothing
	scripts/install_deps.sh --lint
	scripts/setup_python.sh python/requirements-test.txt
	.venv/bin/ruff check .
	.venv/bin/mypy
	clang-format --dry-run -Werror $(CPP_FILES)
	cmake --workflow --preset tidy

fuzz: ## run each fuzz target for FUZZ_SECONDS (60)
	scripts/install_deps.sh --fuzz
	cmake --workflow --preset fuzz
	scripts/run_fuzz.sh $(FUZZ_SECONDS)

leaks: ## 1,000 SystemC simulations in one process under the leak sanitizer
	scripts/install_deps.sh --tests
	cmake --preset asan
	cmake --build --preset asan --target test_systemc
	build/asan/test_systemc "a thousand runs*"

clean: ## remove every build folder and .venv
	rm -rf build .venv
