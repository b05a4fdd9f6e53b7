#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# ending.sh TIMES MODE LAUNCHER... PROGRAM: runs an ending of a program in three processes so many
# times, and checks what each process says, how soon, when the run ends, and with which exit code.
set -uo pipefail
times=$1 mode=$2
shift 2
patience=1500

# What the processes say: `all TEXT`, `others TEXT` (all but process 1), or `nobody`.
# Seconds: within which they say it, and within which the run ends, from the failure on.
said=1.0 ended=4.0 code=failure
case ${mode#uncaught_} in
  well) who=all text=well code=0 ;;
  device_exception) who=all text='device 2: broken on a device' ;;
  host_exception) who=others text='owner 1: has left' ;;
  early_return | exit | no_pool) who=others text='owner 1: has left' ;;
  leave) who=others text='owner 1: has no more data' ;;
  other_program | other_arithmetic | other_number | other_pool) who=all text=owners_differ ;;
  # The launcher ends the others, perhaps before they say anything.
  quick_exit | killed | abort) who=nobody text='' ended=2.0 ;;
  stopped) who=others text='silent for' said=$patience ended=4.5 ;;
  long_loop) who=all text=well code=0 said=9 ended=9 ;;
  *)
    echo "no ending: $mode"
    exit 2
    ;;
esac

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failures=0
slowest=0

complain() {
  echo "run $1 of $mode: $2"
  cat "$dir/out"
  failures=$((failures + 1))
}

for ((run = 1; run <= times; ++run)); do
  rm -f "$dir/mark"
  timeout -k 2 20 "$@" "$mode" $patience "$dir/mark" >"$dir/out" 2>&1
  status=$?
  end=$(date +%s.%N)
  begin=$(cat "$dir/mark" 2>/dev/null || echo "$end")
  seconds=$(awk "BEGIN {print $end - $begin}")
  slowest=$(awk "BEGIN {print ($seconds > $slowest ? $seconds : $slowest)}")
  if [ $status -eq 124 ] || [ $status -eq 137 ] && [ "$mode" != killed ]; then
    complain $run "hangs"
    continue
  fi
  if [ $code = 0 ] && [ $status -ne 0 ]; then complain $run "exit code $status"; fi
  if [ $code != 0 ] && [ $status -eq 0 ]; then complain $run "exit code 0"; fi
  if awk "BEGIN {exit !($seconds > $ended)}"; then complain $run "ended after $seconds s"; fi
  for self in 0 1 2; do
    case $who:$self in nobody:* | others:1) continue ;; esac
    if [[ $mode = uncaught_* ]]; then
      grep -q "^shardwise: process $self ends: .*$text" "$dir/out" ||
        complain $run "process $self does not say '$text'"
      continue
    fi
    line=$(grep "^process $self after .*$text" "$dir/out" | head -n 1)
    if [ -z "$line" ]; then
      complain $run "process $self does not say '$text'"
    elif [ "$who" != nobody ] && [ $code != 0 ] && [ "$mode" != stopped ] &&
      awk "BEGIN {exit !($(sed -E 's/.* after ([0-9.]+) s:.*/\1/' <<<"$line") > $said)}"; then
      complain $run "process $self says it late"
    fi
  done
done
echo "$mode: $times runs, $failures failures, at most $slowest s after the failure"
[ "$failures" -eq 0 ]
