#!/usr/bin/env bash
# check-odd-files.sh: a submission may lie anywhere, and be written on any system.
source "$(dirname "$0")/../../common/scripts/run/lib.sh"
build sim homework
solution=tests/02_tiled_matmul/homework/solution.cu
work=$(mktemp -d)
folder="$work/homework of Zoë & co"
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
mkdir -p "$folder/read-only"
cp $solution "$folder/my homework.cu"
{ printf '\357\273\277'; sed 's/$/\r/' $solution; } >"$folder/from windows.cu"
ln -s "my homework.cu" "$folder/link.cu"
cp $solution "$folder/read-only/homework.cu"
chmod 555 "$folder/read-only"
status=0
for file in my\ homework.cu from\ windows.cu link.cu read-only/homework.cu; do
  tests/checks/exits.sh 0 '100 of 100' make homework-02 FILE="$folder/$file" ARGS="--task moving_sum" || status=1
done
exit $status
