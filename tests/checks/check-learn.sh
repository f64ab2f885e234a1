#!/usr/bin/env bash
# check-learn.sh: goes through the first puzzles as a new user does, in a terminal of 80 columns (tmux): a wrong attempt and the
# solution each, saved in the ways that editors save; in the middle the program is killed and started again; then its keys.
# COUNT=3 for so many puzzles. It works on a copy: no file of a learner's is touched.
source "$(dirname "$0")/../../common/scripts/run/lib.sh"
count=${COUNT:-10}
if ! command -v tmux >/dev/null; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then die 2 "check-learn.sh needs tmux; on Debian: sudo apt-get install tmux"; fi
  apt-get install -y tmux >/dev/null 2>&1 </dev/null || { apt-get update && apt-get install -y tmux; } >/dev/null </dev/null
fi
build sim learn
learn=$PWD/build/sim/bin/learn
root=$(mktemp -d) socket=learn-$$
trap 'tmux -L $socket kill-server 2>/dev/null || true; rm -rf "$root"' EXIT
for folder in "${ROOT:-.}"/chapters/*/puzzles "${ROOT:-.}"/tests/*/puzzles; do
  to=$root/$(basename "$(dirname "$(dirname "$folder")")")/$(basename "$(dirname "$folder")")
  mkdir -p "$to"
  cp -r "$folder" "$to/"
done
"$learn" --root "$root" --attempts "$root/attempts"

# ---- what is on the screen
screen() { tmux -L "$socket" capture-pane -p -t walk; }
one_line() { tr -s ' \n' ' '; }  # lines are broken at 80 columns
press() { tmux -L "$socket" send-keys -t walk "$1"; }
now() { date +%s%N; }

# shows TEXT [SECONDS]: waits until the screen has it.
shows() {
  local end=$(($(now) + ${2:-20} * 1000000000))
  until screen | one_line | grep -qF -- "$1"; do
    if [ "$(now)" -gt $end ]; then
      echo "FAIL  the screen does not show: $1"
      screen
      exit 1
    fi
    sleep 0.02
  done
}
lacks() { ! screen | one_line | grep -qF -- "$1" || { echo "FAIL  the screen shows: $1"; screen; exit 1; }; }

start() { tmux -L "$socket" send-keys -t walk "NO_COLOR=1 $learn --root $root" Enter; }
kill_it() {
  kill -9 "$(pgrep -P "$(tmux -L "$socket" display-message -p -t walk '#{pane_pid}')")"
  sleep 0.2
  press C-l
}

# save FROM TO HOW: as an editor does.
save() {
  case $3 in
    written) cat "$1" >"$2" ;;
    emptied) : >"$2"; sleep 0.03; cat "$1" >"$2" ;;
    halves) head -c 200 "$1" >"$2"; sleep 0.02; tail -c +201 "$1" >>"$2" ;;
    renamed) cp "$1" "$2.tmp" && mv "$2.tmp" "$2" ;;
    taken-away) mv "$2" "$2~"; sleep 0.02; cp "$1" "$2"; rm "$2~" ;;
  esac
}

times=$root/times
# judged FROM TO HOW TEXT: saves, and measures how long it takes until the screen shows the text.
judged() {
  local begin
  begin=$(now)
  save "$1" "$2" "$3"
  shows "$4"
  echo $((($(now) - begin) / 1000000)) >>"$times"
}

tmux -L "$socket" -f /dev/null new-session -d -s walk -x 80 -y 40 "env -u TMUX bash --norc --noprofile"
start
ways=(written renamed emptied halves taken-away)
ids=$("$learn" --root "$root" --list | awk '{ for (i = 1; i <= 2; i++) if ($i ~ /^[0-9][0-9]-/) print $i }' | head -n "$count")
[ "$(wc -w <<<"$ids")" = "$count" ] || die 1 "there are not $count puzzles"
n=0
for id in $ids; do
  shows "$id "
  shows "As it is now:"
  file=$(find "$root/chapters/${id%%-*}"_*/puzzles -name "$(printf '%02d' "${id#*-}")_*.cu")
  wrong=$root/attempts/$id/wrong-1
  says=$(head -n 1 "$wrong.says")
  judged "$wrong.cu" "$file" "${ways[n % 5]}" "$says"
  shows "Waiting for the file to be saved."
  n=$((n + 1))
  if [ $n = $(((count + 1) / 2)) ]; then  # the program dies, and goes on where it was
    kill_it
    start
    shows "$id "
    shows "$says"
    shows "$((n - 1)) of "
  fi
  judged "$root/attempts/$id/solution.cu" "$file" "${ways[(n + 1) % 5]}" "Solved."
  shows "$n of "
  press n
done
echo "$n puzzles, each tried wrong and solved; $(sort -n "$times" | awk '{ t[NR] = $1 } END { printf "%.2f s from save to screen (median), %.2f s at most", t[int((NR + 1) / 2)] / 1000, t[NR] / 1000 }')"

# ---- keys, on the last of them
press p
shows "Solved."
press r
shows "Yours is kept: $(basename "$file").1"
shows "As it is now:"
cmp "$file.1" "$root/attempts/$id/solution.cu"
for i in 1 2 3; do
  press h
  shows "Hint $i:"
done
press h
shows "There are no more hints"
press s
shows "Pressed again"
lacks "One way to do it"
press s
shows "One way to do it"
save "$wrong.cu" "$file" written  # and again, while that is being judged
sleep 0.2
save "$root/attempts/$id/solution.cu" "$file" renamed
shows "Solved."
press r
shows "As it is now:"
press l
shows "Enter opens it"
press Enter
shows "File: chapters/"
tmux -L "$socket" resize-window -t walk -x 60 -y 30
shows "As it is now:"
[ "$(screen | awk '{ if (length($0) > m) m = length($0) } END { print m }')" -le 60 ] || die 1 "wider than the terminal"
press q
shows "make learn goes on where you were."
restored() {
  tmux -L "$socket" send-keys -t walk "clear; stty -a" Enter
  shows " icanon"
  shows " echo "
}
restored
start
shows "As it is now:"
press C-c
shows "make learn goes on where you were."
restored

# ---- without a terminal
status=0
"$learn" --root "$root" --judge "$(head -n 1 <<<"$ids")" >"$root/once" </dev/null || status=$?
if [ $status != 0 ] || ! grep -q '^Solved' "$root/once"; then die 1 "a solved puzzle: exit code $status"; fi
status=0
"$learn" --root "$root" --judge "$id" >"$root/once" </dev/null || status=$?
[ $status = 1 ] || die 1 "a puzzle that is not solved: exit code $status, not 1"
! grep -q $'\033' "$root/once" || die 1 "colours where there is no terminal"
echo "keys, a smaller window, and runs without a terminal: as they must be"
