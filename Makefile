# The commands for a fresh Debian 12 or 13 with the Swift toolchain:
#   make demo       shows a regression being found, and where the report is
#   make test       runs every test
#   make package    makes what users install
# make demo and make test use one build: release, testable, without debug information, which would take
# a sixth of the time. Other Swift flags would mean a second build; for lldb, give SWIFT_FLAGS your own.

.DEFAULT_GOAL := help
.PHONY: help setup build build-tests libretake demo check test unit-test python-test docs-test recordings-test example-test accept-api \
  traits-test bench faults fuzz docs wheel package self-contained \
  package-test release lint format clean
.NOTPARALLEL:

SWIFT_FLAGS := -c release -debug-info-format none -Xswiftc -enable-testing
# SwiftPM before 6.4 passes the package's traits to the compiler in the order of a Set. With another hash seed the order
# is another one, and everything is compiled again.
SWIFT_BUILD := SWIFT_DETERMINISTIC_HASHING=1 swift build
RETAKE := .build/release/retake
TEST_PROGRAM = "$$(swift build --show-bin-path $(SWIFT_FLAGS))/retakePackageTests.xctest" --testing-library swift-testing
EVENTS := .build/test-events
# The library that Scripts/setup --with-judges fetched, unless another one is named.
ONNX = $(if $(RETAKE_ONNXRUNTIME),,$(patsubst %,RETAKE_ONNXRUNTIME=%, \
  $(lastword $(wildcard $(CURDIR)/.build/judges/packages/onnxruntime/capi/libonnxruntime.so.*))))
SWIFT_SOURCES := $(wildcard Package.swift Sources Tests Examples Scripts)

help: ## This list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-24s %s\n", $$1, $$2 }'

setup: ## Install the system packages that are missing
	@Scripts/setup $(if $(CI),--with-examples --with-judges --with-browser --with-models)

build: ## Build the retake command in release
	$(SWIFT_BUILD) $(SWIFT_FLAGS) --product retake

build-tests: ## Build the command and the tests, with the same flags
	$(SWIFT_BUILD) --build-tests $(SWIFT_FLAGS)

# An archive that is there would keep the objects of files that are gone.
libretake: ## Build the C library, with its header, in .build/libretake
	@rm -f .build/release/libretake-c.a
	$(SWIFT_BUILD) $(SWIFT_FLAGS) --product retake-c
	@Scripts/libretake

demo: setup build ## Replay the recordings, plant a regression, show the report
	@Scripts/demo $(RETAKE)

check: ## The minute between two edits: the style of what changed, the tidy tests, the tests of its modules
	@Scripts/changed swift | xargs -r swift format lint --strict --parallel
	@$(MAKE) --no-print-directory unit-test FILTER="$$(Scripts/changed tests)" SKIP=FaultSuites

test: setup lint build-tests libretake docs-test unit-test python-test recordings-test example-test ## Everything that CI checks
	@cat .build/skipped .build/skipped-python .build/skipped-examples

# Not by 'swift test': it passes the output on in pieces, and loses a piece that begins or ends within a character.
# FILTER=RetakeGraphTests: only the tests whose names have this pattern; SKIP=NAME: the others.
unit-test: build-tests ## The tests of Tests/ alone, or with FILTER=NAME some of them
	@rm -f $(EVENTS)
	$(ONNX) RETAKE_SKIPPED=.build/skipped RETAKE_EVENTS=$(EVENTS) Scripts/run-tests $(TEST_PROGRAM) \
	  --event-stream-output-path $(EVENTS) --event-stream-version 0 \
	  $(if $(FILTER),--filter '$(FILTER)') $(if $(SKIP),--skip '$(SKIP)')

python-test: ## The tests of Python/
	@RETAKE_SKIPPED=.build/skipped-python Scripts/test-python

docs-test: build-tests ## Write the API's documentation; a warning is an error
	@Scripts/docs

recordings-test: build-tests ## Replay Recordings/ and compare with Goldens/
	@if [ -f retake.yml ]; then echo $(RETAKE) test; $(RETAKE) test; fi

example-test: build-tests ## Build and run the Examples, as a user would
	@RETAKE_SKIPPED=.build/skipped-examples Scripts/test-example

traits-test: ## Build a package that depends on Retake without its annexes (minutes)
	@Scripts/test-traits

accept-api: build-tests ## Write docs/api again, after the public API changed on purpose
	RETAKE_ACCEPT_API=1 swift test --skip-build $(SWIFT_FLAGS) --filter PublicAPITests

bench: ## Measure the engine, and hold the ratios against Tests/Benchmarks/thresholds.json
	$(SWIFT_BUILD) $(SWIFT_FLAGS) --product retake-benchmarks
	.build/release/retake-benchmarks --thresholds Tests/Benchmarks/thresholds.json

# RETAKE_FAULT_CASES=20 RETAKE_KILLS=100 make faults: fewer cases.
faults: build-tests libretake ## Plant every fault under recorders and sessions, many times, and print the figures (hours)
	RETAKE_FAULTS=long RETAKE_KILLS=$${RETAKE_KILLS:-1000} RETAKE_UNPLUGS=$${RETAKE_UNPLUGS:-100} \
	  RETAKE_RECOVERY_KILLS=$${RETAKE_RECOVERY_KILLS:-50} RETAKE_FLIPS=$${RETAKE_FLIPS:-1000} \
	  RETAKE_CUTS=$${RETAKE_CUTS:-500} RETAKE_SHADOW_RUNS=$${RETAKE_SHADOW_RUNS:-200} \
	  RETAKE_SWEEPS=$${RETAKE_SWEEPS:-500} \
	  $(TEST_PROGRAM) --no-parallel \
	  --filter 'FaultTests|SlowDiskTests|KillTests|LiveSourceTests|ShadowTests|SweepDocumentTests' 2>&1 | tee .build/faults.log | \
	  grep -E '^faults|kill|unplugged|flips|cuts|shadow check|✘|Test run'
	@! grep -q '✘' .build/faults.log

# RETAKE_FUZZ_SECONDS=3600 make fuzz: an hour for each. TARGETS="gpmf mcap": only these.
fuzz: ## Give the parsers made inputs under libFuzzer, a minute for each target (half an hour, and a build)
	@Scripts/fuzz $(TARGETS)

docs: ## Write the API's documentation as a site into .build/docs
	$(SWIFT_BUILD) $(SWIFT_FLAGS)
	@Scripts/docs

wheel: ## Write the Python package as a wheel into .build/wheels
	@Scripts/wheel

package: ## Make a tarball and a .deb in .build/packages
	@Scripts/setup --package
	@Scripts/package

self-contained: ## The same, and a tarball with its own FFmpeg for any Linux
	@Scripts/setup --package
	@Scripts/package --self-contained

package-test: package ## Install the .deb in an empty Debian and run it there (root, a Debian mirror)
	@Scripts/test-package

release: ## Make all that a release publishes in .build/releases/VERSION
	@Scripts/release --check
	@Scripts/setup --package
	@Scripts/release

lint: ## Check the style
	swift format lint --strict --parallel --recursive $(SWIFT_SOURCES)

format: ## Put the style right
	swift format --in-place --parallel --recursive $(SWIFT_SOURCES)

clean: ## Remove what was built
	rm -rf .build $(wildcard Examples/*/.build)
