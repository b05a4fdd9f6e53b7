#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Runs two builds of a benchmark in turn, so that the drift of a machine reaches both, and prints for
# each row the medians of the rounds:
#
#   beside.sh [--judge] ROUNDS NAME=PROGRAM NAME=PROGRAM [FILTERS]
#
# With --judge the first program is an older build of the second: a row is called slower or faster if
# all rounds of the second are slower, or faster, than all of the first. Of equal builds, one row in ten
# is called so after three rounds, and one in a hundred after five. A row is a line of the programs'
# tables: its name, and its time as the first number of three decimals.
set -euo pipefail

judge=0
if [ "${1:-}" = --judge ]; then
  judge=1
  shift
fi
[ $# -ge 3 ] || { sed -n '3,11p' "$0" >&2; exit 2; }
rounds=$1 programs=("$2" "$3")
shift 3
times=$(mktemp)
trap 'rm -f "$times"' EXIT
for ((round = 1; round <= rounds; ++round)); do
  # Neither is always the one that runs first.
  order=(0 1)
  if [ $((round % 2)) -eq 0 ]; then order=(1 0); fi
  for which in "${order[@]}"; do
    printf 'round %d of %d: %s\n' "$round" "$rounds" "${programs[which]%%=*}" >&2
    "${programs[which]#*=}" "$@" | sed "s/^/$which /" >>"$times"
  done
done

awk -v judge="$judge" -v first="${programs[0]%%=*}" -v second="${programs[1]%%=*}" '
  # Sorts the times of a row, and sets low, middle and high.
  function summarise(row, which,   n, i, j, swap, all) {
    n = count[row, which]
    for (i = 1; i <= n; ++i) {
      all[i] = time[row, which, i]
      for (j = i; j > 1 && all[j] < all[j - 1]; --j) {
        swap = all[j]; all[j] = all[j - 1]; all[j - 1] = swap
      }
    }
    low = all[1]; high = all[n]
    middle = n % 2 ? all[(n + 1) / 2] : (all[n / 2] + all[n / 2 + 1]) / 2
  }
  match($0, / [0-9]+\.[0-9][0-9][0-9]( |$)/) {
    which = substr($0, 1, 1)
    row = substr($0, 3, RSTART - 3)
    gsub(/  +/, "  ", row); sub(/ +$/, "", row)
    if (!(row in seen)) { seen[row] = 1; rows[++row_count] = row }
    time[row, which, ++count[row, which]] = substr($0, RSTART) + 0
  }
  END {
    if (row_count == 0) exit
    printf "%-62s %12s %23s %12s %23s %6s\n", "us of a call", first, "(least..most)", second,
           "(least..most)", "ratio"
    for (r = 1; r <= row_count; ++r) {
      row = rows[r]
      if (!count[row, 0] || !count[row, 1]) {
        printf "%-62s is only in %s\n", row, count[row, 0] ? first : second
        continue
      }
      summarise(row, 1); b = middle; least = low; most = high
      summarise(row, 0)
      verdict = ""
      if (judge && least > high) { verdict = "  slower"; ++slower }
      if (judge && most < low) { verdict = "  faster"; ++faster }
      printf "%-62s %12.3f %23s %12.3f %23s %6.3f%s\n", row, middle,
             sprintf("(%.3f..%.3f)", low, high), b, sprintf("(%.3f..%.3f)", least, most), b / middle,
             verdict
    }
    if (judge)
      printf "of %d rows, in all rounds slower than in any of %s: %d, faster: %d\n", row_count,
             first, slower, faster
  }' "$times"
