# A thin front. Everything is done by CMake (CMakePresets.json) and common/scripts.
#   make            what there is
#   make tour       set up, build and run every lesson
#   make 02         one lesson
SHELL := /bin/bash
scripts := common/scripts/run
export ARGS FILE FOLDER FROM GPU MACHINE PREFIX SAMPLE TILEWISE_TASKS TOLERANCE WATCH

chapters := $(notdir $(patsubst %/,%,$(dir $(sort $(wildcard chapters/[0-9][0-9]_*/main.cu chapters/[0-9][0-9]_*/main.py)))))
number = $(firstword $(subst _, ,$(1)))
digits := 0 1 2 3 4 5 6 7 8 9
unused := $(digits) $(filter-out $(foreach c,$(chapters),$(call number,$(c))),$(foreach t,$(digits),$(addprefix $(t),$(digits))))

.SUFFIXES:  # no built-in rules: they make "homework-.o" of homework-

.PHONY: help tour learn puzzles test test-tools test-all check docs slides sim programs compare recorded homework new-task install clean
help:
	@echo "make tour            set up, build, run every lesson, write build/report/index.html"
	@echo "make learn           puzzles: shows one, and judges it within a second or two whenever you save it; FROM=03-2 begins there"
	@echo "make puzzles, make puzzle-03-2   which are solved; judge one once (ARGS=\"--hints 1\", ARGS=--solution)"
	@echo "make test            set up, build and run the tests of all lessons"
	@echo "make test-tools      the tests of what judges: the simulator, the grader, the puzzles"
	@echo "make NN              build and run one lesson; options in ARGS=\"--n 200 --tile 8,16\""
	@echo "make plain-NN        the lesson's kernel in an ordinary program, chapters/NN_*/plain.cu (17: plain.py)"
	@echo "make step-00-3       compile and run one of the small programs that lesson 00 is made of, with the compiler alone"
	@echo "make tune-12         which kernel of lesson 12, with which tiles, is fastest on this GPU, size by size"
	@echo "make test-NN         the tests of one lesson; ARGS=\"-s [counts]\" runs its test program with these arguments"
	@echo "make test-all        both, then grade all submissions and judge all puzzles' attempts that the repository has: right, wrong and hostile ones"
	@echo "make check           all else that must hold: what people type, nvcc, pages, the site; ARGS=\"-L site\" one label of them"
	@echo "make homework        how far your homework is, all chapters"
	@echo "make homework-NN     grade chapters/NN_*/homework.cu; WATCH=1 again whenever you save it; FILE=my.cu another file"
	@echo "                     GPU=1 on this machine's GPU, too, with times beside the solution's (needs nvcc)"
	@echo "make reset-homework-NN, make solution-NN   the starter again (yours is kept); the solution"
	@echo "make gradescope-NN   for instructors: build/gradescope/NN_topic.zip, an autograder for Gradescope"
	@echo "make new-task NAME   for instructors: a task of your own in tasks/NAME, or in the folder TILEWISE_TASKS=dir names"
	@echo "make homework-NAME, make check-NAME   grade one's homework.cu of that task; all that the task's folder has"
	@echo "make slides          for instructors: build/slides/NN.html, slides of each lesson"
	@echo "make sim FILE=x.cu   compile and run any CUDA source on the simulator"
	@echo "SAMPLE=32            there and for lessons on the simulator: count 32 blocks of each launch, for real sizes"
	@echo "make programs FOLDER=dir   every CUDA program of a folder through the simulator: how many are right, refused, wrong ..."
	@echo "make compare         this machine's results against the recorded ones; ARGS=\"02 04\" some chapters only"
	@echo "make recorded ARGS=02  what was recorded on an H200; further words choose rows: ARGS=\"02 4096\""
	@echo "make docs            the lesson site, build/docs/html/index.html"
	@echo "make install         simcc and grade into PREFIX=/usr/local, where they work without this folder"
	@echo "make clean           remove build/"
	@echo "MACHINE=sim|gpu      overrides the choice of machine"
	@echo "Lessons: $(chapters)"
tour:
	@$(scripts)/tour.sh
learn:
	@$(scripts)/learn.sh
