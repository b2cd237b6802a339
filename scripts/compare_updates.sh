#!/usr/bin/env bash
# Updates of memory that is spread over many ranks, over one rank that makes all of them on memory of
# its own, on an emulated network in virtual time:
#   scripts/compare_updates.sh MODEL [BUILD_DIR] [NETWORK] [RANKS...]
# MODEL is a tuned model of emulated:NETWORK, or "" for none. The problem is the same for each number
# of ranks, of which it must be a multiple. Prints, per kernel and number of ranks, the times of an
# update and their ratio beside what Su (Optimizing Irregular Data Accesses for Cluster and Multicore
# Architectures, section 5.4) reports with 128 cores, and how many parcels rank 0 sent to each other
# rank in an epoch, each of which is answered once. The same command prints the same figures. Takes
# some ten minutes and 6 GiB for 1, 16, 32, 64 and 128 ranks.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,12s/^# //p' "$0" >&2; exit 2; }
model=$1
bin=${2:-build/release}/bin
network=${3:-opteron-vapi,compute=declared,jitter=off}
shift $(($# < 3 ? $# : 3))
[ $# -gt 0 ] || set -- 1 16 32 64 128
[ -x "$bin/stripline-bench" ] && [ -x "$bin/stripline-worker" ] || {
  echo "compare_updates.sh: $bin has no stripline-bench and stripline-worker; build them first" >&2
  exit 2
}
ways=(--fabric "emulated:$network" --clock virtual --variant sequential --variant by_hand --variant tuned
  --runs 1 --reps 2 --json)
[ -z "$model" ] || ways+=(--model "$model")

times=$(mktemp)
trap 'rm -f "$times"' EXIT
trap 'exit 130' INT TERM
for ranks in "$@"; do
  # The experiment, Su's speed-up, the size of the segment, and the parameters of a rank.
  kernels=(
    "histogram|120|16M|updates=$(((1 << 25) / ranks)) bins_per_rank=$(((1 << 14) / ranks)) keys=uniform"
    "gravitation|70|16M|bodies_per_rank=$((8192 / ranks))"
    "fiber_force|90|$((160 / ranks + 16))M|n=256 points_per_rank=$((1280000 / ranks))"
  )
  for kernel in "${kernels[@]}"; do
    IFS='|' read -r name paper segment parameters <<<"$kernel"
    command=(run "kernel.$name" -n "$ranks")
    for parameter in $parameters; do command+=(--param "$parameter"); done
    STRIPLINE_SEGMENT_BYTES=$segment timeout 600 "$bin/stripline-bench" "${command[@]}" "${ways[@]}" |
      sed "s/^{/{\"kernel\":\"$name\",\"paper\":\"$paper\",\"problem\":\"$parameters\",/" >>"$times"
  done
done
python3 -B - "$times" "stripline-bench run kernel.KERNEL -n RANKS ${ways[*]}" <<'PY'
import json
import re
import sys
rows = {}
for line in open(sys.argv[1]):
    row = json.loads(line)
    if not row["verified"]:
        sys.exit(f"compare_updates.sh: {row['kernel']} with {row['ranks']} ranks has a wrong result")
    rows.setdefault((row["kernel"], row["ranks"]), {})[row["variant"]] = row
print("| kernel | ranks | problem of a rank | sequential [ns] | by_hand [ns] | tuned [ns] "
      "| sequential / by_hand | sequential / tuned | Su, 128 cores | parcels per pair |")
print("|---|---:|---|" + 7 * "---:|")
for (kernel, ranks), of in rows.items():
    alone, by_hand, tuned = (of[way]["median"] for way in ("sequential", "by_hand", "tuned"))
    parcels = int(re.search(r"(\d+) parcels an epoch", of["tuned"]["plan"]).group(1))
    per_pair = f"{parcels / (ranks - 1):.2f}" if ranks > 1 else ""
    print(f"| {kernel} | {ranks} | `{of['tuned']['problem']}` | {1e9 * alone:.4g} | {1e9 * by_hand:.4g} "
          f"| {1e9 * tuned:.4g} | {alone / by_hand:.1f} | {alone / tuned:.1f} "
          f"| {of['tuned']['paper'] if ranks == 128 else ''} | {per_pair} |")
print(f"\nCommand of a row, with `--param` before each NAME=VALUE: `{sys.argv[2]}`.")
PY
