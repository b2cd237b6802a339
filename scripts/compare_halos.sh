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
PYTHONPATH=$(dirname "$0") python3 -B - "$times" <<'PY'
import sys
from compare_times import median_us, print_table, ratio, read_rounds
cases = read_rounds(sys.argv[1], ["ranks", "cells"])
systems = ["ours", "ours, 26 puts", "libfabric", "libfabric, 26 messages", "mpi"]
ratios = [("ours", "mpi"), ("ours", "libfabric"), ("ours, 26 puts", "mpi"),
          ("ours, 26 puts", "libfabric, 26 messages")]
print_table(["ranks", "cells"] + [f"{s} [us]" for s in systems] + [f"{a} / {b}" for a, b in ratios],
            [[ranks, f"{cells}^3"] + [median_us(rounds, s) for s in systems]
             + [ratio(rounds, a, b) for a, b in ratios]
             for (ranks, cells), rounds in cases.items()])
PY
