#!/usr/bin/env bash
# Solvers that read through the same index in every step: whole parts of other ranks, what an
# inspector says is needed, and the same in the order of arrival and in a ring of ranks, on an
# emulated network in virtual time:
#   scripts/compare_solvers.sh MODEL [BUILD_DIR] [NETWORK] [RANKS...]
# MODEL is a tuned model of emulated:NETWORK, or "" for none. Prints, per kernel and number of ranks,
# the times of a step and what ranks wait in it, beside what Basumallik (Compiling Shared-Memory
# Applications for Distributed-Memory Systems, 2007, chapter 5) reports. The same command prints the
# same figures. Takes some five minutes for 2, 4, 8 and 16 ranks.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,10s/^# //p' "$0" >&2; exit 2; }
model=$1
bin=${2:-build/release}/bin
network=${3:-itanium-gm,compute=declared,jitter=off,ranks_per_node=1}
shift $(($# < 3 ? $# : 3))
[ $# -gt 0 ] || set -- 2 4 8 16
[ -x "$bin/stripline-bench" ] && [ -x "$bin/stripline-worker" ] || {
  echo "compare_solvers.sh: $bin has no stripline-bench and stripline-worker; build them first" >&2
  exit 2
}
ways=(--fabric "emulated:$network" --clock virtual --runs 1 --reps 2 --json)
[ -z "$model" ] || ways+=(--model "$model")
kernels=(
  'earthquake --param matrix=space'
  'sparse_cg --param matrix=space'
  'sparse_cg --param matrix=plane'
  'sparse_cg --param matrix=power_law'
  'sparse_cg --param matrix=random'
  'molecules'
)

times=$(mktemp)
trap 'rm -f "$times"' EXIT
trap 'exit 130' INT TERM
for kernel in "${kernels[@]}"; do
  for ranks in "$@"; do
    read -ra words <<<"$kernel"
    timeout 300 "$bin/stripline-bench" run "kernel.${words[0]}" "${words[@]:1}" -n "$ranks" "${ways[@]}" |
      sed "s/^{/{\"kernel\":\"$kernel\",/" >>"$times"
  done
done
python3 -B - "$times" "stripline-bench run kernel.KERNEL -n RANKS ${ways[*]}" <<'PY'
import json
import re
import sys
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
# What the thesis says of reordering at 16 ranks, and of inspecting.
THESIS = {"earthquake": "reordered 0.55 of inspector, waits 0.32 of its", "sparse_cg":
          "inspector as whole, reordered 0.78 of whole", "molecules":
          "inspector 0.52 of whole, reordered 0.40 of whole"}
WAYS = ["whole", "inspector", "reordered", "ring"]


def waited_s(plan):
    value, unit = re.search(r"waited ([0-9.]+) ?(\w+)", plan).groups()
    return float(value) * UNITS[unit]


rows = {}
for line in open(sys.argv[1]):
    row = json.loads(line)
    if not row["verified"]:
        sys.exit(f"compare_solvers.sh: {row['kernel']} with {row['ranks']} ranks has a wrong result")
    rows.setdefault((row["kernel"], row["ranks"]), {})[row["variant"]] = (
        1e6 * row["median"], 1e6 * waited_s(row["plan"]))
print("| kernel | ranks | whole [us] | inspector [us] | reordered [us] | ring [us] "
      "| inspector / whole | reordered / inspector | ring / reordered | waits: whole [us] "
      "| inspector [us] | reordered [us] | ring [us] | reordered / inspector "
      "| the thesis, 16 ranks |")
print("|---|" + 13 * "---:|" + "---|")
for (kernel, ranks), of in rows.items():
    times = [of[way][0] for way in WAYS]
    waits = [of[way][1] for way in WAYS]
    thesis = THESIS[kernel.split()[0]] if ranks == 16 else ""
    print(f"| `{kernel.replace('--param ', '')}` | {ranks} | " + " | ".join(f"{t:.1f}" for t in times)
          + f" | {times[1] / times[0]:.2f} | {times[2] / times[1]:.2f} | "
          + f"{times[3] / times[2]:.3f} | "
          + " | ".join(f"{w:.1f}" for w in waits)
          + f" | {waits[2] / waits[1]:.2f} | {thesis} |")
print(f"\nCommand of a row, with `--param` before each NAME=VALUE: `{sys.argv[2]}`.")
PY
