#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# apart.sh LAUNCHER... PROGRAM: processes that cannot open each other's memory compute the same, and
# one of them says that they send messages.
set -uo pipefail
words=$("$@" outlives 2>&1)
status=$?
echo "$words"
if [ $status -ne 0 ]; then exit $status; fi
[ "$(grep -c '^shardwise: processes 0 and 1 are on one machine' <<<"$words")" -eq 1 ] &&
  [ "$(grep -c '^shardwise:' <<<"$words")" -eq 1 ]
