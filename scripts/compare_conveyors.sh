#!/usr/bin/env bash
# Irregular updates and reads, in alternating jobs: the runtime's UpdateEpoch and GatherPlan, and
# bale's conveyors at several sizes of their buffers, of which the best counts:
#   scripts/compare_conveyors.sh PATH BALE [BUILD_DIR] [ROUNDS] [BATCHES] [ITEMS] [RANKS]
# PATH is tcp or shm, and the same for both; BALE is a checkout of github.com/jdevinney/bale, or a
# folder that does not exist yet, where it is cloned to. Conveyors are built on Open MPI's MPI, and
# for shm on its OpenSHMEM, too, in a temporary folder: over tcp, those on OpenSHMEM do not come to
# an end. STRIPLINE_MODEL may name a model of the path. Prints, per operation, size of the table and
# what conveyors are built on, items per second and rank, and the geometric mean of ratios of times
# with its 95 % interval. Below 1 the runtime is faster.
set -euo pipefail
source "$(dirname "$0")/common.sh"
[ $# -ge 2 ] || { sed -n '2,11s/^# //p' "$0" >&2; exit 2; }
path=$1
bale=$2
bin=${3:-build/release}/bin
rounds=${4:-6}
batches=${5:-5}
items=${6:-1048576}
ranks=${7:-2}
case $path in
  tcp) ours=(--fabric tcp --same-node network); theirs=(--mca btl tcp,self --mca btl_tcp_if_include lo) ;;
  shm) ours=(--fabric tcp --same-node mapped); theirs=(--mca btl vader,self) ;;
  *) echo "compare_conveyors.sh: PATH is tcp or shm, not '$path'" >&2; exit 2 ;;
esac
theirs_of_all=(--oversubscribe --quiet)
[ "$(id -u)" != 0 ] || theirs_of_all+=(--allow-run-as-root)
[ -x "$bin/stripline-irregular" ] || {
  echo "compare_conveyors.sh: $bin has no stripline-irregular; build it first" >&2
  exit 2
}
require_packages autoconf automake openmpi-bin libopenmpi-dev
[ -d "$bale" ] || git clone --quiet --depth 1 https://github.com/jdevinney/bale "$bale"
convey=$(cd "$bale" && pwd)/src/bale_classic/convey
[ -f "$convey/convey.h" ] || {
  echo "compare_conveyors.sh: $bale is no checkout of bale: src/bale_classic/convey is missing" >&2
  exit 2
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
# build_conveyors mpi|shmem CC CXX
build_conveyors() {
  cp -r "$convey" "$work/$1"
  cd "$work/$1"
  autoreconf -fi
  ./configure "--with-$1" CC="$2" CFLAGS="-O3 -march=native"
  make -j2 libconvey.a
  "$3" -std=c++20 -O3 -march=native -I"$repository" -I. \
    "$repository/suites/compare/irregular_conveyors_$1.cc" libconvey.a -o conveyors
}
built_on=(mpi)
[ "$path" = tcp ] || built_on+=(shmem)
for runtime in "${built_on[@]}"; do
  compilers=(mpicc mpicxx)
  [ "$runtime" = mpi ] || compilers=(oshcc oshc++)
  (build_conveyors "$runtime" "${compilers[@]}") >"$work/build.log" 2>&1 || {
    tail -20 "$work/build.log" >&2
    echo "compare_conveyors.sh: conveyors could not be built on $runtime" >&2
    exit 4
  }
done

# run_conveyors mpi|shmem BUFFER: prints their times.
run_conveyors() {
  local lines
  if [ "$1" = mpi ]; then
    lines=$(CONVEY_BUFFER_SIZE=$2 timeout 120 mpirun "${theirs_of_all[@]}" --mca pml ob1 "${theirs[@]}" \
      -n "$ranks" "$work/mpi/conveyors" "$batches" "$items")
  else
    # Its launcher fails, as its programs end without shmem_finalize(), which crashes.
    lines=$(CONVEY_BUFFER_SIZE=$2 timeout 120 oshrun "${theirs_of_all[@]}" \
      -n "$ranks" "$work/shmem/conveyors" "$batches" "$items") || true
  fi
  [ "$(wc -l <<<"$lines")" = 4 ] || {
    echo "compare_conveyors.sh: conveyors on $1 with buffers of $2 bytes did not end" >&2
    return 1
  }
  echo "$lines"
}

times=$work/times
for round in $(seq "$rounds"); do
  tag="s/}/,\"round\":$round}/"
  timeout 120 "$bin/stripline-run" -n "$ranks" "${ours[@]}" -- "$bin/stripline-irregular" "$batches" "$items" |
    sed "$tag" >>"$times"
  for runtime in "${built_on[@]}"; do
    for buffer in 4096 16384 65536 262144; do
      run_conveyors "$runtime" "$buffer" | sed "$tag" >>"$times"
    done
  done
done
PYTHONPATH=$(dirname "$0") python3 -B - "$times" <<'PY'
import statistics
import sys
from compare_times import print_table, ratio, read_rounds
cases = read_rounds(sys.argv[1], ["ranks", "operation", "cells", "items"])
rows = []
for (ranks, operation, cells, items), rounds in cases.items():
    def median(system):
        return statistics.median(r[system] for r in rounds)
    for runtime in ("MPI", "SHMEM"):
        sizes = [system for system in rounds[0] if system.startswith(f"conveyors on {runtime}, ")]
        if not sizes:
            continue
        best = min(sizes, key=median)
        rows.append([ranks, operation, cells, runtime, f"{items / median('ours') / 1e6:.1f}",
                     f"{items / median(best) / 1e6:.1f}", best.split(", ")[1],
                     ratio(rounds, "ours", best)])
print_table(["ranks", "operation", "cells per rank", "conveyors on", "ours [10^6/s]",
             "conveyors [10^6/s]", "their buffers [B]", "ours / conveyors"], rows)
PY
