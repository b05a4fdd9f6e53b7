#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# deaths.sh STRIDE LAUNCHER... PROGRAM: kills one of the processes that save checkpoints at each
# call of the system, or at each STRIDE-th one, and requires that the others end too, that the next
# run finds what was complete, and that it saves.
set -uo pipefail
stride=$1
shift

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
runs=0
failures=0
slowest=0

complain() {
  echo "process $victim killed at call $call: $1"
  cat "$dir/out"
  failures=$((failures + 1))
}

# One run that nobody ends.
victim=nobody call=none
"$@" "$dir/run" -1 0 >"$dir/out" 2>&1 || {
  complain "the first run fails"
  exit 1
}
for victim in 0 1; do
  for ((call = victim; call < 2000; call += stride)); do
    begin=$(date +%s.%N)
    timeout -k 2 30 "$@" "$dir/run" $victim "$call" >"$dir/out" 2>&1
    status=$?
    seconds=$(awk "BEGIN {print $(date +%s.%N) - $begin}")
    slowest=$(awk "BEGIN {print ($seconds > $slowest ? $seconds : $slowest)}")
    runs=$((runs + 1))
    case $status in
      0) break ;;
      3) complain "what was complete is lost" ;;
      124 | 137) [ "${seconds%.*}" -lt 25 ] || complain "the others hang" ;;
    esac
    if [ "$failures" -ge 3 ]; then break 2; fi
  done
done
# What the last death has left is found too.
victim=nobody call=none
"$@" "$dir/run" -1 0 >"$dir/out" 2>&1 || complain "the last run fails"
left=$(find "$dir/run" -name '*.unfinished' -o -name '*.damaged')
[ -z "$left" ] || complain "it has left $left"
echo "$runs runs, $failures failures, the slowest run took $slowest s"
[ "$failures" -eq 0 ]
