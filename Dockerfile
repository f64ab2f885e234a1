# Tilewise with everything in it that it needs without a GPU: lessons, puzzles, the grader, already built.
#   docker build -t tilewise .
#   docker run --rm -it tilewise make learn
#   docker run --rm -v "$PWD/submissions:/submissions" tilewise build/sim/bin/grade 02 --class /submissions --csv /submissions/table.csv
# The image for Gradescope, with one chapter's grader or that of a task in one file:
#   docker build -t YOU/tilewise-02 --target gradescope --build-arg CHAPTER=02_tiled_matmul .
# tests/checks/check-docker.py runs these steps without Docker, in a system made by debootstrap.

FROM gradescope/autograder-base:ubuntu-22.04 AS gradescope
ARG CHAPTER=02_tiled_matmul
ENV DEBIAN_FRONTEND=noninteractive
WORKDIR /autograder/source
COPY . tilewise
RUN cp tilewise/common/grader/gradescope/setup.sh tilewise/common/grader/gradescope/run_autograder . && echo "$CHAPTER" >chapter
RUN ./setup.sh
RUN cp run_autograder /autograder/run_autograder && rm -rf /var/lib/apt/lists/*

FROM debian:12 AS tilewise
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git make python3 python3-venv && rm -rf /var/lib/apt/lists/*
WORKDIR /tilewise
COPY . .
RUN common/scripts/run/setup.sh sim && rm -rf /var/lib/apt/lists/*
RUN common/scripts/run/homework.sh build
RUN common/scripts/run/learn.sh list && common/scripts/run/tour.sh build sim
# An image that cannot grade a solution right should fail now.
RUN build/sim/bin/grade 02 --file tests/02_tiled_matmul/homework/solution.cu
CMD ["make"]
