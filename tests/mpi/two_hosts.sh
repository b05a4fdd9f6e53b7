#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# two_hosts.sh N PROGRAM ARGUMENTS...: runs a program with Open MPI as on two hosts, N processes on
# each: namespaces of this machine, which share neither memory nor process numbers and are joined by
# a cable of their own. Both hosts have the same name. LINK=200mbit limits the cable in both
# directions; CUT=FILE cuts it once there is a file of this name.
#
# Prints `skipped: ...` where the machine does not allow namespaces.
set -uo pipefail

hosts=(10.231.8.1 10.231.8.2)
spaces=(shardwise-a shardwise-b)

# Stands in for ssh: two_hosts.sh --agent [OPTIONS] HOST COMMAND...
if [ "${1:-}" = --agent ]; then
  shift
  while [[ $1 = -* ]]; do shift; done
  space=${spaces[0]}
  if [ "$1" = "${hosts[1]}" ]; then space=${spaces[1]}; fi
  shift
  exec ip netns exec "$space" unshare --uts --ipc --mount --pid --fork --mount-proc sh -c \
    "hostname worker; mount -t tmpfs none /dev/shm; exec sh -c \"\$0\"" "$*"
fi

n=$1
shift
down() {
  for space in "${spaces[@]}"; do
    ip netns pids "$space" 2>/dev/null | xargs -r kill -9 2>/dev/null
    ip netns delete "$space" 2>/dev/null
  done
}
skip() {
  down
  echo "skipped: $1"
  exit 0
}
command -v ip >/dev/null || skip "it needs the program ip"
command -v unshare >/dev/null || skip "it needs the program unshare"
# One at a time has these names.
exec 9>/tmp/shardwise-two-hosts.lock
flock 9
down
trap down EXIT
for space in "${spaces[@]}"; do
  ip netns add "$space" 2>/dev/null || skip "this machine does not allow namespaces of the network"
  ip -n "$space" link set lo up
done
ip -n "${spaces[0]}" link add cable type veth peer name cable netns "${spaces[1]}" 2>/dev/null ||
  skip "this machine does not join namespaces of the network"
for i in 0 1; do
  ip -n "${spaces[$i]}" address add "${hosts[$i]}/24" dev cable
  ip -n "${spaces[$i]}" link set cable up
  if [ -n "${LINK:-}" ]; then
    # Without bursts, and with few packets: at a rate that the cores keep up with by far.
    ip -n "${spaces[$i]}" link set cable mtu 9000 gso_max_segs 1
    ip netns exec "${spaces[$i]}" tc qdisc add dev cable root tbf rate "$LINK" burst 18kb latency 1s 2>/dev/null ||
      skip "it needs the program tc to limit the cable"
  fi
done
ip netns exec "${spaces[0]}" unshare --pid --fork --mount-proc true 2>/dev/null ||
  skip "this machine does not allow namespaces of processes"

if [ -n "${CUT:-}" ]; then
  (
    until [ -e "$CUT" ]; do sleep 0.02; done
    ip -n "${spaces[1]}" link set cable down
  ) 9>&- &
  trap 'kill $! 2>/dev/null; down' EXIT
fi

# The launcher runs on the first host; its processes reach each other over the cable alone.
timeout -k 2 "${SECONDS_LEFT:-250}" bash "$0" --agent "${hosts[0]}" env "LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}" \
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
  "${MPIRUN:-mpirun}" --oversubscribe --bind-to none -x LD_LIBRARY_PATH \
  --mca plm_rsh_agent "'bash $(realpath "$0") --agent'" --mca plm_rsh_no_tree_spawn 1 --leave-session-attached \
  --mca btl_tcp_if_include 10.231.8.0/24 --mca oob_tcp_if_include 10.231.8.0/24 --mca btl self,vader,tcp \
  --mca pml ob1 --host "${hosts[0]}:$n,${hosts[1]}:$n" "'$1'" "${@:2}" 9>&-
