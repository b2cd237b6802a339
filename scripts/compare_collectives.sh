#!/bin/sh
# Collective operations of the runtime and of Open MPI over the same path, in alternating jobs:
#   scripts/compare_collectives.sh [BUILD_DIR] [ROUNDS] [PATH...]
# Paths: tcp (through TCP, also between ranks of this node; Open MPI's btl tcp), mapped (through the
# memory of this node; Open MPI's btl vader) and shm (libfabric's shm provider; btl vader). Without
# any: tcp and mapped. Prints, per path, operation, size and number of ranks, both medians over the
# rounds and the geometric mean of the ratios (ours / Open MPI) with its 95 % interval. Below 1 the
# runtime is faster.
set -eu
bin=${1:-build/release}/bin
rounds=${2:-5}
[ $# -lt 2 ] && shift $# || shift 2
[ $# -gt 0 ] || set -- tcp mapped
reps=200
times=$(mktemp)
trap 'rm -f "$times"' EXIT INT TERM
root=""
[ "$(id -u)" = 0 ] && root="--allow-run-as-root"
for path in "$@"; do
  case $path in
    tcp) ours="--fabric tcp --same-node network" transport="--mca btl tcp,self" ;;
    mapped) ours="--fabric tcp --same-node mapped" transport="--mca btl vader,self" ;;
    shm) ours="--fabric shm --same-node network" transport="--mca btl vader,self" ;;
    *) echo "compare_collectives.sh: unknown path '$path'; use tcp, mapped or shm" >&2; exit 2 ;;
  esac
  for ranks in 2 4; do
    for round in $(seq "$rounds"); do
      tag="s/}/,\"round\":$round,\"path\":\"$path\"}/"
      # shellcheck disable=SC2086
      timeout 120 "$bin/stripline-run" -n $ranks $ours -- \
        "$bin/stripline-collectives" $reps | sed "$tag" >>"$times"
      # shellcheck disable=SC2086
      timeout 120 mpirun $root --oversubscribe --mca pml ob1 $transport -n $ranks \
        "$bin/stripline-collectives-mpi" $reps | sed "$tag" >>"$times"
    done
  done
done
python3 - "$times" <<'PY'
import json, math, statistics, sys
t95 = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26}
times, order = {}, []
for line in open(sys.argv[1]):
    one = json.loads(line)
    key = (one["path"], one["operation"], one["bytes"], one["ranks"])
    if key not in times:
        times[key] = {}
        order.append(key)
    times[key].setdefault(one["round"], {})[one["system"]] = one["median_s"]
print("| path | operation | bytes | ranks | ours [us] | Open MPI [us] | ratio |")
print("|---|---|---|---|---|---|---|")
for key in order:
    rounds = [r for r in times[key].values() if len(r) == 2]
    logs = [math.log(r["ours"] / r["mpi"]) for r in rounds]
    mean = statistics.mean(logs)
    half = 0.0
    if len(logs) > 1:
        half = t95.get(len(logs) - 1, 2.0) * statistics.stdev(logs) / math.sqrt(len(logs))
    ours = statistics.median(r["ours"] for r in rounds) * 1e6
    mpi = statistics.median(r["mpi"] for r in rounds) * 1e6
    print(f"| {key[0]} | {key[1]} | {key[2]} | {key[3]} | {ours:.1f} | {mpi:.1f} | "
          f"{math.exp(mean):.2f} [{math.exp(mean - half):.2f}, {math.exp(mean + half):.2f}] |")
PY
