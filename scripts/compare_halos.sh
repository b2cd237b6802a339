#!/bin/sh
# The runtime's halo exchange (27-point stencil, 26 neighbours, doubles) and Open MPI's, by subarray
# types, over TCP in alternating jobs:
#   scripts/compare_halos.sh [BUILD_DIR] [ROUNDS] [BATCHES]
# Prints, per size and number of ranks, both medians over the rounds and the geometric mean of the
# ratios (ours / Open MPI) with its 95 % interval. Below 1 the runtime is faster. Takes a minute.
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
print("| ranks | cells | ours [us] | Open MPI [us] | ratio |")
print("|---|---|---|---|---|")
for key in order:
    rounds = [r for r in times[key].values() if len(r) == 2]
    logs = [math.log(r["ours"] / r["mpi"]) for r in rounds]
    mean = statistics.mean(logs)
    half = 0.0
    if len(logs) > 1:
        half = t95.get(len(logs) - 1, 2.0) * statistics.stdev(logs) / math.sqrt(len(logs))
    ours = statistics.median(r["ours"] for r in rounds) * 1e6
    mpi = statistics.median(r["mpi"] for r in rounds) * 1e6
    print(f"| {key[0]} | {key[1]}^3 | {ours:.1f} | {mpi:.1f} | "
          f"{math.exp(mean):.2f} [{math.exp(mean - half):.2f}, {math.exp(mean + half):.2f}] |")
PY
