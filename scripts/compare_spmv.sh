#!/bin/sh
# A sparse matrix times a vector, in alternating jobs: the runtime's SparseMatrix (as the model in
# MODEL says, and by either method for all), and Open MPI's persistent messages and neighbourhood
# collectives:
#   scripts/compare_spmv.sh PATH MODEL [BUILD_DIR] [ROUNDS] [BATCHES] [ROWS] [FILE.mtx...]
# PATH is tcp or shm, and the same for both; MODEL is a model of it, or "" for none. Prints, per
# matrix and number of ranks, the medians over the rounds, and the geometric mean of ratios of times
# with its 95 % interval. Below 1 the first named is faster.
set -eu
path=$1
model=$2
bin=${3:-build/release}/bin
rounds=${4:-4}
batches=${5:-20}
rows=${6:-65536}
shift $(($# < 6 ? $# : 6))
case $path in
  tcp) ours="--fabric tcp --same-node network"; theirs="--mca btl tcp,self --mca btl_tcp_if_include lo" ;;
  shm) ours="--fabric tcp --same-node mapped"; theirs="--mca btl vader,self" ;;
  *) echo "compare_spmv.sh: PATH is tcp or shm, not '$path'" >&2; exit 2 ;;
esac
[ -z "$model" ] || ours="$ours --model $model"
times=$(mktemp)
trap 'rm -f "$times"' EXIT INT TERM
root=""
[ "$(id -u)" = 0 ] && root="--allow-run-as-root"
for round in $(seq "$rounds"); do
  for ranks in 2 4; do
    tag="s/}/,\"round\":$round}/"
    # shellcheck disable=SC2086
    timeout 240 "$bin/stripline-run" -n $ranks $ours -- "$bin/stripline-spmv" "$batches" "$rows" "$@" |
      sed "$tag" >>"$times"
    # shellcheck disable=SC2086
    timeout 240 mpirun $root --oversubscribe --mca pml ob1 $theirs -n $ranks \
      "$bin/stripline-spmv-mpi" "$batches" "$rows" "$@" | sed "$tag" >>"$times"
  done
done
PYTHONPATH=$(dirname "$0") python3 -B - "$times" <<'PY'
import sys
from compare_times import median_us, print_table, ratio, read_rounds
cases = read_rounds(sys.argv[1], ["ranks", "matrix"])
systems = ["ours", "ours, pack", "ours, bound", "mpi", "mpi, neighbourhood"]
ratios = [("ours", "mpi"), ("ours", "mpi, neighbourhood"), ("ours", "ours, pack"),
          ("ours", "ours, bound")]
print_table(["ranks", "matrix"] + [f"{s} [us]" for s in systems] + [f"{a} / {b}" for a, b in ratios],
            [[ranks, matrix] + [median_us(rounds, s) for s in systems]
             + [ratio(rounds, a, b) for a, b in ratios]
             for (ranks, matrix), rounds in cases.items()])
PY
