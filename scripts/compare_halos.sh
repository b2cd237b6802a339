#!/bin/sh
# A halo exchange (27-point stencil, 26 neighbours, doubles) over TCP, in alternating jobs: the
# runtime's halo_exchange, a put with a signal for each neighbour, messages of bare libfabric (one
# for each rank, or for each neighbour) and Open MPI's Isend and Irecv of subarray types:
#   scripts/compare_halos.sh [BUILD_DIR] [ROUNDS] [BATCHES]
# Prints, per size and number of ranks, the medians over the rounds, and the geometric mean of
# ratios of times with its 95 % interval. Below 1 the first named is faster. Takes a minute.
set -eu
bin=${1:-build/release}/bin
rounds=${2:-6}
batches=${3:-40}
times=$(mktemp)
trap 'rm -f "$times"' EXIT INT TERM
root=""
[ "$(id -u)" = 0 ] && root="--allow-run-as-root"
for round in $(seq "$rounds"); do
  for ranks in 2 4; do
    tag="s/}/,\"round\":$round}/"
    timeout 120 "$bin/stripline-run" -n $ranks --fabric tcp --same-node network -- \
      "$bin/stripline-halo" "$batches" | sed "$tag" >>"$times"
    # shellcheck disable=SC2086
    timeout 120 mpirun $root --oversubscribe --mca pml ob1 --mca btl tcp,self \
      --mca btl_tcp_if_include lo -n $ranks \
      "$bin/stripline-halo-mpi" "$batches" | sed "$tag" >>"$times"
  done
done
python3 - "$times" <<'PY'
import json, math, statistics, sys
t95 = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26}
times, order = {}, []
for line in open(sys.argv[1]):
    one = json.loads(line)
    key = (one["ranks"], one["cells"])
    if key not in times:
        times[key] = {}
        order.append(key)
    times[key].setdefault(one["round"], {})[one["system"]] = one["median_s"]
def ratio(key, first, second):
    logs = [math.log(r[first] / r[second]) for r in times[key].values() if first in r and second in r]
    mean = statistics.mean(logs)
    half = 0.0
    if len(logs) > 1:
        half = t95.get(len(logs) - 1, 2.0) * statistics.stdev(logs) / math.sqrt(len(logs))
    return f"{math.exp(mean):.2f} [{math.exp(mean - half):.2f}, {math.exp(mean + half):.2f}]"
systems = ["ours", "ours, 26 puts", "libfabric", "libfabric, 26 messages", "mpi"]
ratios = [("ours", "mpi"), ("ours", "libfabric"), ("ours, 26 puts", "mpi"),
          ("ours, 26 puts", "libfabric, 26 messages")]
heads = ["ranks", "cells"] + [f"{s} [us]" for s in systems] + [f"{a} / {b}" for a, b in ratios]
print("| " + " | ".join(heads) + " |")
print("|---" * len(heads) + "|")
for key in order:
    rounds = times[key].values()
    cells = [f"{statistics.median(r[s] for r in rounds if s in r) * 1e6:.1f}" for s in systems]
    cells += [ratio(key, a, b) for a, b in ratios]
    print(f"| {key[0]} | {key[1]}^3 | " + " | ".join(cells) + " |")
PY
