# Included by chapters/NN_topic/Makefile: `make` builds and runs that lesson, `make test` its tests.
chapter := $(notdir $(CURDIR))
.PHONY: run test
run:
	@$(MAKE) --no-print-directory -C ../.. $(chapter)
test:
	@$(MAKE) --no-print-directory -C ../.. test-$(chapter)
