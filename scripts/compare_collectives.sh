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
PYTHONPATH=$(dirname "$0") python3 -B - "$times" <<'PY'
import sys
from compare_times import median_us, print_table, ratio, read_rounds
cases = read_rounds(sys.argv[1], ["path", "operation", "bytes", "ranks"])
print_table(["path", "operation", "bytes", "ranks", "ours [us]", "Open MPI [us]", "ratio"],
            [[*key, median_us(rounds, "ours"), median_us(rounds, "mpi"),
              ratio(rounds, "ours", "mpi")] for key, rounds in cases.items()])
PY
