# Included by chapters/NN_topic/Makefile: `make` builds and runs that lesson, `make test` its tests,
# `make plain` its plain.cu.
chapter := $(notdir $(CURDIR))
.PHONY: run test plain
run:
	@$(MAKE) --no-print-directory -C ../.. $(chapter)
test:
	@$(MAKE) --no-print-directory -C ../.. test-$(chapter)
plain:
	@$(MAKE) --no-print-directory -C ../.. plain-$(chapter)