puzzles:
	@$(scripts)/learn.sh list
puzzle-%:
	@$(scripts)/learn.sh puzzle $*
test:
	@$(scripts)/test.sh
test-tools:
	@$(scripts)/test.sh --tools
test-all: test test-tools
	@$(scripts)/test-all.sh
check:
	@$(scripts)/check.sh
homework:
	@$(scripts)/homework.sh
docs:
	@$(scripts)/docs.sh
slides:
	@$(scripts)/slides.py
sim:
	@$(scripts)/sim.sh
programs:
	@$(scripts)/programs.sh
compare:
	@$(scripts)/compare.sh
recorded:
	@$(scripts)/recorded.sh
install:
	@$(scripts)/install.sh
clean:
	rm -rf build

# make new-task NAME: the second word is a name and no target.
ifeq ($(firstword $(MAKECMDGOALS)),new-task)
.DEFAULT: ;@:
else
.DEFAULT:
	@$(scripts)/no-target.sh '$@'
endif
new-task:
	@$(scripts)/new-task.sh '$(or $(NAME),$(word 2,$(MAKECMDGOALS)))'

# Tasks in one file. Chapters have explicit rules, which come first.
homework-%:
	@$(scripts)/homework.sh grade '$*'
reset-homework-%:
	@$(scripts)/homework.sh reset '$*'
solution-%:
	@$(scripts)/homework.sh solution '$*'
check-%:
	@$(scripts)/homework.sh check '$*'
gradescope-%:
	@$(scripts)/gradescope.sh '$*'

# One explicit rule per chapter and spelling: 02, 02_tiled_matmul, test-02, test-02_tiled_matmul, plain-02 ...
define chapter_rules
.PHONY: $(1) $(2) plain-$(1) plain-$(2) test-$(1) test-$(2) $(foreach a,homework reset-homework solution check gradescope,$(a)-$(1) $(a)-$(2))
$(1) $(2):
	@$(scripts)/lesson.sh $(2)
plain-$(1) plain-$(2):
	@$(scripts)/plain.sh $(2)
test-$(1) test-$(2):
	@$(scripts)/test.sh $(2)
homework-$(1) homework-$(2):
	@$(scripts)/homework.sh grade $(2)
reset-homework-$(1) reset-homework-$(2):
	@$(scripts)/homework.sh reset $(2)
solution-$(1) solution-$(2):
	@$(scripts)/homework.sh solution $(2)
check-$(1) check-$(2):
	@$(scripts)/homework.sh check $(2)
gradescope-$(1) gradescope-$(2):
	@$(scripts)/gradescope.sh $(2)
endef
$(foreach c,$(chapters),$(eval $(call chapter_rules,$(call number,$(c)),$(c))))

# Lessons with small programs, chapters/NN_topic/steps: step-00 lists them, step-00-3 runs the third.
define step_rules
.PHONY: step-$(1) step-$(2)
step-$(1) step-$(2):
	@$(scripts)/step.sh $(2)
step-$(1)-% step-$(2)-%:
	@$(scripts)/step.sh $(2) $$*
endef
$(foreach c,$(notdir $(patsubst %/steps,%,$(wildcard chapters/*/steps))),$(eval $(call step_rules,$(call number,$(c)),$(c))))

# Chapters with a tuner, chapters/NN_topic/tune.cu.
define tune_rules
.PHONY: tune-$(1) tune-$(2)
tune-$(1) tune-$(2):
	@$(scripts)/tune.sh $(2)
endef
$(foreach c,$(notdir $(patsubst %/tune.cu,%,$(wildcard chapters/*/tune.cu))),$(eval $(call tune_rules,$(call number,$(c)),$(c))))

# The numbers that no chapter has; chapters have two digits.
define no_chapter_rules
.PHONY: $(1) $(foreach a,plain test homework reset-homework solution check gradescope,$(a)-$(1))
$(1) $(foreach a,plain test homework reset-homework solution check gradescope,$(a)-$(1)):
	@$(scripts)/no-chapter.sh $(1) '$$@'
endef
$(foreach n,$(unused),$(eval $(call no_chapter_rules,$(n))))
