# A thin front. Everything is done by CMake (CMakePresets.json) and common/scripts.
#   make            what there is
#   make tour       set up, build and run every lesson
#   make 02         one lesson
SHELL := /bin/bash
scripts := common/scripts
export ARGS FILE MACHINE TOLERANCE

chapters := $(notdir $(patsubst %/,%,$(dir $(sort $(wildcard chapters/[0-9][0-9]_*/main.cu)))))
number = $(firstword $(subst _, ,$(1)))
digits := 0 1 2 3 4 5 6 7 8 9
unused := $(filter-out $(foreach c,$(chapters),$(call number,$(c))),$(foreach t,$(digits),$(addprefix $(t),$(digits))))

.PHONY: help tour test docs sim compare recorded clean
help:
	@echo "make tour            set up, build, run every lesson, write build/report/index.html"
	@echo "make test            set up, build and run all tests"
	@echo "make NN              build and run one lesson; options in ARGS=\"--n 1000 --tile 8,16\""
	@echo "make test-NN         the tests of one lesson; ARGS=\"-s [counts]\" runs its test program with these arguments"
	@echo "make sim FILE=x.cu   compile and run any CUDA source on the simulator"
	@echo "make compare         this machine's results against the recorded ones; ARGS=\"02 04\" some chapters only"
	@echo "make recorded ARGS=02  what was recorded on an H200; further words choose rows: ARGS=\"02 4096\""
	@echo "make docs            the lesson site, build/docs/html/index.html"
	@echo "make clean           remove build/"
	@echo "MACHINE=sim|gpu      overrides the choice of machine"
	@echo "Lessons: $(chapters)"
tour:
	@$(scripts)/tour.sh
test:
	@$(scripts)/test.sh
docs:
	@$(scripts)/docs.sh
sim:
	@$(scripts)/sim.sh
compare:
	@$(scripts)/compare.sh
recorded:
	@$(scripts)/recorded.sh
clean:
	rm -rf build

# One explicit rule per chapter and spelling: 02, 02_tiled_matmul, test-02, test-02_tiled_matmul.
define chapter_rules
.PHONY: $(1) $(2) test-$(1) test-$(2)
$(1) $(2):
	@$(scripts)/lesson.sh $(2)
test-$(1) test-$(2):
	@$(scripts)/test.sh $(2)
endef
$(foreach c,$(chapters),$(eval $(call chapter_rules,$(call number,$(c)),$(c))))

# The numbers that no chapter has.
define no_chapter_rules
.PHONY: $(1) test-$(1)
$(1) test-$(1):
	@$(scripts)/no-chapter.sh $(1)
endef
$(foreach n,$(unused),$(eval $(call no_chapter_rules,$(n))))
