#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# lost_link.sh TIMES PROGRAM: cuts the link between two hosts while a program is in a step, so many
# times, and checks that the process on each host says so and ends within its patience and 3 s.
# Nothing is checked of the launcher, which may never end.
set -uo pipefail
times=$1 program=$(realpath "$2")
patience=1500 within=4.5
here=$(dirname "$(realpath "$0")")

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failures=0
slowest=0

# The processes of the program on both hosts.
processes() {
  local pid
  for pid in $(ip netns pids shardwise-a 2>/dev/null) $(ip netns pids shardwise-b 2>/dev/null); do
    if [ "$(readlink "/proc/$pid/exe")" = "$program" ]; then echo "$pid"; fi
  done
}

complain() {
  echo "run $1: $2"
  cat "$dir"/*
  failures=$((failures + 1))
}

for ((run = 1; run <= times; ++run)); do
  rm -f "$dir"/*
  CUT=$dir/mark SECONDS_LEFT=30 bash "$here/two_hosts.sh" 1 "$program" lost_link $patience "$dir/mark" \
    >"$dir/out" 2>&1 &
  hosts=$!
  while kill -0 $hosts 2>/dev/null && [ ! -s "$dir/mark" ]; do sleep 0.02; done
  if [ ! -s "$dir/mark" ]; then
    wait $hosts
    if grep '^skipped:' "$dir/out"; then exit 0; fi
    complain $run "it did not begin"
    continue
  fi
  seconds=0
  while [ -n "$(processes)" ] && awk "BEGIN {exit !($seconds <= $within + 1)}"; do
    sleep 0.05
    seconds=$(awk "BEGIN {print $(date +%s.%N) - $(cat "$dir/mark")}")
  done
  if awk "BEGIN {exit !($seconds > $within)}"; then complain $run "a process ends after $seconds s"; fi
  slowest=$(awk "BEGIN {print ($seconds > $slowest ? $seconds : $slowest)}")
  for self in 0 1; do
    grep -q "^process $self after .*owner $((1 - self)): silent for $patience ms" "$dir/mark.$self" ||
      complain $run "process $self does not say that the other one is silent"
  done
  # What is left is the launcher.
  kill $hosts 2>/dev/null
  for space in shardwise-a shardwise-b; do ip netns pids $space 2>/dev/null | xargs -r kill -9 2>/dev/null; done
  wait $hosts 2>/dev/null
done
echo "lost link: $times runs, $failures failures, at most $slowest s after the cut"
[ "$failures" -eq 0 ]
